"""Processes for what may crash, hang or eat memory: confined, given a time, and gone when this one is.

Programs are started by a small one (`native/runner/confine.cpp`) that puts them in sessions of their own, limits their
memory, and has the kernel end them with their parent: with the thread that started them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, TypeAlias, TypeVar

from halidegym.envs.processes.forked import ForkedProcess
from halidegym.envs.processes.program import start_program
from halidegym.envs.processes.resources import is_ready, memory_limit
from halidegym.native import _core

RUNNER = Path(_core.__file__).parent / "halidegym_runner"
"""The program that confines processes and runs kernels."""

Process = TypeVar("Process", bound="ChildProcess")

Child: TypeAlias = subprocess.Popen[bytes] | ForkedProcess

Ending = Literal["ok", "error", "crash", "timeout", "out_of_memory"]

_KILLED = f"died of {signal.SIGKILL.name}"
_LAST_LINES = 12
_LONGEST_WORDS = 2000
_OUT_OF_MEMORY_STATUS = 4  # of the runner
_OUT_OF_MEMORY_WORDS = ("out of memory", "bad_alloc", "memoryerror", "cannot allocate memory")


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a process ended.

    Attributes:
        outcome: "ok", "error" (it says why), "crash" (a signal ended it), "timeout" (we did) or "out_of_memory".
        ending: the same in words, such as "died of SIGSEGV"; empty if it went well.
        last_words: the last lines of its error stream.
    """

    outcome: Ending
    ending: str
    last_words: str = ""

    @property
    def error(self) -> str:
        """What to say of it: its last words, and what ended it if they cannot know."""
        if self.outcome in ("crash", "timeout"):
            return self.ending + (f": {self.last_words}" if self.last_words else "")
        return self.last_words or self.ending

    @property
    def was_killed(self) -> bool:
        """Whether it was ended by somebody else, such as a system that is short of memory."""
        return self.outcome == "crash" and self.ending == _KILLED


class ProcessEnded(Exception):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """A process ended, or was ended, before it had answered.

    Attributes:
        finished: how.
    """

    def __init__(self, finished: Finished) -> None:
        super().__init__(finished.error)
        self.finished = finished


