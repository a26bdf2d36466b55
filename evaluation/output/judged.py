"""Cost models that were judged, as a table; and what commands that read measured schedules have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from halidegym.evaluation.output.console import Table, name_columns, number_columns

if TYPE_CHECKING:
    from halidegym.training.cost_model.compare import Compared

measured_argument = click.argument("data", type=click.Path(exists=True, path_type=Path))
allow_other_machine_option = click.option(
    "--allow-other-machine", is_flag=True, help="Take run times of another machine, too."
)


def judged_cells(compared: Sequence[Compared]) -> list[tuple[str, ...]]:
    """A line for each model, the first of which the others are compared with."""
    return [model.cells(compared[0].found) for model in compared]


def judged_table(columns: Sequence[str], compared: Sequence[Compared]) -> Table:
    """The same for people to read."""
    name, *others = columns
    table = Table(
        *name_columns(name), *number_columns(*others),
        title=f"{len(compared[0].found.pipelines)} groups of schedules of "
        f"{len(set(compared[0].found.pipelines))} pipelines; intervals of 95 %",
        title_justify="left",
    )  # fmt: skip
    for row in judged_cells(compared):
        table.add_row(*map(escape, row))
    return table
