"""A journal: entries that survive the sudden end of who writes them."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

from halidegym.native._core import FormatError

_HEADER = struct.Struct("<Q32s")  # length and SHA-256 of the entry that follows


class Journal:
    """A file that entries are appended to.

    Attributes:
        path: of the file.
        entries: those that were in it when it was opened. One that was cut short by a kill is the last one, and is
            dropped from the file.

    Raises:
        FormatError: the file is damaged elsewhere.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        self.entries, end = _whole_entries(data, path)
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


def _whole_entries(data: bytes, path: Path) -> tuple[list[bytes], int]:
    """The entries, and where the last whole one ends."""
    entries, end = list[bytes](), 0
    while len(data) >= end + _HEADER.size:
        length, digest = _HEADER.unpack_from(data, end)
        entry = data[end + _HEADER.size : end + _HEADER.size + length]
        if len(entry) != length:
            break
        if hashlib.sha256(entry).digest() != digest:  # which no kill leaves behind
            raise FormatError(
                f"{path} is damaged after {len(entries)} whole entries. Restore a copy, or remove it, and collect again "
                "what it held"
            )
        entries.append(entry)
        end += _HEADER.size + length
    return entries, end
