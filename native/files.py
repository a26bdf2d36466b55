"""Files that are written as a whole or not at all, the same on all floors."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path


def real_path(path: Path) -> Path:
    """The path without links, as `Path.resolve` has it; of links in a circle, Python up to 3.12 makes a RuntimeError.

    Raises:
        OSError: it is such a link; names the path.
    """
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return real


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file in one step, so that no other process reads half of it, and what was there stays if the disk is full.

    What is no file, such as a pipe, is written to; a link stays one.

    Raises:
        OSError: it cannot be written; names the file.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        path.write_bytes(data)
        return
    path = real_path(path)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # unlike those of `tempfile`, as readable as other files
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error  # not the temporary one, or none
    finally:
        temporary.unlink(missing_ok=True)
