"""How often a search allocates memory: exact counts, from a process in which a library counts all calls of operator new."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.processes.isolated import PythonProcess
from halidegym.evaluation.studies.search_speed import BEAM
from halidegym.native import _core
from halidegym.native._core import beam_search, random_rollouts

_COUNTER = Path(_core.__file__).parent / "halidegym_allocations.so"
_ROLLOUTS = 200


@dataclass(frozen=True)
class Allocations:
    """Calls of operator new.

    Attributes:
        per_evaluation: of a beam search.
        per_rollout: of random schedules with their costs.
    """

    per_evaluation: float
    per_rollout: float


def count_allocations(problem: SchedulingProblem) -> Allocations:
    """Count the allocations of a search and of rollouts, when what is shared and kept is there already."""
    with PythonProcess(environment={"LD_PRELOAD": str(_COUNTER)}, forked=False) as process:
        return process.call(_count, problem)


def _count(problem: SchedulingProblem) -> Allocations:
    space = Rules().space(problem)
    return Allocations(
        per_evaluation=_per_unit(lambda: beam_search(space, BEAM).distinct_evaluations),
        per_rollout=_per_unit(lambda: random_rollouts(space, _ROLLOUTS)),
    )


def _per_unit(work: Callable[[], int]) -> float:
    counter = ctypes.CDLL(str(_COUNTER)).halidegym_allocations
    counter.restype = ctypes.c_uint64
    work()
    before = counter()
    units = work()
    return int(counter() - before) / units
