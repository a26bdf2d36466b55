"""Python processes that are forked from one which has imported this package, in a fraction of the time that imports take."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import pickle
import select
import signal
import socket
import subprocess
import tempfile
import threading
import weakref
from typing import IO

from halidegym.envs.processes.fork_server import ASKED, NUMBER, Request
from halidegym.envs.processes.python import module_path, python_command, python_path
from halidegym.native.checks import INT32_MAX

_SERVER = "from halidegym.envs.processes import fork_server, isolated; fork_server.serve_forks(); isolated.serve()"
_PACKAGE = __name__.partition(".")[0] + "."


class ForkedProcess:
    """A process that a server has forked, with what confined processes need of `subprocess.Popen`.

    Its number is nobody else's before somebody has waited for its end.

    Attributes:
        pid: its number.
        stdin: what is written there, it reads.
        stdout: what it writes.
        returncode: the status that it ended with, as `subprocess` tells it; None before somebody knows.
        server: the one that forked it, which ends when nobody has it any more.
    """

    def __init__(self, pid: int, link: socket.socket, stdin: IO[bytes], stdout: IO[bytes], server: ForkServer) -> None:
        self.pid, self.server = pid, server
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout
        self.returncode: int | None = None
        self._link, self._lock = link, threading.Lock()

    def poll(self) -> int | None:
        """The status that it ended with; None if it has not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its status.

        Raises:
            subprocess.TimeoutExpired: it has not ended in so many seconds.
        """
        with self._lock:
            if self.returncode is None:
                if not _answers(self._link, timeout):
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
                status = _number(self._link)
                self.returncode = -signal.SIGKILL if status is None else status  # it ends with its server
                self._link.close()
            return self.returncode

    def kill(self) -> None:
        """End it."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """A process that forks others. It ends with the one that started it, or when nobody has it any more."""

    def __init__(self) -> None:
        self._modules = set[str]()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                python_command(_SERVER),
                stdin=theirs.fileno(),
                stdout=self._words,
                stderr=self._words,
                env=os.environ | python_path(),
                start_new_session=True,
            )
        weakref.finalize(self, _end, os.getpid(), process, self._control, self._words)

    def import_before_forks(self, module: str) -> None:
        """Have a module of this package imported once, and not in every process that is forked from now on."""
        if module.startswith(_PACKAGE):
            self._modules.add(module)

    def fork(self, words: IO[bytes], memory_bytes: int, environment: dict[str, str]) -> ForkedProcess:
        """Return a new process, which serves calls (`isolated.serve`).

        Args:
            words: the file that it writes its errors to.
            memory_bytes: address space that it may have.
            environment: its variables. Libraries that this package imports have read theirs when the server began.

        Raises:
            OSError: the server has ended, or the system has no room for another process.
        """
        request = Request(memory_bytes, frozenset(self._modules), environment, module_path(), os.sched_getaffinity(0))
        with contextlib.ExitStack() as given, contextlib.ExitStack() as kept:
            (our_link, link), (stdin, our_stdin), (our_stdout, stdout) = socket.socketpair(), os.pipe(), os.pipe()
            input_stream, output_stream = os.fdopen(our_stdin, "wb", 0), os.fdopen(our_stdout, "rb", 0)
            folder = os.open(".", os.O_PATH)
            given.enter_context(link)
            for descriptor in (stdin, stdout, folder):
                given.callback(os.close, descriptor)
            for stream in (our_link, input_stream, output_stream):
                kept.callback(stream.close)
            socket.send_fds(self._control, [ASKED], [link.fileno(), stdin, stdout, words.fileno(), folder])
            given.close()
            our_link.sendall(pickle.dumps(request))
            pid = _number(our_link)
            if pid is None:
                raise BrokenPipeError(errno.EPIPE, f"the server of Python processes has ended: {self._last_words()}")
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid), "a Python process")
            kept.pop_all()
        return ForkedProcess(pid, our_link, input_stream, output_stream, self)

    def _last_words(self) -> str:
        return os.pread(self._words.fileno(), 2000, 0).decode(errors="replace").strip() or "(no last words)"


def fork_process(words: IO[bytes], memory_bytes: int, environment: dict[str, str]) -> ForkedProcess:
    """Return a new process of the server of this one; see `ForkServer.fork`."""
    try:
        return _server(os.getpid()).fork(words, memory_bytes, environment)
    except (BrokenPipeError, ConnectionResetError):  # somebody has ended it
        _server.cache_clear()
        return _server(os.getpid()).fork(words, memory_bytes, environment)


@functools.lru_cache(maxsize=1)
def _server(_process: int) -> ForkServer:
    """The server of a process: a fork of that, which user programs may make, has one of its own."""
    return ForkServer()


def _end(owner: int, process: subprocess.Popen[bytes], control: socket.socket, words: IO[bytes]) -> None:
    control.close()
    words.close()
    if os.getpid() == owner:
        process.kill()
        process.wait()
    else:  # a fork of its owner: it is not ours to wait for
        process.returncode = 0


def _answers(link: socket.socket, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(link, select.POLLIN)
    return bool(poll.poll(None if timeout is None else min(1e3 * max(0.0, timeout), INT32_MAX)))


def _number(link: socket.socket) -> int | None:
    """What the server sends; None if it has ended."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        data = link.recv(NUMBER.size, socket.MSG_WAITALL)
    return int(NUMBER.unpack(data)[0]) if len(data) == NUMBER.size else None
