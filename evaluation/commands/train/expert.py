"""`halidegym train expert`: a policy that learns from its own improved schedules, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from halidegym.envs.processes.workers import RAY
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.commands.train.options import (
    check_apart,
    config_option,
    data_option,
    load_plans,
    policy_option,
    print_result,
)
from halidegym.evaluation.output.progress import phases_bar


@click.command()
@config_option("expert")
@data_option
@policy_option("runs/imitate/policy.npz", "imitate")
@click.option("--output", type=OutputFolder(), default="runs/expert", show_default=True, help="Folder of the policy.")
@click.option("--workers", type=click.Choice([RAY]),
              help="ray, to search on the nodes of a Ray cluster.  [default: threads of this machine]")  # fmt: skip
@needs_extra("train")
@needs_extra("ray")
def expert(config: str, data: Path, policy: Path, output: Path, workers: Literal["ray"] | None) -> None:
    """Improve a policy by imitating what a search finds that it guides.

    In each round, the policy guides a tree search for schedules of some pipelines. Those that are better than all that was
    known become what it learns next. The same command goes on where Ctrl-C or worse has ended it.
    """
    from halidegym.training.expert.iterate import iterate
    from halidegym.training.expert.settings import ExpertSettings
    from halidegym.training.settings import load_settings

    check_apart(output, data)
    settings = load_settings(ExpertSettings, config)
    with phases_bar() as (on_begin, on_step):
        result = iterate(
            settings,
            policy,
            *load_plans(data, settings.rollouts.problems),
            output,
            workers=workers,
            on_begin=on_begin,
            on_step=on_step,
        )
    print_result(result)
