"""Tables of results in Markdown pages, each made from a CSV file that the page names.

A page holds a table between two comments; the path is relative to the page::

    <!-- table: results/rollouts.csv (halidegym tables) -->
    <!-- end -->
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from halidegym.evaluation.output.tables import write_rows
from halidegym.native._core import FormatError

_BEGIN = r"<!-- table: (\S+) [^\n]*-->\n"
_TABLE = re.compile(rf"({_BEGIN})(?:(?!<!-- table: ).)*?(?=<!-- end -->)", re.DOTALL)
_NUMBER = re.compile(r"\**[-+±]?\d.*|-|nan|")


def write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write the CSV file of a table.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    write_rows(path, [header, *rows], lineterminator="\n")


def marked_table(file: str) -> str:
    """What a page holds where the table of this CSV file is to be."""
    return f"<!-- table: {file} (halidegym tables) -->\n<!-- end -->\n"


def read_page(path: Path) -> str:
    """The text of a page, or of a CSV file that one names.

    Raises:
        FormatError: it is no text in UTF-8.
        OSError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} is no text in UTF-8: {error.reason} at byte {error.start}. Save it as such"
        ) from error


def table_files(page: Path) -> list[Path]:
    """The CSV files that a page names."""
    return [page.parent / found[2] for found in _TABLE.finditer(read_page(page))]


def with_tables(text: str, folder: Path) -> str:
    """A page with its tables made anew.

    Args:
        text: of the page.
        folder: that the page is in.

    Raises:
        FormatError: a table has no end, a line has more or less cells than the header, there is no header, or a file is no
            text.
        OSError: a CSV file cannot be read.
    """
    for begun in re.finditer(_BEGIN, text):
        if not _TABLE.match(text, begun.start()):  # or what stands up to the end of another one would be taken for it
            raise FormatError(f"The table of {begun[1]} has no end; put <!-- end --> below it, before the next one")
    return _TABLE.sub(lambda found: f"{found[1]}{_markdown(folder / found[2])}", text)


def _markdown(path: Path) -> str:
    text = read_page(path).removeprefix("\ufeff")  # a mark that spreadsheets write before the first name
    header, *rows = list(csv.reader(io.StringIO(text, newline=""))) or [[]]
    if not header or any(len(row) != len(header) for row in rows):
        raise FormatError(f"{path} is no table: every line needs as many cells as the first one names columns")
    columns = zip(header, *rows, strict=True)
    rules = ["---:" if all(map(_NUMBER.fullmatch, cells)) else "---" for _, *cells in columns]
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{'|'.join(rules)}|", *lines[1:]]) + "\n"
