"""Soft sampling: schedules drawn step by step in favour of cheap children, the best of them kept."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import (
    GuidanceOptions,
    GuidedSpace,
    InvalidParameter,
    RolloutSearchOptions,
    SearchResult,
    Space,
    rollout_search,
)
from halidegym.native.checks import check_at_least


@dataclass(frozen=True)
class SoftSampling(NativeSearch):
    """Draw schedules step by step, a child of cost c in proportion to ``c ** (-1 / temperature)``, and keep the best.

    This is what sampling by the cost model alone can do, and so what a policy that is sampled has to beat. All children of
    a state are evaluated when it is met first.

    Attributes:
        temperature: 0 for greedy search; the larger, the more random.
        samples: how many different schedules are drawn; None for as many as the budget given to `plan` allows.
    """

    temperature: float = 0.2
    samples: int | None = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, samples=self.samples)
        GuidanceOptions(temperature=self.temperature)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        if not isinstance(space, Space):
            raise InvalidParameter(
                "SoftSampling schedules pipelines only; for another search space take RandomSearch()"
            )
        guided = GuidedSpace(space, None, GuidanceOptions(temperature=self.temperature))
        options = RolloutSearchOptions(rollouts=self.samples, seed=seed)
        return rollout_search(guided, options, **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Soft sampling, {problem.name}", self.samples, lambda done, _depth, _: done)
