"""`halidegym reproduce equal-time`."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.commands.reproduce.options import protuner_options
from halidegym.evaluation.papers import protuner
from halidegym.evaluation.papers.protuner_report import compare_and_report


@click.command("equal-time")
@click.option("--factor", "factors", type=float, multiple=True, default=(1.0,), help="Of the beam's time; repeatable.")
@protuner_options
def equal_time(
    factors: tuple[float, ...], pipelines: tuple[str, ...], seeds: int, threads: int, output: Path | None
) -> None:
    """Compare tree search and MB2FBS with a beam of 32 and five passes, in the time that the beam takes.

    By default on all fifteen pipelines of the papers, scheduled for 16 cores.
    """
    compare_and_report("equal-time", protuner.equal_time(factors, threads), pipelines, seeds, output)
