"""Exhaustive search: every complete schedule, for problems small enough."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import (
    InvalidParameter,
    SearchResult,
    Space,
    estimate_num_schedules,
    exhaustive_search,
)
from halidegym.native.checks import check_at_least, check_present


@dataclass(frozen=True)
class ExhaustiveSearch(NativeSearch):
    """Evaluate every complete schedule once, in the order of the decisions, and keep the best.

    If the plan is "finished" (`Plan.ended_by`), its cost is the optimum under the cost model, and its `evaluations` are the
    number of complete schedules. Most problems have far too many. So without any budget this refuses a problem whose
    number, estimated from random descents (Knuth 1975), is beyond `max_schedules`. With a budget it starts anyway, and looks
    at the first ones in the order of the decisions.

    Attributes:
        max_schedules: how many complete schedules are few enough to begin without a budget.
    """

    max_schedules: int = 10_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, **check_present(max_schedules=self.max_schedules))

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        if budget.is_unlimited:
            self._check_size(space)
        return exhaustive_search(space, **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Exhaustive search, {problem.name}", budget.evaluations, lambda _p, _d, done: done)

    def _check_size(self, space: AnySpace) -> None:
        name = space.problem.name if isinstance(space, Space) else "The space"
        estimate = estimate_num_schedules(space)
        if estimate > self.max_schedules:
            raise InvalidParameter(
                f"{name} has about {estimate:.0e} complete schedules, more than "
                f"max_schedules={self.max_schedules}; use a smaller problem, raise max_schedules, or give a budget such as "
                "seconds=60"
            )
