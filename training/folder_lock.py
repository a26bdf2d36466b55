"""Folders that one process at a time writes into."""

from __future__ import annotations

import fcntl
from pathlib import Path
from types import TracebackType

from halidegym.native._core import InvalidParameter


class FolderLock:
    """A folder is this process's until the lock is closed, or the process ends in any way. Use as a context.

    Args:
        folder: made if it is missing.

    Raises:
        InvalidParameter: it is another process's.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "lock").open("w")
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
