"""From schedules to machine code in shared libraries, with everything that can abort in processes of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import queue
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.confined import Finished, ProcessEnded, run_process
from halidegym.envs.processes.files import ScratchFolder, cache_directory
from halidegym.envs.processes.isolated import KeptProcess
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.compile_worker import KernelRequest, Reply, RuntimeRequest, carry_out
from halidegym.envs.timing.machine import LLVM_ARGUMENTS, this_machine
from halidegym.native._core import Error

DEFAULT_MEMORY_BYTES = 8 << 30
"""Address space that a compiling process may have."""

# A worker is replaced after so many requests, so that whatever Halide leaks has an end.
_REQUESTS_PER_WORKER = 200

_LEAST_FREE_BYTES = 1 << 20  # kernels are smaller


class CompilationError(Exception):
    """A process of the compilation did not go well.

    Attributes:
        finished: how it ended.
        would_repeat: whether the same schedule would fail again, if it is given no more time.
    """

    def __init__(self, finished: Finished, *, would_repeat: bool = False) -> None:
        super().__init__(finished.error)
        self.finished = finished
        self.would_repeat = would_repeat


class CannotCompile(CompilationError, Error):  # noqa: N818 - says what happened
    """This machine compiles no schedule as it is: it has no linker, or no space left. It says nothing of the schedule."""

    def __init__(self, words: str) -> None:
        super().__init__(Finished("error", words))


@dataclasses.dataclass(frozen=True)
class CompileTimes:
    """What a compilation took, in seconds; of the clock, where nothing else is said.

    Attributes:
        halide_s: Halide's own compiler.
        compile_s: from the schedule to the object file, Halide included.
        link_s: from there to the library.
        work_s: of `compile_s`, the seconds in which a core worked for it, however busy the machine was.
    """

    halide_s: float = 0.0
    compile_s: float = 0.0
    link_s: float = 0.0
    work_s: float = 0.0


class Compiler:
    """Compiles schedules in worker processes, which are started when first needed and then kept.

    Safe to call from several threads: as many compile at once as there are workers. Use as a context.

    Args:
        workers: how many processes.
        memory_bytes: address space that each may have.
    """

    def __init__(self, workers: int = 1, *, memory_bytes: int = DEFAULT_MEMORY_BYTES) -> None:
        self._workers = [
            KeptProcess(
                memory_bytes=memory_bytes,
                # Whether an extent is constant is an estimate of the search; without the variable, Halide refuses to
                # compile an unrolled loop whose extent it cannot prove to be constant.
                environment={"HL_PERMIT_FAILED_UNROLL": "1", LLVM_ARGUMENTS: this_machine().llvm_arguments},
                calls=_REQUESTS_PER_WORKER,
            )
            for _ in range(workers)
        ]
        self._idle: queue.SimpleQueue[KeptProcess] = queue.SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Compiler has processes, and cannot be copied or pickled; make another, as env.spec.make() does for an "
            "environment"
        )

    def __enter__(self) -> Compiler:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def workers(self) -> int:
        """How many schedules it compiles at once."""
        return len(self._workers)

    def close(self) -> None:
        """End the worker processes."""
        for worker in self._workers:
            worker.close()

    def interrupt(self) -> None:
        """Make compilations fail that are under way in other threads."""
        for worker in self._workers:
            worker.interrupt()

    def compile(
        self, problem: SchedulingProblem, schedule: ScheduleLike, library: Path, *, timeout_s: float = 300.0
    ) -> CompileTimes:
        """Compile a scheduled pipeline to a shared library that needs Halide's runtime beside it.

        Args:
            problem: what is scheduled; its target is compiled for.
            schedule: of it.
            library: the file to write.
            timeout_s: seconds after which the compilation is given up.

        Raises:
            CompilationError: Halide refused the schedule, crashed or took too long.
            CannotCompile: no linker is installed, there is no space left, or files may not be as large.
        """
        object_path = library.with_suffix(".o")
        begin = time.perf_counter()
        with _space_in(library.parent, "TMPDIR"):
            reply = self._call(KernelRequest(problem, schedule, str(object_path)), timeout_s)
            compiled = time.perf_counter()
            _link(object_path, library)
        object_path.unlink()
        return CompileTimes(reply.halide_s, compiled - begin, time.perf_counter() - compiled, reply.work_s)

    def runtime_library(self, target: str) -> Path:
        """Halide's runtime for a target as a shared library, built once a user and then kept in their cache directory.

        Raises:
            CompilationError: it cannot be built.
            OSError: the cache directory cannot be written.
        """
        identity = f"{this_machine().compiler} {target}"
        directory = cache_directory()
        path = directory / f"runtime-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.so"
        if not path.exists():
            # Another process may be building it, too: each builds its own and puts it in place in one step.
            with ScratchFolder(directory) as scratch, _space_in(scratch, "XDG_CACHE_HOME"):
                object_path, built = scratch / "runtime.o", scratch / "runtime.so"
                self._call(RuntimeRequest(target, str(object_path)), timeout_s=300.0)
                _link(object_path, built)
                built.replace(path)
        return path

    def _call(self, request: KernelRequest | RuntimeRequest, timeout_s: float) -> Reply:
        with self._worker() as worker:
            try:
                reply = worker.call(carry_out, request, timeout_s=timeout_s)
            except ProcessEnded as ended:
                raise CompilationError(ended.finished, would_repeat=ended.finished.outcome == "timeout") from None
        if reply.outcome != "ok":
            raise CompilationError(Finished(reply.outcome, reply.error), would_repeat=reply.outcome == "error")
        return reply

    @contextlib.contextmanager
    def _worker(self) -> Iterator[KeptProcess]:
        worker = self._idle.get()
        try:
            yield worker
        finally:
            self._idle.put(worker)


@contextlib.contextmanager
def _space_in(folder: Path, variable: str) -> Iterator[None]:
    """Name a full disk, or an end to what files may have, as the reason for what failed.

    Who cannot write cannot leave last words either.
    """
    try:
        yield
    except CompilationError:
        largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if 0 <= largest < _LEAST_FREE_BYTES:
            raise CannotCompile(
                f"A schedule cannot be compiled: files may have {largest} bytes at most; allow more, such as by ulimit -f "
                "unlimited"
            ) from None
        if shutil.disk_usage(folder).free >= _LEAST_FREE_BYTES:
            raise
        raise CannotCompile(
            f"A schedule cannot be compiled: there is no space left in {folder}; make some, or name a folder on another "
            f"disk in {variable}"
        ) from None


def _link(object_path: Path, library: Path) -> None:
    # The linker itself takes a fifth of the time that it takes through a compiler driver.
    linkers = list(filter(shutil.which, ("ld", "c++", "g++", "clang++")))
    if not linkers:
        raise CannotCompile("A schedule cannot be compiled: no linker found; install binutils or a C++ compiler")
    for linker in linkers:
        finished = run_process([linker, "-shared", object_path, "-o", library], timeout_s=60.0)
        if finished.outcome == "ok":
            return
    raise CompilationError(finished)
