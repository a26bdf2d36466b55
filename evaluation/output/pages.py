"""Tables of results in Markdown pages, each made from a CSV file that the page names.

A page holds a table between two comments; the path is relative to the page::

    <!-- table: results/rollouts.csv (halidegym tables) -->
    <!-- end -->
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from halidegym.native._core import FormatError

_TABLE = re.compile(r"(<!-- table: (\S+) [^\n]*-->\n)(.*?)(<!-- end -->\n)", re.DOTALL)
_NUMBER = re.compile(r"\**[-+±]?\d.*|-|nan|")


def write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write the CSV file of a table.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def marked_table(file: str) -> str:
    """What a page holds where the table of this CSV file is to be."""
    return f"<!-- table: {file} (halidegym tables) -->\n<!-- end -->\n"


def table_files(page: Path) -> list[Path]:
    """The CSV files that a page names."""
    return [page.parent / found[2] for found in _TABLE.finditer(page.read_text(encoding="utf-8"))]


def with_tables(text: str, folder: Path) -> str:
    """A page with its tables made anew.

    Args:
        text: of the page.
        folder: that the page is in.

    Raises:
        FormatError: a line has more or less cells than the header, or there is no header.
        OSError: a CSV file cannot be read.
    """
    return _TABLE.sub(lambda found: f"{found[1]}{_markdown(folder / found[2])}{found[4]}", text)


def _markdown(path: Path) -> str:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file)) or [[]]
    if not header or any(len(row) != len(header) for row in rows):
        raise FormatError(f"{path} is no table: every line needs as many cells as the first one names columns")
    rules = ["---:" if all(map(_NUMBER.fullmatch, column)) else "---" for column in zip(*rows, strict=True)]
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{'|'.join(rules)}|", *lines[1:]]) + "\n"
