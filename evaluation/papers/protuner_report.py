"""Agents compared with a beam: a table on the standard output, and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean

from rich.table import Table

from halidegym.evaluation.output.console import name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers.mb2fbs import PAPER
from halidegym.evaluation.papers.protuner import Rival, Run, compare, draw, ratios


def compare_and_report(
    name: str, rivals: Mapping[str, Rival], pipelines: Sequence[str], seeds: int, output: Path | None
) -> None:
    """Compare agents with a beam, print the ratios of their costs, and write them.

    Args:
        name: of the experiment, and of its files.
        rivals: the agents by the names to show.
        pipelines: to compare them on; empty for all of the papers.
        seeds: runs of each agent.
        output: folder for a .csv and a .svg file; None for none.

    Raises:
        Error: the folder is given, and matplotlib is not installed.
        OSError: a file cannot be written.
    """
    chosen = tuple(pipelines) or tuple(PAPER)
    with steps_bar(len(chosen) * (1 + seeds * len(rivals))) as on_step:
        runs = compare(chosen, rivals, seeds=range(seeds), on_step=on_step)
    output_console().print(_table(runs, chosen))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_csv(Run, runs, output / f"{name}.csv")
        draw(name, runs, output / f"{name}.svg")


def _table(runs: Sequence[Run], pipelines: Sequence[str]) -> Table:
    by_algorithm = ratios(runs)
    table = Table(*name_columns("Cost of beam 32 / cost"), *number_columns(*by_algorithm), box=None)
    for pipeline in pipelines:
        table.add_row(pipeline, *(f"{row[pipeline]:.3f}" for row in by_algorithm.values()))
    table.add_section()
    table.add_row("geometric mean", *(f"{geometric_mean(row.values()):.3f}" for row in by_algorithm.values()))
    times = [
        geometric_mean(run.seconds / run.beam_seconds for run in runs if run.algorithm == algorithm)
        for algorithm in by_algorithm
    ]
    table.add_row("time / beam's", *(f"{time:.2f}" for time in times))
    return table
