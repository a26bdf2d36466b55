"""Which machine measures, and the lock that lets it do one thing at a time."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import importlib.metadata
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from halidegym.envs.processes.files import cache_directory, cache_path
from halidegym.envs.processes.workers import Conditions, installation
from halidegym.native._core import InvalidParameter

LLVM_ARGUMENTS = "HL_LLVM_ARGS"
"""The variable by which users have Halide's compiler give arguments to LLVM."""

_logger = logging.getLogger(__name__)

_SILENCE_S = 1.0  # of waiting
_LONGEST_COMMAND = 80
_SANITIZERS = frozenset(("asan", "msan", "tsan", "sanitizer_coverage"))

_teller = threading.Lock()  # of the thread that tells


@dataclasses.dataclass(frozen=True)
class Machine:
    """What run times depend on besides the schedule: times may be compared where the machines are equal.

    Attributes:
        cpu: model name, with family, model and stepping.
        cores: that a process may use.
        cache_bytes: size of the last-level cache; 0 if unknown.
        memory_gib: installed memory.
        halide_version: of the compiler.
        llvm_arguments: that the compiler gives to LLVM: the variable HL_LLVM_ARGS, as it was when first asked for.
    """

    cpu: str
    cores: int
    cache_bytes: int
    memory_gib: int
    halide_version: str
    llvm_arguments: str = ""

    @property
    def compiler(self) -> str:
        """What decides which code a schedule becomes: Halide's release, and what is given to LLVM, if anything."""
        return f"{self.halide_version} {self.llvm_arguments}".rstrip()

    @property
    def words(self) -> str:
        """All but the cache, for people."""
        return f"{self.cpu}, {self.cores} cores, {self.memory_gib} GiB, Halide {self.compiler}"

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digest of all of it."""
        facts = self.cpu, self.cores, self.cache_bytes, self.memory_gib, self.compiler
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


@functools.cache
def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        cache_bytes=_last_level_cache(),
        memory_gib=round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        halide_version=importlib.metadata.version("halide"),
        llvm_arguments=os.environ.get(LLVM_ARGUMENTS, ""),
    )


def check_runs_here(target: str) -> None:
    """Refuse targets whose architecture or operating system this machine does not have, or that hide what inputs must be,
    or need the library of a sanitizer.

    Other features are not looked at.

    Raises:
        InvalidParameter: what is compiled for the target does not run here.
    """
    import halide as hl  # takes long, and whoever replays records does not need it

    here, wanted = ("-".join(name.split("-")[:3]) for name in (str(hl.get_host_target()), target))
    if wanted != here:
        raise InvalidParameter(
            f"Cannot measure for target {target} on this machine, which is {here}; search by the cost model alone, "
            "such as by BeamSearch or --agent beam, or give a target of this machine"
        )
    if "no_bounds_query" in target.split("-"):
        raise InvalidParameter(
            f"Cannot measure for target {target}: with no_bounds_query, a pipeline does not tell how large its inputs must "
            "be. Leave the feature out"
        )
    for feature in _SANITIZERS.intersection(target.split("-")):
        raise InvalidParameter(
            f"Cannot measure for target {target}: what is compiled with {feature} needs a library that belongs to the "
            "program. Leave the feature out"
        )


def installation_and_machine() -> Conditions:
    """What has to be equal wherever seconds are compared."""
    machine = {name: str(value) for name, value in dataclasses.asdict(this_machine()).items()}
    return {**installation(), **machine}


def _cpu() -> str:
    fields: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    numbers = [fields[name] for name in ("cpu family", "model", "stepping") if name in fields]
    return " ".join([fields.get("model name", os.uname().machine), *(["/".join(numbers)] if numbers else [])])


def _last_level_cache() -> int:
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(size[:-1]) * units[size[-1]] for size in sizes if size[-1:] in units), default=0)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Let others of this user compile on this machine while the context is open, but no one measure."""
    with _locked("gate", fcntl.LOCK_EX):
        main = contextlib.ExitStack()
        main.enter_context(_locked("timing", fcntl.LOCK_SH))
    with main:
        yield


@contextlib.contextmanager
def measuring() -> Iterator[None]:
    """Let no one else of this user compile or measure on this machine while the context is open.

    Holds across processes, and ends with the process; who waits for it says so. Who wants to measure keeps the gate shut,
    so that it gets its turn although others compile all the time.
    """
    with _locked("gate", fcntl.LOCK_EX), _locked("timing", fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def _locked(name: str, kind: int) -> Iterator[None]:
    lock = _opened(name)
    try:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            with _told_after(_SILENCE_S):
                fcntl.flock(lock, kind)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a fork may have it open, too
    finally:
        os.close(lock)


def _opened(name: str) -> int:
    path, flags = cache_path() / f"{name}.lock", os.O_RDWR | os.O_CREAT
    try:
        return os.open(path, flags, 0o666)
    except OSError:
        cache_directory()  # makes it, or says why it cannot be written
        return os.open(path, flags, 0o666)


@contextlib.contextmanager
def _told_after(seconds: float) -> Iterator[None]:
    """Tell whom this process waits for if it does so for longer; one of the threads that wait does."""
    telling = threading.Timer(seconds, _tell)
    telling.daemon = True
    is_first = _teller.acquire(blocking=False)
    if is_first:
        telling.start()
    try:
        yield
    finally:
        telling.cancel()
        if is_first:
            _teller.release()


def _tell() -> None:
    if holders := _others():
        _logger.warning("waiting for %s to end measuring or compiling on this machine", ", ".join(holders))


def _others() -> list[str]:
    """The other processes that measure or compile, as far as the kernel tells.

    Who waits for a thread of this one waits for whom that one waits for.
    """
    files = tuple(f":{file.stat().st_ino}" for file in cache_path().glob("*.lock"))
    try:
        locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        locks = []
    # Number, FLOCK, ADVISORY, READ or WRITE, process, device:inode, ...; or number, "->" and so on for who waits.
    holders = dict.fromkeys(lock[4] for lock in locks if lock[1] == "FLOCK" and lock[5].endswith(files))
    if not holders:
        return ["another process"]  # of another container
    return [_described(process) for process in holders if process != str(os.getpid())]


def _described(process: str) -> str:
    try:
        command = " ".join(Path("/proc", process, "cmdline").read_text().replace("\0", " ").split())
    except OSError:
        return "another process"
    return f"process {process} ({command[:_LONGEST_COMMAND]})"
