"""Tables as files for other programs."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from halidegym.native.files import write_atomically


def write_csv(row_type: type[Any], rows: Iterable[Any], path: Path) -> None:
    """Write one line a row, below the names of its fields.

    Args:
        row_type: a dataclass of plain values.
        rows: its instances.
        path: of the file.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    write_rows(path, [[field.name for field in dataclasses.fields(row_type)], *map(dataclasses.astuple, rows)])


def write_rows(path: Path, rows: Iterable[Iterable[Any]], **dialect: Any) -> None:
    """Write a table as a whole or not at all, so that a full disk does not cost what was there before.

    Args:
        path: of the file.
        rows: the names of the columns first.
        dialect: of `csv.writer`.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows(rows)
    write_atomically(path, text.getvalue().encode())
