"""A Python process that has imported this package, and forks others: the side of the server, which `forked` asks.

No function is ever called in it. Its forks are confined as `native/runner/confine.cpp` confines programs, and end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import importlib
import os
import pickle
import resource
import selectors
import signal
import socket
import struct
import sys
import warnings
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

NUMBER = struct.Struct("<q")
"""What the server sends: the number of a process, or minus an error's; later the status that the process ended with."""

ASKED = b"?"
"""What it is sent, with descriptors: of a link, on which the request follows, of three standard streams, of a folder."""

_DESCRIPTORS = 5
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Request:
    """What a fork is to have, as a program would that was started in its place.

    Attributes:
        memory_bytes: address space, at most.
        modules: to be imported before it is forked, where they can be.
        environment: variables.
        module_path: where modules are looked for.
        cpus: to run on.
    """

    memory_bytes: int
    modules: frozenset[str]
    environment: dict[str, str]
    module_path: list[str]
    cpus: set[int]


def serve_forks() -> None:
    """Fork processes as they are asked for over the socket at standard input. Return in each of them, and nowhere else."""
    _Server(socket.socket(fileno=os.dup(0))).run()


class _Server:
    """The loop, and what it knows: by process, the link to who has asked for it."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._links: dict[int, socket.socket] = {}
        self._told = set[int]()
        self._imported = set[str]()
        self._ended, self._wake = os.pipe()  # to be read when a fork may have ended
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Return in a fork."""
        for end in (self._ended, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the thread that started the server may have blocked them all
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._ended, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    asked, given, _, _ = socket.recv_fds(self._control, len(ASKED), _DESCRIPTORS)
                    if not asked:  # nobody can ask any more
                        self._end()
                    if self._is_fork(socket.socket(fileno=given[0]), given[1:]):
                        return
                elif key.fileobj == self._ended:
                    self._tell_ends()
                else:  # who has asked for it has let go of it
                    self._end_fork(key.data)

    def _is_fork(self, link: socket.socket, given: list[int]) -> bool:
        """Fork as is asked on a link; return whether this is the fork."""
        process = None
        try:
            with link.makefile("rb") as file:
                request: Request = pickle.load(file)
            self._import(request.modules)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the threads there are, of BLAS, are ended before a fork
                process = os.fork()
        except (EOFError, pickle.UnpicklingError):  # who has asked has thought better of it
            link.close()
        except OSError as error:
            _send(link, -(error.errno or errno.EAGAIN))
            link.close()
        if process == 0:
            self._leave_to(link)
            _become(request, given)
        elif process is not None:
            self._links[process] = link
            self._selector.register(link, selectors.EVENT_READ, process)
            _send(link, process)
        for descriptor in given:
            os.close(descriptor)
        return process == 0

    def _import(self, modules: frozenset[str]) -> None:
        for module in sorted(modules - self._imported):
            with contextlib.suppress(Exception):  # whoever needs it is told
                importlib.import_module(module)
        self._imported |= modules
        gc.freeze()  # what is imported stays on pages that all forks share

    def _tell_ends(self) -> None:
        """Tell who has asked for them of forks that have ended, but leave them their numbers."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._ended, 1 << 10)
        for process in self._links.keys() - self._told:
            ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                self._told.add(process)
                _send(self._links[process], ended.si_status * (1 if ended.si_code == os.CLD_EXITED else -1))

    def _end_fork(self, process: int) -> None:
        for end in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                end(process, signal.SIGKILL)
        os.waitpid(process, 0)
        self._told.discard(process)
        link = self._links.pop(process)
        self._selector.unregister(link)
        link.close()

    def _end(self) -> NoReturn:
        for process in list(self._links):
            self._end_fork(process)
        os._exit(0)

    def _leave_to(self, link: socket.socket) -> None:
        """Leave all that is the server's, and the link of this fork, to the server."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for other in (self._control, link, *self._links.values()):
            other.close()
        for end in (self._ended, self._wake):
            os.close(end)


def _send(link: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # who has asked has gone, and the link says so
        link.sendall(NUMBER.pack(number))


def _become(request: Request, given: list[int]) -> None:
    """Make this fork what was asked for."""
    server = os.getppid()
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # it ended before we could ask to be told
        os._exit(1)
    *streams, folder = given
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
    os.fchdir(folder)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, request.memory_bytes)
    os.sched_setaffinity(0, request.cpus)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.path[:] = request.module_path
    np.random.seed()  # noqa: NPY002 - or agents of users who draw from it would all draw the same


def _limit(what: int, value: int) -> None:
    """Set a limit. One that is stricter already stays."""
    _, most = resource.getrlimit(what)
    bound = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(what, (bound, bound))
