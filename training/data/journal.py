"""A journal: entries that survive the sudden end of who writes them."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

_HEADER = struct.Struct("<Q32s")  # length and SHA-256 of the entry that follows


class Journal:
    """A file that entries are appended to.

    Attributes:
        path: of the file.
        entries: those that were in it when it was opened. One that was cut short by a kill is the last one, and is
            dropped from the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        self.entries, end = _whole_entries(data)
        if end < len(data):
            with path.open("r+b") as file:
                file.truncate(end)

    def append(self, entry: bytes) -> None:
        """Add an entry at the end."""
        with self.path.open("ab") as file:
            file.write(_HEADER.pack(len(entry), hashlib.sha256(entry).digest()) + entry)

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self.path.unlink(missing_ok=True)


def _whole_entries(data: bytes) -> tuple[list[bytes], int]:
    """The entries, and where the last whole one ends."""
    entries, end = list[bytes](), 0
    while len(data) >= end + _HEADER.size:
        length, digest = _HEADER.unpack_from(data, end)
        entry = data[end + _HEADER.size : end + _HEADER.size + length]
        if len(entry) != length or hashlib.sha256(entry).digest() != digest:
            break
        entries.append(entry)
        end += _HEADER.size + length
    return entries, end
