"""`halidegym train imitate`: a policy that imitates plans, on the command line."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.commands.train.options import (
    check_apart,
    config_option,
    data_option,
    load_plans,
    print_result,
)
from halidegym.evaluation.output.progress import phases_bar


@click.command()
@config_option("imitate")
@data_option
@click.option("--output", type=OutputFolder(), default="runs/imitate", show_default=True, help="Folder of the policy.")
@needs_extra("train")
def imitate(config: str, data: Path, output: Path) -> None:
    """Train a policy to take the decisions of the plans that `halidegym train data` collected.

    The policy that schedules validation problems best is kept as policy.npz, with the curve beside it. The same command
    goes on where Ctrl-C or worse has ended it.
    """
    from halidegym.training.imitation.imitate import imitate as run
    from halidegym.training.imitation.settings import ImitationSettings
    from halidegym.training.settings import load_settings

    check_apart(output, data)
    settings = load_settings(ImitationSettings, config)
    with phases_bar() as (on_begin, on_step):
        result = run(
            settings,
            *load_plans(data, settings.rollouts.problems),
            output,
            on_begin=on_begin,
            on_step=on_step,
        )
    print_result(result)
