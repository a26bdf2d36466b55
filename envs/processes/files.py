"""Where files are kept, and writing them as a whole or not at all."""

from __future__ import annotations

import os
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


def cache_directory() -> Path:
    """Where this user's files are kept that can be made anew; created if it is missing.

    Raises:
        OSError: it cannot be.
    """
    directory = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "halidegym"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory
