"""`halidegym train aggrevate`: a policy that learns what its own decisions lead to, on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import click

from halidegym.evaluation.arguments.options import Integer
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
@config_option("aggrevate")
@data_option
@policy_option("runs/imitate/policy.npz", "imitate")
@click.option(
    "--output", type=OutputFolder(), default="runs/aggrevate", show_default=True, help="Folder of the policy."
)
@click.option("--workers", type=Integer(1), metavar="NUMBER",
              help="Processes that try decisions.  [default: the usable cores]")  # fmt: skip
@needs_extra("train")
def aggrevate(config: str, data: Path, policy: Path, output: Path, workers: int | None) -> None:
    """Let a policy learn what its own decisions lead to, and be less inclined to those that lose much.

    In each round, the policy schedules some pipelines; at each decision some others are tried, too, and the schedule is
    completed from there. What they come to is what it learns. The same command goes on where Ctrl-C or worse has ended it.
    """
    from halidegym.training.aggrevate.aggregate import aggregate
    from halidegym.training.aggrevate.settings import AggrevateSettings
    from halidegym.training.settings import load_settings

    check_apart(output, data)
    settings = load_settings(AggrevateSettings, config)
    with phases_bar() as (on_begin, on_step):
        result = aggregate(
            settings,
            policy,
            *load_plans(data, settings.rollouts.problems),
            output,
            workers=workers or len(os.sched_getaffinity(0)),
            on_begin=on_begin,
            on_step=on_step,
        )
    print_result(result)
