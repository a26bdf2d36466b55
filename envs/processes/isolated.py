"""Calling functions in a fresh Python process.

For whatever depends on the state of its process: Halide counts Func names per process, peak memory and CPU time are
known per process, and a crash must end no more than one run.
"""

from __future__ import annotations

import functools
import gc
import os
import pickle
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from halidegym.envs.processes.confined import ConfinedProcess, ProcessEnded
from halidegym.envs.processes.resources import LONGEST_S
from halidegym.native._core import Error

T = TypeVar("T")

_LENGTH = struct.Struct("<Q")  # of the message that follows

# Without the current folder on the module path. The garbage collector waits until all is imported, and leaves that alone: it
# would take a fifth of the time in which such a process begins and ends, and find nothing.
_CHILD = (
    "import gc, sys; gc.disable(); sys.path[:] = filter(None, sys.path); "
    "from halidegym.envs.processes.isolated import serve; serve()"
)


class ProcessFailed(Error):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """The process ended without a result: a crash, or too little memory. The message has its last words."""


class PythonProcess(ConfinedProcess):
    """A Python process that calls functions, one after another. What they print is among its `words`.

    Args:
        memory_bytes: address space that it may have; None for most of the memory of this machine.
        environment: variables besides the current ones; None for one to leave out.
    """

    def __init__(self, *, memory_bytes: int | None = None, environment: Mapping[str, str | None] | None = None) -> None:
        self.owes_an_answer = False
        """Whether a call was left, by Ctrl-C or an alarm, before its answer came: the next one would take it for its own."""
        path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        super().__init__(
            [sys.executable, "-c", _CHILD], memory_bytes=memory_bytes, environment=path | dict(environment or {})
        )

    def call(self, function: Callable[..., T], *args: Any, timeout_s: float = LONGEST_S, **kwargs: Any) -> T:
        """Return what a function returns there, or raise what it raises.

        Args:
            function: importable by its module and name.
            *args: its arguments, picklable as the result and the exceptions must be.
            timeout_s: seconds after which the process is ended.
            **kwargs: its keyword arguments.

        Raises:
            ProcessEnded: the process died, for want of memory, too, or the time was over.
        """
        request = pickle.dumps((function, args, kwargs))
        self.owes_an_answer = True
        self.send(_LENGTH.pack(len(request)) + request, timeout_s)
        (length,) = _LENGTH.unpack(self.receive(_LENGTH.size, timeout_s))
        answer = self.receive(length, timeout_s)
        self.owes_an_answer = False
        result, error = pickle.loads(answer)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]


class KeptProcess:
    """A Python process that is kept from call to call, and replaced if it has died. One thread at a time may call.

    A call whose process is killed by somebody else is made once more, in a new process: that says nothing of what was
    called, unless it happens again.

    Args:
        memory_bytes: see `PythonProcess`.
        environment: likewise.
        calls: after which the process is replaced, so that whatever leaks has an end; None for never.
    """

    def __init__(
        self,
        *,
        memory_bytes: int | None = None,
        environment: Mapping[str, str | None] | None = None,
        calls: int | None = None,
    ) -> None:
        self._start = functools.partial(PythonProcess, memory_bytes=memory_bytes, environment=environment)
        self._calls = calls
        self._process: PythonProcess | None = None
        self._made = 0
        self._is_interrupted = False

    def call(self, function: Callable[..., T], *args: Any, timeout_s: float = LONGEST_S) -> T:
        """See `PythonProcess.call`."""
        self._is_interrupted = False
        try:
            return self._attempt(function, *args, timeout_s=timeout_s)
        except ProcessEnded as ended:
            if self._is_interrupted or not ended.finished.was_killed:
                raise
        return self._attempt(function, *args, timeout_s=timeout_s)

    def interrupt(self) -> None:
        """Make a call fail that is under way in another thread."""
        self._is_interrupted = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process; the next call starts another one."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _attempt(self, function: Callable[..., T], *args: Any, timeout_s: float) -> T:
        if self._process is None or not self._process.is_running or self._made == self._calls:
            self.close()
            self._process, self._made = self._start(), 0
        self._made += 1
        try:
            return self._process.call(function, *args, timeout_s=timeout_s)
        finally:
            if self._process.owes_an_answer:
                self.close()


def run_isolated(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a function in a fresh process that ends with it; see `PythonProcess.call`.

    Raises:
        ProcessFailed: the process died.
    """
    with PythonProcess() as process:
        try:
            result = process.call(function, *args, **kwargs)
        except ProcessEnded as ended:
            finished = ended.finished
            raise ProcessFailed(
                f"The process of {function.__name__} {finished.ending}. Its last words: {finished.last_words or '(none)'}"
            ) from None
        process.finish(LONGEST_S)
        return result


def serve() -> None:
    """Call the functions that come over standard input, until it ends."""
    # Neither do the functions read the requests, nor does what they print come between the replies.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    while header := requests.read(_LENGTH.size):
        function, args, kwargs = pickle.loads(requests.read(*_LENGTH.unpack(header)))
        if not gc.isenabled():  # but now the function's module is imported
            gc.freeze()
            gc.enable()
        reply = pickle.dumps(_outcome(function, args, kwargs))
        replies.write(_LENGTH.pack(len(reply)) + reply)
        replies.flush()


def _outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Exception | None]:
    """The result of a call or what it raised. Who has no memory left ends the process, which says so."""
    try:
        return function(*args, **kwargs), None
    except MemoryError:
        raise
    except Exception as raised:
        return None, raised
