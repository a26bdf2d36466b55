"""Random search: complete schedules drawn at random, the best of them kept."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import RandomSearchOptions, SearchResult, random_search
from halidegym.native.checks import check_at_least, check_present


@dataclass(frozen=True)
class RandomSearch(NativeSearch):
    """Draw each decision uniformly among the legal ones until the schedule is complete; repeat; keep the best.

    One schedule is one cost evaluation; its decisions are counted as no expansions, because only the children drawn are
    built.

    Attributes:
        num_schedules: the budget of evaluations if `plan` is given none, and none of seconds.
    """

    num_schedules: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, **check_present(num_schedules=self.num_schedules))

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        budget = replace(budget, evaluations=self._max_evaluations(budget))
        return random_search(space, RandomSearchOptions(seed=seed), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        title, evaluations = f"Random search, {problem.name}", self._max_evaluations(budget)
        if evaluations is not None:
            return progress_bar(title, evaluations, lambda _pass, _depth, done: done)
        start = time.perf_counter()
        return progress_bar(title, budget.seconds, lambda *_: time.perf_counter() - start)

    def _max_evaluations(self, budget: Budget) -> int | None:
        return self.num_schedules if budget.is_unlimited_for_rollouts else budget.evaluations
