"""`halidegym reproduce mb2fbs-tables`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.earlier_table import EarlierTable
from halidegym.evaluation.output.plots import check_plot_file
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers import mb2fbs
from halidegym.evaluation.papers.mb2fbs import Cell
from halidegym.evaluation.papers.mb2fbs_report import row, write_report


@click.command("mb2fbs-tables")
@click.argument("pipelines", metavar="[PIPELINE]...", nargs=-1, type=click.Choice(list(mb2fbs.PAPER)))
@click.option("--all", "all_pipelines", is_flag=True, help="All fifteen pipelines, some of which take minutes.")
@click.option(
    "--output",
    type=OutputFolder(),
    help="Also write tables.csv, tables.md and tables.svg here, and a .csv for each table of the page.",
)
def mb2fbs_tables(pipelines: tuple[str, ...], all_pipelines: bool, output: Path | None) -> None:
    """Compare beam search with MB2FBS: best costs and mean expansions a pass.

    Tables 2, 3 and 4 of Gao et al. (2022). By default on the eight pipelines on which a beam of 32 has the paper's cost to
    the last digit. "By cost" are the searches of Table 4, whose priority is the cost alone. After Ctrl-C, the pipelines
    that were done are shown.
    """
    if all_pipelines and pipelines:
        raise click.UsageError("Give PIPELINEs or --all, not both.")
    chosen = tuple(mb2fbs.PAPER) if all_pipelines else pipelines or mb2fbs.EXACT
    earlier = None
    if output is not None:
        check_plot_file(output / "tables.svg")
        earlier = EarlierTable(output / "tables.csv")
        earlier.check_covered(chosen)
    cells: list[Cell] = []
    try:
        with steps_bar(len(chosen) * len(mb2fbs.ALGORITHMS)) as on_step:
            for pipeline in chosen:
                cells += mb2fbs.reproduce([pipeline], on_step=on_step)
    finally:
        if cells:
            _report(cells, earlier)


def _report(cells: Sequence[Cell], earlier: EarlierTable | None) -> None:
    table = Table(
        *name_columns("Pipeline", "Algorithm"),
        *number_columns("Cost", "Paper's", "", "Expansions", "Paper's", "Seconds"),
        box=None,
    )
    for number, cell in enumerate(cells):
        table.add_row(*row(cell))
        if (number + 1) % len(mb2fbs.ALGORITHMS) == 0:
            table.add_section()
    for algorithm, (ours, paper) in mb2fbs.geometric_means(cells).items():
        table.add_row("geometric mean", algorithm, f"{ours:.6g}", f"{paper:.6g}", f"{ours / paper - 1:+.2%}")
    output_console().print(table)
    if earlier is not None:
        done = {cell.pipeline for cell in cells}
        if earlier.is_covered(done):
            write_report(cells, earlier.path.parent)
        earlier.tell_if_kept(done)
