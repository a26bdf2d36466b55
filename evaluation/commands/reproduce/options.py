"""Options of the experiments with tree search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.papers.mb2fbs import PAPER

_OPTIONS = (
    click.argument("pipelines", metavar="PIPELINE...", nargs=-1, type=click.Choice(list(PAPER))),
    click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each agent."),
    click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of tree search."),
    click.option("--output", type=OutputFolder(), help="Also write .csv and .svg here."),
)

scale_option = click.option(
    "--scale", type=float, default=0.01, show_default=True, help="Factor of the paper's seconds per decision."
)


def protuner_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options `pipelines`, `seeds`, `threads` and `output`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
