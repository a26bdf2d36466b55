"""`halidegym reproduce protuner-figures-4-5`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from halidegym.evaluation.arguments.options import Integer, Number
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.earlier_table import EarlierTable
from halidegym.evaluation.output.plots import check_plot_file
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers import greedy_trees
from halidegym.evaluation.papers.greedy_trees import EnsembleRun
from halidegym.evaluation.papers.mb2fbs import PAPER


@click.command("protuner-figures-4-5")
@click.argument("pipelines", metavar="[PIPELINE]...", nargs=-1, type=click.Choice(list(PAPER)))
@click.option(
    "--scale",
    type=Number(min=0, min_open=True),
    default=0.01,
    show_default=True,
    help="Factor of the paper's seconds per decision.",
)
@click.option("--seeds", type=Integer(1), default=1, show_default=True, help="Runs of each agent.")
@click.option("--threads", type=Integer(1), default=1, show_default=True, help="Of tree search.")
@click.option("--output", type=OutputFolder(), help="Also write .csv and .svg here.")
def protuner_figures_4_5(
    scale: float, pipelines: tuple[str, ...], seeds: int, threads: int, output: Path | None
) -> None:
    """Compare numbers of standard and greedy trees, 16 in all.

    Figures 4 and 5 of Haj-Ali et al. (2020). X_Y are X standard and Y greedy trees: the share of decisions that greedy
    trees made, and the least cost of all / cost. By default on the paper's four applications. After Ctrl-C, the pipelines
    that were done are shown.
    """
    chosen = pipelines or tuple(greedy_trees.PIPELINES)
    earlier = None
    if output is not None:
        check_plot_file(output / "figures-4-5.svg")
        earlier = EarlierTable(output / "figures-4-5.csv")
        earlier.check_covered(chosen)
    runs: list[EnsembleRun] = []
    try:
        with steps_bar(len(chosen) * len(greedy_trees.GREEDY_TREES) * seeds) as on_step:
            for pipeline in chosen:
                runs += greedy_trees.run([pipeline], scale=scale, threads=threads, seeds=range(seeds), on_step=on_step)
    finally:
        if runs:
            _report(runs, earlier)


def _report(runs: Sequence[EnsembleRun], earlier: EarlierTable | None) -> None:
    labels = map(greedy_trees.label, greedy_trees.GREEDY_TREES)
    table = Table(*name_columns("", ""), *number_columns(*labels), box=None)
    for pipeline, ensembles in greedy_trees.summarize(runs).items():
        table.add_row(pipeline, "by greedy", *(f"{100 * found.greedy_share:.0f} %" for found in ensembles.values()))
        table.add_row("", "least cost / cost", *(f"{found.relative_cost:.3f}" for found in ensembles.values()))
    output_console().print(table)
    if earlier is not None:
        done = {run.pipeline for run in runs}
        if earlier.is_covered(done):
            earlier.path.parent.mkdir(parents=True, exist_ok=True)
            write_csv(greedy_trees.EnsembleRun, runs, earlier.path)
            greedy_trees.draw(runs, earlier.path.with_suffix(".svg"))
        earlier.tell_if_kept(done)
