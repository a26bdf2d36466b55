"""Python processes that are forked from one which has imported this package, in a fraction of the time that imports take."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import pickle
import resource
import select
import signal
import socket
import subprocess
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO

from halidegym.envs.processes.fork_server import ASKED, NUMBER, Request
from halidegym.envs.processes.program import start_program
from halidegym.envs.processes.python import module_path, python_command, python_path
from halidegym.envs.processes.resources import is_ready

_SERVER = "from halidegym.envs.processes import fork_server, isolated; fork_server.serve_forks(); isolated.serve()"
_PACKAGE = __name__.partition(".")[0] + "."
_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_LONGEST_WORDS = 2000
# Seconds after which a server is taken for stopped, and no longer waited for: to fork, which it may import something for,
# and to tell of the end of a fork.
_LONGEST_SILENCE_S = 120.0
_LONGEST_AFTER_KILL_S = 5.0


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
        self._owner, self._link, self._lock = os.getpid(), link, threading.Lock()
        self._is_killed = False

    def poll(self) -> int | None:
        """The status that it ended with; None if it has not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its status, in a fork of who asked for it, 0 at once, as `subprocess` does.

        Raises:
            subprocess.TimeoutExpired: it has not ended in so many seconds.
        """
        if self.returncode is None and os.getpid() != self._owner:  # where a thread that is gone may have the lock
            self.returncode = 0
            self._link.close()
            return 0
        with self._lock:
            if self.returncode is None:
                gives_up, status = timeout is None and self._is_killed, None
                if is_ready(self._link.fileno(), select.POLLIN, _LONGEST_AFTER_KILL_S if gives_up else timeout):
                    status = _number(self._link, socket.MSG_PEEK)  # which is there still after Ctrl-C
                elif not gives_up:
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
                self.returncode = -signal.SIGKILL if status is None else status  # it ends with its server
                # The server sees that, though a fork of this process may have the link, too.
                self._link.shutdown(socket.SHUT_RDWR)
                self._link.close()
            return self.returncode

    def kill(self) -> None:
        """End it. From then on, `wait` does not wait for long: a server that is stopped tells nobody."""
        self._is_killed = True
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """A process that forks others. It ends with the one that started it, or when nobody has it any more.

    Attributes:
        inherited: what it has from that one, and its forks from it.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self) -> None:
        self.inherited = _inherited()
        self._modules = set[str]()
        with contextlib.ExitStack() as kept:
            self._words = kept.enter_context(tempfile.TemporaryFile())
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            kept.enter_context(self._control)
            with theirs:
                self._process = start_program(
                    python_command(_SERVER),
                    stdin=theirs.fileno(),
                    stdout=self._words,
                    stderr=self._words,
                    env=os.environ | python_path(),
                    start_new_session=True,
                )
            self._end = weakref.finalize(self, _end, self._process, self._control, self._words)
            kept.pop_all()
        self._end.atexit = False

    def import_before_forks(self, module: str | None) -> None:
        """Have a module of this package imported once, and not in every process that is forked from now on."""
        if module is not None and module.startswith(_PACKAGE):
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
            our_link, link = socket.socketpair()
            kept.enter_context(our_link)
            given.enter_context(link)
            stdin, our_stdin = os.pipe()
            given.callback(os.close, stdin)
            input_stream = kept.enter_context(os.fdopen(our_stdin, "wb", 0))
            our_stdout, stdout = os.pipe()
            given.callback(os.close, stdout)
            output_stream = kept.enter_context(os.fdopen(our_stdout, "rb", 0))
            folder = os.open(".", os.O_PATH)
            given.callback(os.close, folder)
            pid = None
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                socket.send_fds(self._control, [ASKED], [link.fileno(), stdin, stdout, words.fileno(), folder])
                given.close()
                our_link.sendall(pickle.dumps(request))
                if is_ready(our_link.fileno(), select.POLLIN, _LONGEST_SILENCE_S):
                    pid = _number(our_link)
            if pid is None:
                raise BrokenPipeError(
                    errno.EPIPE, f"the server of Python processes has ended, or is stopped: {self._last_words()}"
                )
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid), "a Python process")
            kept.pop_all()
        return ForkedProcess(pid, our_link, input_stream, output_stream, self)

    def leave(self, closed: bool) -> None:
        """Do not end it with this object any more.

        Args:
            closed: whether this process, a fork of its owner, goes on without it. Its owner has it until they end together.
        """
        if self._end.detach() is not None:
            self._process.returncode = 0  # nobody waits for it
            self._words.close()
            if closed:
                self._control.close()
            else:
                self._control.detach()

    def _last_words(self) -> str:
        size = os.fstat(self._words.fileno()).st_size
        words = os.pread(self._words.fileno(), _LONGEST_WORDS, max(0, size - _LONGEST_WORDS))
        return words.decode(errors="replace").strip() or "(no last words)"


class _Servers:
    """The server of this process. A fork of it, which user programs may make, has one of its own."""

    def __init__(self) -> None:
        self._all = weakref.WeakSet[ForkServer]()
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self._leave_all, closed=False)  # daemon threads wait for some until the last moment

    def _begin(self) -> None:
        self._leave_all(closed=True)  # they would not see that their owner ends, as long as a fork of it could ask
        self._lock = threading.RLock()  # in a fork, who has had the other one may be gone
        self._newest: ForkServer | None = None

    def _leave_all(self, closed: bool) -> None:
        for server in list(self._all):
            server.leave(closed)

    def get(self, instead_of: ForkServer | None = None) -> ForkServer:
        """Return the server, one for all threads.

        Args:
            instead_of: the one that has ended.
        """
        with self._lock:
            if self._newest is None or self._newest is instead_of or self._newest.inherited != _inherited():
                server = ForkServer()
                self._all.add(server)
                self._newest = server
            return self._newest


_servers = _Servers()


def fork_process(words: IO[bytes], memory_bytes: int, environment: dict[str, str]) -> ForkedProcess:
    """Return a new process of the server of this one; see `ForkServer.fork`."""
    server = _servers.get()
    try:
        return server.fork(words, memory_bytes, environment)
    except BrokenPipeError:  # somebody has ended it
        return _servers.get(instead_of=server).fork(words, memory_bytes, environment)


def _inherited() -> tuple[object, ...]:
    """What a process has from the one that started it, as far as a program may change its own."""
    umask = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask")]
    limits = tuple(resource.getrlimit(limit) for limit in _LIMITS)
    return os.getresuid(), os.getresgid(), os.getgroups(), umask, limits


def _end(process: subprocess.Popen[bytes], control: socket.socket, words: IO[bytes]) -> None:
    control.close()
    words.close()
    process.kill()  # nobody has any fork of it
    process.wait()


def _number(link: socket.socket, flags: int = 0) -> int | None:
    """What the server sends; None if it has ended."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        data = link.recv(NUMBER.size, socket.MSG_WAITALL | flags)
    return int(NUMBER.unpack(data)[0]) if len(data) == NUMBER.size else None
