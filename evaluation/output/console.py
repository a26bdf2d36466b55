"""Where commands print their results."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Column

# More than any table needs; a line of a table is as long as its cells.
_WIDE = 1000


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


def name_columns(*headings: str) -> Sequence[Column]:
    """Columns of names, which are never folded, however narrow the terminal."""
    return [Column(heading, no_wrap=True) for heading in headings]


def number_columns(*headings: str) -> Sequence[Column]:
    """Columns of numbers, to the right; where there is no room, they go on in the next line rather than being cut."""
    return [Column(heading, justify="right", overflow="fold") for heading in headings]
