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
        self.entries = entries_of(path)
        end = sum(_HEADER.size + len(entry) for entry in self.entries)
        if path.exists() and end < path.stat().st_size:
            with path.open("r+b") as file:
                file.truncate(end)

    def append(self, entry: bytes) -> None:
        """Add an entry at the end."""
        with self.path.open("ab") as file:
            file.write(_HEADER.pack(len(entry), hashlib.sha256(entry).digest()) + entry)

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self.path.unlink(missing_ok=True)


def entries_of(path: Path) -> list[bytes]:
    """The whole entries of a file, none if it is missing; the file stays as it is, since somebody may write it.

    Raises:
        FormatError: see `Journal`.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    entries, end = list[bytes](), 0
    while len(data) >= end + _HEADER.size:
        length, digest = _HEADER.unpack_from(data, end)
        entry = data[end + _HEADER.size : end + _HEADER.size + length]
        is_torn = len(entry) < length and not _is_whole(entry, digest)
        if is_torn:
            break
        if len(entry) < length or hashlib.sha256(entry).digest() != digest:  # which no kill leaves behind
            raise FormatError(
                f"{path} is damaged after {len(entries)} whole entries. Restore a copy, or remove it, and collect again "
                "what it held"
            )
        entries.append(entry)
        end += _HEADER.size + length
    return entries


def _is_whole(data: bytes, digest: bytes) -> bool:
    """Whether the entry with this digest is all there, and others may follow: then it is its length that is damaged."""
    begun = hashlib.sha256()
    for place in range(len(data)):
        begun.update(data[place : place + 1])
        if begun.copy().digest() == digest:
            return True
    return False
