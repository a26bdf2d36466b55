"""A learned policy by itself: it draws schedules, and the best of them is kept."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import GuidedSpace, RolloutSearchOptions, SearchResult, rollout_search
from halidegym.native.checks import check_at_least


@dataclass(frozen=True)
class PolicyAgent(GuidedAgent):
    """Draw complete schedules from a policy, and keep the best.

    `PolicyAgent(samples=1, temperature=0)` is one rollout that takes the policy's favourite decision at every step.

    Attributes:
        samples: how many different schedules are drawn; None for as many as the budget given to `plan` allows.
        other_temperature: of half of the schedules, by lot; None for the same. The more decisions a pipeline takes, the more
            blind draws gain by 0.4.
    """

    samples: int | None = 64
    other_temperature: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, samples=self.samples)

    def _other_temperature(self) -> float | None:
        return self.other_temperature

    def _search_guided(
        self, space: GuidedSpace, budget: Budget, seed: int, on_progress: OnProgress | None
    ) -> SearchResult:
        options = RolloutSearchOptions(rollouts=self.samples, seed=seed)
        return rollout_search(space, options, **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Policy, {problem.name}", self.samples, lambda done, _depth, _: done)
