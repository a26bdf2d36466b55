"""Folders that one process at a time writes into."""

from __future__ import annotations

import fcntl
from pathlib import Path
from types import TracebackType

from halidegym.native._core import InvalidParameter

LOCK = "lock"
"""Name of the file that is left in a folder that somebody has written into. It is a file, and not the folder that is
locked, since a network file system locks only what is open for writing."""


class FolderLock:
    """A folder is this process's until the lock is closed, or the process ends in any way. Use as a context.

    Args:
        folder: made if it is missing.

    Raises:
        InvalidParameter: it is another process's.
        OSError: it cannot be made, or written into.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / LOCK).open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InvalidParameter(
                f"Another process is writing into {folder}. Wait for it, or give another folder"
            ) from None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others write into the folder."""
        self._file.close()
