"""Reading many damaged files in another process, which may die of one."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fuzz.kinds import KINDS, Kind
from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess
from halidegym.native._core import Error

_TIMEOUT_S = 120.0
_MEMORY_BYTES = 8 << 30


def outcomes(kind: str, count: int) -> Iterator[str]:
    """What becomes of the first so many mutants: "loaded", the error of ours that refuses it, or "FAILED" and why."""
    number = 0
    while number < count:
        with tempfile.TemporaryDirectory() as folder, PythonProcess(memory_bytes=_MEMORY_BYTES) as process:
            try:
                while number < count:
                    yield process.call(read, kind, number, Path(folder), timeout_s=_TIMEOUT_S)
                    number += 1
            except ProcessEnded as ended:  # the next mutants need another process
                yield f"FAILED: the process {ended.finished.error}"
                number += 1


def read(kind: str, number: int, folder: Path) -> str:
    """What the other process does."""
    files = _made(kind, folder)
    path = folder / f"{number}.{kind}"
    files.write(path, np.random.default_rng([number, list(KINDS).index(kind)]))
    try:
        files.use(path)
    except Error as error:
        return type(error).__name__ if str(error).strip() else "FAILED: an error without a message"
    except Exception as error:
        return f"FAILED: {error!r}"
    finally:
        for file in folder.glob(f"{number}.*"):
            file.unlink()
    return "loaded"


@functools.cache
def _made(kind: str, folder: Path) -> Kind:
    return KINDS[kind](folder)
