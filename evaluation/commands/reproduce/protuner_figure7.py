"""`halidegym reproduce protuner-figure7`."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.commands.reproduce.options import protuner_options, scale_option
from halidegym.evaluation.papers.protuner import figure_7
from halidegym.evaluation.papers.protuner_report import compare_and_report


@click.command("protuner-figure7")
@scale_option
@protuner_options
def protuner_figure7(scale: float, pipelines: tuple[str, ...], seeds: int, threads: int, output: Path | None) -> None:
    """Compare the costs of tree search's configurations with beam and greedy search (Haj-Ali et al. 2020, Figure 7).

    By default on all fifteen pipelines of the papers. The configurations that measure are left out.
    """
    compare_and_report("figure7", figure_7(scale, threads), pipelines, seeds, output)
