"""Calling a function many times in several processes, some of which may die of it, here or on a Ray cluster."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import ProcessFailed, PythonProcess
from halidegym.envs.processes.workers import RAY, Workers

T = TypeVar("T")

_LONGEST_S = 3600.0  # of a call


@dataclass(frozen=True)
class Failed:
    """A call whose process died.

    Attributes:
        reason: how.
    """

    reason: str


@contextlib.contextmanager
def connected(workers: Workers | None) -> Iterator[None]:
    """Keep the connection to a Ray cluster, if that is where the workers are, from one `in_processes` to the next.

    Raises:
        Error: there is no connection to the Ray cluster, or its nodes are not alike.
    """
    if workers == RAY:
        from halidegym.envs.processes.ray_cluster import RayCluster  # brings ray, which others need not have

        with RayCluster():
            yield
    else:
        yield


def in_processes(
    function: Callable[..., T], calls: Sequence[tuple[Any, ...]], workers: Workers
) -> Iterator[T | Failed]:
    """Yield what the calls return, in their order, which are made in so many processes at a time, or on a Ray cluster.

    A process serves many calls, because starting one takes longer than most of them. One that dies is replaced.

    Raises:
        ProcessFailed: a process ended by itself.
        Error: see `connected`.
        Exception: whatever a call raises.
    """
    return _on_ray(function, calls) if workers == RAY else _here(function, calls, workers)


def _on_ray(function: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> Iterator[T | Failed]:
    from halidegym.envs.processes.ray_cluster import RayCluster, WorkersLost

    with RayCluster() as cluster:
        for call in [cluster.submit(call_beside, function, arguments) for arguments in calls]:
            try:
                yield cluster.result(call)
            except WorkersLost as lost:
                yield Failed(str(lost))


def call_beside(function: Callable[..., T], arguments: tuple[Any, ...]) -> T | Failed:
    """Call a function in the process that a worker of a Ray cluster keeps for this."""
    return _beside().call(function, arguments)


@functools.cache
def _beside() -> _Lanes:
    return _Lanes()


def _here(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], workers: int) -> Iterator[T | Failed]:
    lanes = _Lanes()
    executor = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = [executor.submit(lanes.call, function, arguments) for arguments in calls]
        for future in futures:
            yield future.result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        lanes.end()
        executor.shutdown()
        lanes.close()


class _Lanes:
    """A process for each thread that calls."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all = list[PythonProcess]()
        self._lock = threading.Lock()
        self._is_ended = False

    def call(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T | Failed:
        try:
            return self._process().call(function, *arguments, timeout_s=_LONGEST_S)
        except ProcessEnded as ended:
            if ended.finished.outcome in ("ok", "error"):  # no fault of this call: it cannot start, or was closed
                raise ProcessFailed(f"A process that calls {function.__name__} {ended.finished.error}") from None
            return Failed(f"its process {ended.finished.ending}")

    def _process(self) -> PythonProcess:
        process: PythonProcess | None = getattr(self._own, "process", None)
        if process is None or not process.is_running:
            with self._lock:
                if self._is_ended:
                    raise RuntimeError("No process is started any more")
                process = PythonProcess()
                self._all.append(process)
            self._own.process = process
        return process

    def end(self) -> None:
        """End all processes; threads that wait for them go on, and none is started any more."""
        with self._lock:
            self._is_ended = True
            for process in self._all:
                process.kill()

    def close(self) -> None:
        """Let go of all processes, when no thread needs them any more."""
        for process in self._all:
            process.close()
