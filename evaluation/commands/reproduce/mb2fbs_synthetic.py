"""`halidegym reproduce mb2fbs-synthetic`."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.plots import check_plot_file
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers import synthetic_trees


@click.command("mb2fbs-synthetic")
@click.option("--trees", type=Integer(1), default=10, show_default=True, help="Random trees a point.")
@click.option("--output", type=OutputFolder(), help="Also write synthetic.csv and synthetic.svg here.")
def mb2fbs_synthetic(trees: int, output: Path | None) -> None:
    """Compare beam search with MB2FBS on random trees.

    Figures 6 and 7 and Table 5 of Gao et al. (2022). The parameter is delta in figure 6, the beam size in figure 7, and
    beta2 in table 5.
    """
    if output is not None:
        check_plot_file(output / "synthetic.svg")
    points = [
        *synthetic_trees.figure_6(trees=trees),
        *synthetic_trees.figure_7(trees=trees),
        *synthetic_trees.table_5(trees=trees),
    ]
    table = Table(
        *name_columns("Experiment", "Algorithm"),
        *number_columns("Parameter", "Accuracy", "Paper's", "Expansions", "Paper's"),
        box=None,
    )
    for point in points:
        accuracy, expansions = ("", "") if point.paper is None else map(str, point.paper)
        table.add_row(
            point.experiment,
            point.algorithm,
            f"{point.parameter:g}",
            f"{point.accuracy:.3f}",
            accuracy,
            f"{point.expansions:.1f}",
            expansions,
        )
    output_console().print(table)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_csv(synthetic_trees.FigurePoint, points, output / "synthetic.csv")
        synthetic_trees.draw(points, output / "synthetic.svg")
