"""Where commands print their results."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import rich.table
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column

# More than any table needs; a line of a table is as long as its cells.
_WIDE = 1000

# Characters that names leave to each other column, its padding and border included.
_ROOM = 8


def output_console(*, stderr: bool = False) -> Console:
    """Return the standard output, or the error stream.

    It is as wide as the terminal, or wide enough for every table where it is none.

    Programs and files read whole lines; only people look at 80 columns. What the encoding lacks, such as the ± of run times
    in ASCII, is a question mark: it does not end a command after its work.
    """
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=_WIDE)


class Table(rich.table.Table):
    """A table whose names are whole while they leave room for the other columns; longer ones are folded, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = [column for column in self.columns if isinstance(column, _NameColumn)]
        widths = [max(console.measure(cell).maximum for cell in [name.header, *name.cells]) for name in names]
        room = options.max_width - _ROOM * (len(self.columns) - len(names))
        for name in names:
            name.no_wrap = sum(widths) <= room
        yield from super().__rich_console__(console, options)


class _NameColumn(Column):
    pass


def name_columns(*headings: str) -> Sequence[Column]:
    """Columns of names, which are folded only where they leave no room for numbers; see `Table`."""
    return [_NameColumn(heading, overflow="fold") for heading in headings]


def number_columns(*headings: str) -> Sequence[Column]:
    """Columns of numbers, to the right; where there is no room, they go on in the next line rather than being cut."""
    return [Column(heading, justify="right", overflow="fold") for heading in headings]
