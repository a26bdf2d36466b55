"""Search around the best known schedule, with steps that a learned policy draws."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from halidegym.agents.budget import Budget
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import GuidedSpace, RolloutSearchOptions, SearchResult, rollout_search
from halidegym.native.checks import check_at_least

_DEFAULTS = RolloutSearchOptions()
_SCHEDULES = 256  # if nothing else limits the search


@dataclass(frozen=True)
class GuidedReplay(GuidedAgent):
    """Draw some schedules from a policy, then repeat the best known one but for a few steps that the policy draws.

    Attributes:
        schedules: how many different complete schedules are looked at; None for as many as the budget given to `plan`
            allows, or 256 without one.
        free_schedules: how many of them are drawn before any is repeated.
        deviations: how many steps on average do not repeat the decision of the best known schedule at the same depth (after
            the last-good-reply policy of Drake 2009).
        patience: after so many schedules without a better one it begins again with a free one; None for never.
    """

    schedules: int | None = None
    free_schedules: int = _DEFAULTS.free_rollouts
    deviations: float | None = 6.0
    patience: int | None = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, schedules=self.schedules, free_schedules=self.free_schedules)
        self._options(0)

    def _options(self, seed: int) -> RolloutSearchOptions:
        return RolloutSearchOptions(
            rollouts=self.schedules,
            free_rollouts=self.free_schedules,
            deviations=self.deviations,
            patience=self.patience,
            seed=seed,
        )

    def _search_guided(
        self, space: GuidedSpace, budget: Budget, seed: int, on_progress: OnProgress | None
    ) -> SearchResult:
        is_endless = self.schedules is None and budget.is_unlimited_for_rollouts
        agent = replace(self, schedules=_SCHEDULES) if is_endless else self
        return rollout_search(space, agent._options(seed), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Guided replay, {problem.name}", self.schedules, lambda done, _depth, _: done)
