"""Where files are kept, for a user and for a process."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from types import TracebackType

from halidegym.native._core import Error

_SCRATCH_PREFIX = "halidegym-scratch-"


class CacheUnwritable(Error, OSError):  # noqa: N818
    """This user's cache directory cannot be made, or nothing be written to it."""


def cache_path() -> Path:
    """Where this user's files are kept that can be made anew, be it there or not."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "halidegym")


def cache_directory() -> Path:
    """The same, created if it is missing.

    Raises:
        CacheUnwritable: it cannot be, or is read-only; an OSError.
    """
    directory = cache_path()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise CacheUnwritable(
            f"Cannot write to {directory}, where locks and the compiled runtime are kept: {error.strerror}. "
            "Set XDG_CACHE_HOME to a folder that can be written."
        ) from error
    return directory


class ScratchFolder:
    """A folder for as long as this process needs it. Use as a context, or close it; at the latest, it goes with the process.

    What a process leaves behind that was killed, the next one removes that makes a folder in the same place: a folder is in
    use as long as someone holds a lock on it. A fork neither removes the folder nor needs it.

    Args:
        place: where to make it; None for the directory for temporary files.

    Attributes:
        path: of the folder.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, place: Path | None = None) -> None:
        place = Path(tempfile.gettempdir()) if place is None else place
        _remove_abandoned(place)
        self.path, lock = _locked_folder(place)
        self._close = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder and what is in it."""
        self._close()


def _locked_folder(place: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=place))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists():
                return path, lock
            os.close(lock)  # taken for abandoned before it was locked


def _remove_abandoned(place: Path) -> None:
    for path in place.glob(f"{_SCRATCH_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is another user's, or in use, or someone else removed it
            lock = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _remove(path: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
