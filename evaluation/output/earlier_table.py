"""A table that is there already, and may have taken hours: an experiment that comes to less does not write over it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import click

from halidegym.evaluation.output.pages import read_page


class EarlierTable:
    """What an experiment finds where it will write, if anything.

    Args:
        path: of the table.

    Attributes:
        path: the same.

    Raises:
        FormatError, OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._names = _first_column(path)

    def check_covered(self, names: Iterable[object]) -> None:
        """Refuse, before it begins, what would come to these names only.

        Raises:
            UsageError: the table that is there has others.
        """
        others = self._others(names)
        if others:
            raise click.UsageError(
                f"{self.path} has {others}, too, which this would leave out; name all, or write elsewhere."
            )

    def is_covered(self, names: Iterable[object]) -> bool:
        """Whether a table of what is done so far may be written over it."""
        return not self._others(names)

    def tell_if_kept(self, names: Iterable[object]) -> None:
        """Say so, if in the end too little was done to write over it."""
        others = self._others(names)
        if others:
            click.echo(f"{self.path} stays as it was: it has {others}, which was not done now.", err=True)

    def _others(self, names: Iterable[object]) -> str:
        own = set(map(str, names))
        return ", ".join(name for name in self._names if name not in own)


def _first_column(path: Path) -> list[str]:
    if not path.is_file():
        return []
    rows = list(csv.reader(io.StringIO(read_page(path), newline="")))
    return list(dict.fromkeys(row[0] for row in rows[1:] if row))
