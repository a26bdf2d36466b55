"""`halidegym train ppo`: a policy that learns from its own episodes, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from halidegym.envs.processes.workers import RAY
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.commands.train.options import config_option, print_result
from halidegym.evaluation.output.progress import phases_bar


@click.command()
@config_option("ppo")
@click.option("--output", type=OutputFolder(), default="runs/ppo", show_default=True, help="Folder of the policy.")
@click.option("--workers", type=click.Choice([RAY]),
              help="ray, to step the environments on the nodes of a Ray cluster.  [default: in this process]")  # fmt: skip
@needs_extra("train")
@needs_extra("ray")
def ppo(config: str, output: Path, workers: Literal["ray"] | None) -> None:
    """Train a policy by proximal policy optimization, on episodes of its own.

    Rewards are costs of the cost model, or run times. The best policy by rollouts is kept as policy.npz, or the last one if
    nothing judges them, with the curve beside it. The same command goes on where Ctrl-C or worse has ended it.
    """
    from halidegym.training.ppo.settings import PPOSettings
    from halidegym.training.ppo.train import train_ppo
    from halidegym.training.settings import load_settings

    settings = load_settings(PPOSettings, config)
    with phases_bar() as (on_begin, on_step):
        result = train_ppo(settings, output, workers=workers, on_begin=on_begin, on_step=on_step)
    print_result(result, "last" if settings.judging is None else "best")
