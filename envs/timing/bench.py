"""What a stopwatch works with: compiled schedules, and the processes, threads and files that make them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.compiler import CannotCompile, CompilationError, Compiler, CompileTimes
from halidegym.envs.timing.kernel import KernelFailed
from halidegym.envs.timing.kernel_store import KernelStore
from halidegym.envs.timing.machine import compiling
from halidegym.envs.timing.measurements import Outcome
from halidegym.envs.timing.trusted import Trusted
from halidegym.native._core import InvalidParameter

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
        store: to keep compiled schedules in, and to look for them; None compiles everything anew.

    Attributes:
        owner: the process that made it. A fork of it has neither the threads nor the processes.
        trusted: what schedules are compared with, by the identity of the problem.
        inputs: the files with the inputs, likewise.
    """

    def __init__(self, compilers: int, store: KernelStore | None) -> None:
        self.owner = os.getpid()
        self.compiler = Compiler(compilers)
        self._store = store
        # The kernel ends processes with the thread that started them, so the threads stay as long as the compilers.
        self.pool = ThreadPoolExecutor(compilers)
        self.trusted: dict[str, Trusted] = {}
        self.inputs: dict[str, list[str]] = {}
        self._scratch = ScratchFolder()
        self._count = itertools.count()
        self._is_closed = False

    def new_directory(self) -> Path:
        """An empty folder of its own, until the bench is closed.

        Raises:
            InvalidParameter: it was closed.
        """
        self._check_open()
        directory = self._scratch.path / str(next(self._count))
        directory.mkdir()
        return directory

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Blame nothing else for what fails because another thread closes the bench meanwhile.

        Raises:
            InvalidParameter: it was closed.
        """
        try:
            yield
        except Exception:
            self._check_open()
            raise
        self._check_open()

    def _check_open(self) -> None:
        if self._is_closed:
            raise InvalidParameter("The stopwatch was closed, and measures no more; make another one")

    def keep_trusted(self, identity: str, trusted: Trusted) -> None:
        """Keep what the schedules of a problem are compared with, and let go of that of problems long before."""
        self.trusted[identity] = trusted
        while len(self.trusted) > _MOST_PROBLEMS:
            shutil.rmtree(self.trusted.pop(next(iter(self.trusted))).outputs, ignore_errors=True)

    def compiled(
        self,
        problem: SchedulingProblem,
        schedules: Sequence[ScheduleLike],
        timeout_s: float,
        deadlines: Sequence[float] = (),
    ) -> list[contextlib.AbstractContextManager[Kernel]]:
        """Compile in parallel. Each kernel's library is there until its context is left.

        Args:
            problem: the problem.
            schedules: of it.
            timeout_s: seconds after which the compilation of one is given up.
            deadlines: on the clock of `time.perf_counter`, at which each is given up as well; empty for none.

        Raises:
            CannotCompile: this machine compiles none of them as it is.
        """
        libraries = [self.new_directory() / "kernel.so" for _ in schedules]
        deadlines = deadlines or [math.inf] * len(schedules)
        jobs = [
            self.pool.submit(self._kernel, problem, schedule, library, timeout_s, deadline)
            for schedule, library, deadline in zip(schedules, libraries, deadlines, strict=True)
        ]
        try:
            return [_kept(job.result()) for job in jobs]
        except BaseException:  # Ctrl-C
            for job in jobs:
                job.cancel()
            self.compiler.interrupt()
            for library in libraries:
                shutil.rmtree(library.parent, ignore_errors=True)
            raise

    def _kernel(
        self, problem: SchedulingProblem, schedule: ScheduleLike, library: Path, timeout_s: float, deadline: float
    ) -> Kernel:
        with compiling():
            begin = time.perf_counter()
            if begin >= deadline:
                return Kernel(
                    library, CompileTimes(), KernelFailed("timeout", "the compiler: it was not its turn in time")
                )
            try:
                self.compiler.runtime_library(problem.target)
                compile_ = self.compiler.compile
                if self._store is not None:
                    compile_ = functools.partial(self._store.compile, self.compiler)
                times = compile_(problem, schedule, library, timeout_s=min(timeout_s, deadline - begin))
                return Kernel(library, times)
            except CannotCompile:
                raise
            except CompilationError as error:
                failed = KernelFailed.of(error.finished)
                is_refused = failed.outcome == "run_error"
                outcome: Outcome = "compile_error" if is_refused else failed.outcome
                words = failed.error if is_refused else f"the compiler: {failed.error}"
                times = CompileTimes(compile_s=time.perf_counter() - begin)
                return Kernel(library, times, KernelFailed(outcome, words))

    def close(self) -> None:
        """End the processes and remove the files."""
        self._is_closed = True
        self.pool.shutdown(cancel_futures=True)
        self.compiler.close()
        self._scratch.close()


@contextlib.contextmanager
def _kept(kernel: Kernel) -> Iterator[Kernel]:
    """Remove the kernel's library, and the folder that it has for itself, when the context is left."""
    try:
        yield kernel
    finally:
        shutil.rmtree(kernel.library.parent, ignore_errors=True)