class ChildProcess:
    """A process that reads from a pipe and writes to one. Use as a context: leaving it ends the process.

    Args:
        start: starts it, in a session of its own; takes the file that it writes its errors to.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, start: Callable[[IO[bytes]], Child]) -> None:
        self._owner = os.getpid()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = start(self._words)
        except BaseException:
            self._words.close()
            raise
        # A `Popen` that nobody has any more would be kept, and its pipes open, until the process ends by itself.
        weakref.finalize(self, _end, self._process, self._owner).atexit = False
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._received = bytearray()

    def __enter__(self: Process) -> Process:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet. To a fork of who started it, which cannot share it, it has."""
        return self._process.returncode is None and self._process.poll() is None

    @property
    def words(self) -> str:
        """All that it has written to its error stream."""
        return os.pread(self._words.fileno(), os.fstat(self._words.fileno()).st_size, 0).decode(errors="replace")

    def send(self, data: bytes, timeout_s: float) -> None:
        """Write to its standard input; an end of the process shows when it is read from."""
        assert self._process.stdin is not None
        descriptor, deadline = self._process.stdin.fileno(), time.monotonic() + timeout_s
        view = memoryview(data)
        with contextlib.suppress(BrokenPipeError):
            while view:
                try:
                    view = view[os.write(descriptor, view) :]
                except BlockingIOError:
                    self._wait(descriptor, select.POLLOUT, deadline, timeout_s)

    def receive(self, count: int, timeout_s: float) -> bytes:
        """Read so many bytes from its standard output.

        Raises:
            ProcessEnded: it ended, or the time is over; then it has been ended.
        """
        deadline = time.monotonic() + timeout_s
        while len(self._received) < count:
            self._receive_more(deadline, timeout_s)
        data = bytes(self._received[:count])
        del self._received[:count]
        return data

    def receive_line(self, timeout_s: float) -> str:
        """Read a line from its standard output; without its end.

        Raises:
            ProcessEnded: it ended, or the time is over; then it has been ended.
        """
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._received:
            self._receive_more(deadline, timeout_s)
        line, _, self._received = self._received.partition(b"\n")
        return line.decode(errors="replace")

    def finish(self, timeout_s: float) -> Finished:
        """Close its input and wait until it ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return self._end_late(timeout_s)
        return self._finished()

    def close(self) -> None:
        """End the process and let go of it."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            assert stream is not None
            stream.close()

    def _receive_more(self, deadline: float, timeout_s: float) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        self._wait(descriptor, select.POLLIN, deadline, timeout_s)
        data = os.read(descriptor, 1 << 20)
        if not data:
            try:
                self._process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise ProcessEnded(self._end_late(timeout_s)) from None
            finished = self._finished()
            if finished.outcome == "ok":  # but its answer is missing
                finished = Finished("error", "ended before its time", finished.last_words)
            raise ProcessEnded(finished)
        self._received += data

    def _wait(self, descriptor: int, event: int, deadline: float, timeout_s: float) -> None:
        if not is_ready(descriptor, event, deadline - time.monotonic()):
            raise ProcessEnded(self._end_late(timeout_s))

    def _end_late(self, timeout_s: float) -> Finished:
        self.kill()
        return Finished("timeout", f"was still running after {timeout_s:g} s", _last_lines(self.words))

    def kill(self) -> None:
        """End the process, whatever it is doing; reading from it then fails."""
        _end(self._process, self._owner)

    def _finished(self) -> Finished:
        words, status = _last_lines(self.words), self._process.wait()
        if status == 0:
            return Finished("ok", "", words)
        is_out_of_memory = any(hint in words.lower() for hint in _OUT_OF_MEMORY_WORDS)
        if status == _OUT_OF_MEMORY_STATUS or (is_out_of_memory and status in (1, -signal.SIGABRT)):
            return Finished("out_of_memory", "ran out of memory", words)
        if status < 0:
            return Finished("crash", f"died of {signal.Signals(-status).name}", words)
        return Finished("error", f"exited with status {status}", words)


def _end(process: Child, owner: int) -> None:
    """End a process that another one, its owner, has started."""
    if process.returncode is not None:
        return  # and its number may be somebody else's by now
    # It leads a session, so this reaches its children, too (a linker behind a compiler driver). Until it does, in its
    # first moments, there is no such group.
    if os.getpid() == owner:  # or who started it, of whom this is a fork, may need it still
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


class ConfinedProcess(ChildProcess):
    """A program that is confined.

    Args:
        command: program and arguments.
        memory_bytes: address space that it may have; None for most of the memory of this machine.
        cpus: cores to run on; empty for all.
        environment: variables besides the current ones; None for one to leave out.

    Raises:
        InvalidParameter: `memory_bytes` is no size.
        OSError: there is no such program.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        memory_bytes: int | None = None,
        cpus: Sequence[int] = (),
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        super().__init__(confined(command, memory_bytes=memory_bytes, cpus=cpus, environment=environment))


def confined(
    command: Sequence[str | os.PathLike[str]],
    *,
    memory_bytes: int | None = None,
    cpus: Sequence[int] = (),
    environment: Mapping[str, str | None] | None = None,
) -> Callable[[IO[bytes]], Child]:
    """How to start a program that is confined; see `ConfinedProcess`."""
    limits = [str(os.getpid()), str(memory_limit(memory_bytes)), ",".join(map(str, cpus)) or ","]

    def start(words: IO[bytes]) -> Child:
        return start_program(
            [RUNNER, "confine", *limits, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            env=with_variables(environment or {}),
            bufsize=0,
        )

    return start


def with_variables(changed: Mapping[str, str | None]) -> dict[str, str]:
    """The variables of this process, and some that are changed; None for one to leave out."""
    return {name: value for name, value in {**os.environ, **changed}.items() if value is not None}


def _last_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-_LAST_LINES:])[-_LONGEST_WORDS:]


def run_process(command: Sequence[str | os.PathLike[str]], *, timeout_s: float) -> Finished:
    """Run a program to its end, whatever that is."""
    with ConfinedProcess(command) as process:
        return process.finish(timeout_s)
