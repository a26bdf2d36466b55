"""What programs do that have functions called in forked processes: each is called in a Python of its own."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from halidegym.envs.processes.isolated import KeptProcess, PythonProcess, run_isolated
from isolated_functions import add
from processes_for_tests import children_of, descendants_of


def forks_of_two() -> list[int]:
    """The processes in which this one and a fork of it have a function called."""
    own = run_isolated(os.getppid)
    of_the_fork = _in_a_fork(lambda: run_isolated(os.getppid))
    return [own, of_the_fork, run_isolated(os.getppid)]


def kept_processes_of_two(forked: bool) -> list[int]:
    """The processes of one object, in this process, a fork that ends it, and this one again."""
    kept = KeptProcess(forked=forked)

    def call_and_close() -> int:
        pid = kept.call(os.getpid)
        kept.close()
        return pid

    own = kept.call(os.getpid, timeout_s=20.0)
    of_the_fork = _in_a_fork(call_and_close)
    own_again = kept.call(os.getpid, timeout_s=20.0)
    kept.close()
    return [own, of_the_fork, own_again]


def has_started_beside_a_fork(forked: bool) -> bool:
    """Whether a process has, while a fork of this one lives that was made as the pipes were there to start it."""
    pipe, pipes, opened, started = os.pipe, list[tuple[int, int]](), threading.Event(), threading.Event()

    def slow_pipe() -> tuple[int, int]:
        ends = pipe()
        pipes.append(ends)
        if len(pipes) == (1 if forked else 3):  # for its errors, the last one: a server needs no other
            opened.set()
            time.sleep(0.2)
        return ends

    def start() -> None:
        with PythonProcess(forked=forked):
            started.set()

    ours, its = pipe()
    os.pipe = slow_pipe
    thread = threading.Thread(target=start)
    thread.start()
    opened.wait()
    fork = os.fork()
    if fork == 0:
        os.close(its)
        os.read(ours, 1)
        os._exit(0)
    has_started = started.wait(20.0)
    os.close(its)
    os.waitpid(fork, 0)
    thread.join()
    return has_started


def servers_of_threads() -> set[int]:
    """Those that threads have which all begin at once."""
    with ThreadPoolExecutor(4) as executor:
        return set(executor.map(lambda _: run_isolated(os.getppid), range(4)))


def add_with_signals_blocked() -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    return run_isolated(add, 1, b=1)


def inherited_later() -> tuple[int, int]:
    """The mask of files and the limit of descriptors in a process, after this one has changed its own."""
    run_isolated(add, 1, b=1)
    os.umask(0o027)
    resource.setrlimit(resource.RLIMIT_NOFILE, (321, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return run_isolated(os.umask, 0), run_isolated(resource.getrlimit, resource.RLIMIT_NOFILE)[0]


def descriptors_left_behind() -> tuple[int, int]:
    """How often there was no room for a process, and how many descriptors were lost in all."""
    run_isolated(add, 1, b=1)
    before, refusals = _descriptors(), 0
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for room in range(8):
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + room, most))
        try:
            run_isolated(add, 1, b=1)
        except OSError:
            refusals += 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return refusals, _descriptors() - before


def why_nothing_is_imported(folder: Path) -> str:
    """What is said when the server of this process ends while it imports."""
    sys.path.insert(0, str(folder))
    try:
        run_isolated(add, 1, b=1)
    except OSError as error:
        return str(error)
    return ""


def time_to_finish_beside_a_fork(fork_s: float) -> float:
    """How long a short call takes during which this program is forked, for so many seconds at most."""
    with PythonProcess() as process, _fork_that_sleeps(fork_s):
        begun = time.monotonic()
        process.call(add, 1, b=1)
        process.finish(60.0)
        return time.monotonic() - begun


def remains_beside_a_fork() -> list[int]:
    """What the server has kept of a process that has been let go of, when a fork of this program has its link, too."""
    process = PythonProcess()
    server = process.call(os.getppid)
    with _fork_that_sleeps(60.0):
        process.close()
        deadline = time.monotonic() + 10
        while (remains := children_of(server)) and time.monotonic() < deadline:
            time.sleep(0.02)
    return remains


def wait_beside_a_fork() -> None:
    """Until somebody ends this program; its fork lives on for a while, with all that it has open."""
    run_isolated(add, 1, b=1)
    with _fork_that_sleeps(60.0):
        run_isolated(time.sleep, 1000)


def leave_a_thread_waiting() -> None:
    """For a program in a process, of whose descendants the numbers are printed."""
    threading.Thread(target=run_isolated, args=(os.system, "exec sleep 1000"), daemon=True).start()
    while len(descendants := descendants_of(os.getpid())) < 3:
        time.sleep(0.02)
    print(*descendants, flush=True)


def _in_a_fork(function: Callable[[], int]) -> int:
    reading, writing = os.pipe()
    fork = os.fork()
    if fork == 0:
        try:
            os.write(writing, str(function()).encode())
        finally:
            os._exit(0)
    os.waitpid(fork, 0)
    return int(os.read(reading, 100))


@contextlib.contextmanager
def _fork_that_sleeps(seconds: float) -> Iterator[None]:
    fork = os.fork()
    if fork == 0:
        time.sleep(seconds)
        os._exit(0)
    try:
        yield
    finally:
        os.kill(fork, signal.SIGKILL)
        os.waitpid(fork, 0)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
