"""Files that are written as a whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file in one step, so that no other process reads half of it.

    Raises:
        OSError: it cannot be written.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)
