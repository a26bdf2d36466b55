"""`halidegym reproduce protuner-figures-4-5`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from halidegym.evaluation.commands.reproduce.options import protuner_options, scale_option
from halidegym.evaluation.output.console import name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers import greedy_trees


@click.command("protuner-figures-4-5")
@scale_option
@protuner_options
def protuner_figures_4_5(
    scale: float, pipelines: tuple[str, ...], seeds: int, threads: int, output: Path | None
) -> None:
    """Compare numbers of standard and greedy trees, 16 in all (Haj-Ali et al. 2020, Figures 4 and 5).

    X_Y are X standard and Y greedy trees: the share of decisions that greedy trees made, and the least cost of all / cost.
    By default on the paper's four applications.
    """
    chosen = pipelines or tuple(greedy_trees.PIPELINES)
    with steps_bar(len(chosen) * len(greedy_trees.GREEDY_TREES) * seeds) as on_step:
        runs = greedy_trees.run(chosen, scale=scale, threads=threads, seeds=range(seeds), on_step=on_step)
    labels = map(greedy_trees.label, greedy_trees.GREEDY_TREES)
    table = Table(*name_columns("", ""), *number_columns(*labels), box=None)
    for pipeline, ensembles in greedy_trees.summarize(runs).items():
        table.add_row(pipeline, "by greedy", *(f"{100 * found.greedy_share:.0f} %" for found in ensembles.values()))
        table.add_row("", "least cost / cost", *(f"{found.relative_cost:.3f}" for found in ensembles.values()))
    output_console().print(table)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_csv(greedy_trees.EnsembleRun, runs, output / "figures-4-5.csv")
        greedy_trees.draw(runs, output / "figures-4-5.svg")
