"""Processes for what may crash, hang or eat memory: confined, given a time, and gone when this one is.

Every process is started by a small program (`native/runner/confine.cpp`) that puts it in a session of its own, limits its
memory, and has the kernel end it with its parent: with the thread that started it. Nothing here forks Python.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal

from halidegym.native import _core

RUNNER = Path(_core.__file__).parent / "halidegym_runner"
"""The program that confines processes and runs kernels."""

Ending = Literal["ok", "error", "crash", "timeout", "out_of_memory"]

_LAST_WORDS = 2000
_OUT_OF_MEMORY_STATUS = 4  # of the runner
_OUT_OF_MEMORY_WORDS = ("out of memory", "bad_alloc", "memoryerror", "cannot allocate memory")


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a process ended.

    Attributes:
        outcome: "ok", "error" (it says why), "crash" (a signal ended it), "timeout" (we did) or "out_of_memory".
        error: its last words, or what ended it; empty if it went well.
    """

    outcome: Ending
    error: str


def python_command(code: str) -> list[str]:
    """Return the command that runs `code` in a fresh Python, without the current folder on its module path."""
    return [sys.executable, "-c", f"import sys; sys.path[:] = filter(None, sys.path); {code}"]


class ProcessEnded(Exception):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """A process ended, or was ended, before it had answered.

    Attributes:
        finished: how.
    """

    def __init__(self, finished: Finished) -> None:
        super().__init__(finished.error)
        self.finished = finished


class ConfinedProcess:
    """A process that reads from a pipe and writes to one. Use as a context: leaving it ends the process.

    Args:
        command: program and arguments.
        memory_bytes: address space that it may have; None for no limit.
        cpus: cores to run on; empty for all.
        environment: variables besides the current ones.

    Raises:
        OSError: there is no such program.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        memory_bytes: int | None = None,
        cpus: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        limits = [str(os.getpid()), str(memory_bytes or 0), ",".join(map(str, cpus)) or ","]
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [RUNNER, "confine", *limits, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={**os.environ, **(environment or {})},
            bufsize=0,
        )
        self._received = b""

    def __enter__(self) -> ConfinedProcess:
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
        """Whether it has not ended yet."""
        return self._process.returncode is None and self._process.poll() is None

    def send(self, data: bytes, timeout_s: float) -> None:
        """Write to its standard input; an end of the process shows when it is read from."""
        assert self._process.stdin is not None
        descriptor, deadline = self._process.stdin.fileno(), time.monotonic() + timeout_s
        os.set_blocking(descriptor, False)
        view = memoryview(data)
        with contextlib.suppress(BrokenPipeError):
            while view:
                self._wait(descriptor, selectors.EVENT_WRITE, deadline, timeout_s)
                with contextlib.suppress(BlockingIOError):
                    view = view[os.write(descriptor, view) :]

    def receive(self, count: int, timeout_s: float) -> bytes:
        """Read so many bytes from its standard output.

        Raises:
            ProcessEnded: it ended, or the time is over; then it has been ended.
        """
        deadline = time.monotonic() + timeout_s
        while len(self._received) < count:
            self._receive_more(deadline, timeout_s)
        data, self._received = self._received[:count], self._received[count:]
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
        self._wait(descriptor, selectors.EVENT_READ, deadline, timeout_s)
        data = os.read(descriptor, 1 << 20)
        if not data:
            try:
                self._process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise ProcessEnded(self._end_late(timeout_s)) from None
            raise ProcessEnded(self._finished())
        self._received += data

    def _wait(self, descriptor: int, event: int, deadline: float, timeout_s: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise ProcessEnded(self._end_late(timeout_s))

    def _end_late(self, timeout_s: float) -> Finished:
        self.kill()
        return Finished("timeout", f"still running after {timeout_s:g} s")

    def kill(self) -> None:
        """End the process, whatever it is doing; reading from it then fails."""
        # It leads a session, so this reaches its children, too (a linker behind a compiler driver). Until it does, in its
        # first moments, there is no such group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def _finished(self) -> Finished:
        self._words.seek(0)
        words = self._words.read().decode(errors="replace")[-_LAST_WORDS:].strip()
        status = self._process.returncode
        if status == 0:
            return Finished("ok", words)
        is_out_of_memory = any(hint in words.lower() for hint in _OUT_OF_MEMORY_WORDS)
        if status == _OUT_OF_MEMORY_STATUS or (is_out_of_memory and status in (1, -signal.SIGABRT)):
            return Finished("out_of_memory", words)
        if status < 0:
            name = signal.Signals(-status).name
            return Finished("crash", f"ended by {name}" + (f": {words}" if words else ""))
        return Finished("error", words or f"exit status {status}")


def run_process(
    command: Sequence[str | os.PathLike[str]], *, timeout_s: float, memory_bytes: int | None = None
) -> Finished:
    """Run a program to its end, whatever that is."""
    with ConfinedProcess(command, memory_bytes=memory_bytes) as process:
        return process.finish(timeout_s)
