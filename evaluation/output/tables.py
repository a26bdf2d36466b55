"""Tables as files for other programs."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write_csv(row_type: type[Any], rows: Iterable[Any], path: Path) -> None:
    """Write one line a row, below the names of its fields.

    Args:
        row_type: a dataclass of plain values.
        rows: its instances.
        path: of the file.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in dataclasses.fields(row_type)])
        writer.writerows(map(dataclasses.astuple, rows))
