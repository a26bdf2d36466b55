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
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from halidegym.envs.processes.confined import ChildProcess, Finished, ProcessEnded, confined, with_variables
from halidegym.envs.processes.forked import ForkedProcess, fork_process
from halidegym.envs.processes.python import python_command, python_path
from halidegym.envs.processes.resources import LONGEST_S, memory_limit
from halidegym.native._core import Error

T = TypeVar("T")

_LENGTH = struct.Struct("<Q")  # of the message that follows
_NO_MORE = _LENGTH.pack(0)

_CHILD = "from halidegym.envs.processes.isolated import serve; serve()"


class ProcessFailed(Error):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """The process ended without a result: a crash, or too little memory. The message has its last words."""


class PythonProcess(ChildProcess):
    """A Python process that calls functions, one after another. What they print is among its `words`.

    Args:
        memory_bytes: address space that it may have; None for most of the memory of this machine.
        environment: variables besides the current ones; None for one to leave out.
        forked: from a process that has imported this package. If not, Python is started, which takes twenty times as long:
            for variables that libraries read when they are loaded, and for what is timed, as forks lie in memory alike.

    Raises:
        InvalidParameter: `memory_bytes` is no size.
    """

    def __init__(
        self,
        *,
        memory_bytes: int | None = None,
        environment: Mapping[str, str | None] | None = None,
        forked: bool = True,
    ) -> None:
        self.owes_an_answer = False
        """Whether a call was left, by Ctrl-C or an alarm, before its answer came: the next one would take it for its own."""
        environment = environment or {}
        if forked:
            limit, changed = memory_limit(memory_bytes), with_variables(environment)
            super().__init__(functools.partial(fork_process, memory_bytes=limit, environment=changed))
        else:
            variables = {**python_path(), **environment}
            super().__init__(confined(python_command(_CHILD), memory_bytes=memory_bytes, environment=variables))

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
        if isinstance(self._process, ForkedProcess):
            self._process.server.import_before_forks(getattr(function, "__module__", None))
        self.owes_an_answer = True
        self.send(_LENGTH.pack(len(request)) + request, timeout_s)
        (length,) = _LENGTH.unpack(self.receive(_LENGTH.size, timeout_s))
        answer = self.receive(length, timeout_s)
        self.owes_an_answer = False
        result, error = pickle.loads(answer)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def finish(self, timeout_s: float) -> Finished:
        """Wait until it ends by itself; it is told to, since a fork of this process may keep its input open."""
        self.send(_NO_MORE, timeout_s)
        return super().finish(timeout_s)


class KeptProcess:
    """A Python process that is kept from call to call, and replaced if it has died. One thread at a time may call.

    A call whose process is killed by somebody else is made once more, in a new process: that says nothing of what was
    called, unless it happens again.

    Args:
        memory_bytes: see `PythonProcess`.
        environment: likewise.
        forked: likewise.
        calls: after which the process is replaced, so that whatever leaks has an end; None for never.
    """

    def __init__(
        self,
        *,
        memory_bytes: int | None = None,
        environment: Mapping[str, str | None] | None = None,
        forked: bool = True,
        calls: int | None = None,
    ) -> None:
        self._start = functools.partial(
            PythonProcess, memory_bytes=memory_bytes, environment=environment, forked=forked
        )
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
    return _run(PythonProcess(), function, *args, **kwargs)


def run_anew(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do the same in a Python that is started for it: for what is timed; see `PythonProcess`.

    Raises:
        ProcessFailed: the process died.
    """
    return _run(PythonProcess(forked=False), function, *args, **kwargs)


def _run(process: PythonProcess, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    with process:
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
    while (header := requests.read(_LENGTH.size)) not in (b"", _NO_MORE):
        function, args, kwargs = pickle.loads(requests.read(*_LENGTH.unpack(header)))
        if not gc.isenabled():  # but now all is imported, and need not be looked at again
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
