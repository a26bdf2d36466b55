"""`halidegym leaderboard`: validated runs of several people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar

if TYPE_CHECKING:
    from halidegym.evaluation.benchmark.leaderboard import Board
    from halidegym.evaluation.benchmark.report.statistics import Summary


@click.command("leaderboard")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--own-pipelines", is_flag=True, help="Trust runs with pipelines of files and modules, whose code this runs."
)
@needs_extra("bench")
def leaderboard_command(runs: tuple[Path, ...], own_pipelines: bool) -> None:
    """Compare the agents of several RUNs: folders of `halidegym bench`, or submissions, one file each.

    `halidegym validate RUN --submission mine.zip` writes such a file. Each run is validated first, and left out if
    something in it is false, missing or damaged. The exit status is 2 if one is damaged, else 1 if none is left. Runs of
    the same suite with the same baseline on the same machine are in one table, by the speed of their schedules, then by
    cost; an agent that failed on some pipelines comes behind all that have figures of more. Ratios are relative to the
    baseline of the same run, above 1 where an agent is better, with an interval of 95 % over pipelines and seeds. No code
    of the runs is executed without --own-pipelines.
    """
    from halidegym.evaluation.benchmark.leaderboard import leaderboard

    with steps_bar(len(runs)) as on_step:
        boards, refused = leaderboard(runs, own_pipelines=own_pipelines, on_run=on_step)
    console = output_console()
    for board in boards:
        console.print(_table(board))
    for each in refused:
        console.print(f"{each.run} is left out: {each.reason}", markup=False, soft_wrap=True)
    if any(each.is_damaged for each in refused):
        raise SystemExit(2)
    if not boards:
        raise SystemExit(1)


def _table(board: Board) -> Table:
    from halidegym.evaluation.benchmark.leaderboard import machine_label

    table = Table(
        *name_columns("Run", "Agent", "Budget"),
        *number_columns("Speed", "95 %", "Cost", "95 %", "Pipelines"),
        title=escape(f"{board.title}\n{machine_label(board.machine)}"),
        caption="Speed and cost are relative to the baseline of the run, above 1 where an agent is better.",
        title_justify="left",
        caption_justify="left",
    )
    for entry in board.entries:
        either = entry.run_time or entry.cost
        table.add_row(
            *map(escape, (entry.run, entry.agent, entry.budget)),
            *_cells(entry.run_time),
            *_cells(entry.cost),
            "-" if either is None else str(either.pipelines),
        )
    return table


def _cells(summary: Summary | None) -> tuple[str, str]:
    from halidegym.evaluation.benchmark.report.tables import range_of

    if summary is None:
        return "-", "-"
    return f"{summary.mean.value:.3f}", range_of(summary.mean)
