"""A pool of generated problems: each is prepared once, and kept in memory and in a file."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable

from halidegym.envs.generated_problems import GeneratedProblems
from halidegym.envs.problem_files import ProblemFiles
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.turn import Turn
from halidegym.native import _core


class ProblemPool:
    """The first of the generated problems, as `PreparedProblems`. Which these are depends on the pool's size alone.

    A problem is in memory, or is read from its file, or is made when it is drawn. A thread prepares those that nobody has
    drawn yet, until all are in memory or the pool is gone. Threads of the caller can share a pool.

    Args:
        source: of the problems.
        size: how many of them.
    """

    def __init__(self, source: GeneratedProblems, size: int) -> None:
        self._source = source
        self._size = size
        self._files = ProblemFiles(source)
        self._ready: dict[int, PreparedProblem] = {}
        self._refill: threading.Thread | None = None

    def __reduce__(self) -> tuple[Callable[[GeneratedProblems, int], ProblemPool], tuple[GeneratedProblems, int]]:
        return shared_pool, (self._source, self._size)  # a function, as cloudpickle takes class methods apart

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, number: int) -> PreparedProblem:
        ready = self._ready.get(number)
        if ready is None:
            ready = self._prepare(number)
            if self._refill is None or not self._refill.is_alive():
                self._refill = threading.Thread(target=_prepare_all, args=(weakref.ref(self),), name="problem pool")
                self._refill.start()
        return ready

    def num_ready(self) -> int:
        """How many problems are in memory."""
        return len(self._ready)

    def given_problems(self) -> tuple[SchedulingProblem, ...]:
        """None: they are made when they are needed."""
        return ()

    def least_shape(self) -> _core.ObservationShape:
        """The room for the largest of all generated ones, so that pools of all sizes have the same observations."""
        return self._source.least_shape()

    def _prepare(self, number: int) -> PreparedProblem:
        if number not in self._ready:
            prepared = self._files.read(number)
            if prepared is None:
                prepared = self._source.make(number)
                self._files.write(number, prepared)
            self._ready.setdefault(number, prepared)  # the one that is known already, if two threads were at it
        return self._ready[number]


_SHARED: weakref.WeakValueDictionary[tuple[str, int], ProblemPool] = weakref.WeakValueDictionary()


def shared_pool(source: GeneratedProblems, size: int) -> ProblemPool:
    """The pool that all environments of this process with the same problems share, while one of them is there."""
    pool = ProblemPool(source, size)
    return _SHARED.setdefault((pool._files.key, size), pool)


_PREPARING = Turn()
"""Preparing takes locks, Python's own among them."""


def _prepare_all(reference: weakref.ref[ProblemPool]) -> None:
    number = 0
    # Python waits for threads when it exits, and this one for nobody then.
    while threading.main_thread().is_alive() and (pool := reference()) is not None and number < len(pool):
        with _PREPARING, contextlib.suppress(_core.Error):  # to be raised to who draws the problem
            pool._prepare(number)
        del pool
        number += 1
