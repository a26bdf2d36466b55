"""What a stopwatch works with: compiled schedules, and the processes, threads and files that make them."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.timing.compiler import Compiler, CompileTimes
from halidegym.envs.timing.kernel import KernelFailed
from halidegym.envs.timing.trusted import Trusted

_MOST_PROBLEMS = 16
"""Whose trusted outputs are kept: a reward over generated pipelines meets others without end."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A compiled schedule, or how compiling it failed."""

    library: Path
    times: CompileTimes
    failure: KernelFailed | None = None


class Bench:
    """What a stopwatch works with: compiling processes with a thread for each, and files.

    Args:
        compilers: how many schedules to compile at once.

    Attributes:
        owner: the process that made it. A fork of it has neither the threads nor the processes.
        trusted: what schedules are compared with, by the identity of the problem.
        inputs: the files with the inputs, likewise.
    """

    def __init__(self, compilers: int) -> None:
        self.owner = os.getpid()
        self.compiler = Compiler(compilers)
        # The kernel ends processes with the thread that started them, so the threads stay as long as the compilers.
        self.pool = ThreadPoolExecutor(compilers)
        self.trusted: dict[str, Trusted] = {}
        self.inputs: dict[str, list[str]] = {}
        self._scratch = ScratchFolder()
        self._count = itertools.count()

    def new_directory(self) -> Path:
        """An empty folder of its own, until the bench is closed."""
        directory = self._scratch.path / str(next(self._count))
        directory.mkdir()
        return directory

    def keep_trusted(self, identity: str, trusted: Trusted) -> None:
        """Keep what the schedules of a problem are compared with, and let go of that of problems long before."""
        self.trusted[identity] = trusted
        while len(self.trusted) > _MOST_PROBLEMS:
            shutil.rmtree(self.trusted.pop(next(iter(self.trusted))).outputs, ignore_errors=True)

    def close(self) -> None:
        """End the processes and remove the files."""
        self.pool.shutdown(cancel_futures=True)
        self.compiler.close()
        self._scratch.close()


@contextlib.contextmanager
def kept(kernel: Kernel) -> Iterator[Kernel]:
    """Remove the kernel's library, and the folder that it has for itself, when the context is left."""
    try:
        yield kernel
    finally:
        shutil.rmtree(kernel.library.parent, ignore_errors=True)
