"""Monte Carlo tree search whose random decisions a learned policy draws."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.progress import OnProgress
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import GuidedSpace, SearchResult, mcts

_REPLAY = MCTS.preset("mcts_replay")


@dataclass(frozen=True)
class PolicyGuidedMCTS(GuidedAgent):
    """The tree search `MCTS.preset("mcts_replay")` with draws from a policy, in the tree and in its simulations.

    Attributes:
        evaluations: the budget if `plan` is given none.
        free_schedules: how many schedules are drawn before any is repeated.
        deviations, exploration, front_loading, widening: see `MCTS`.
    """

    evaluations: int = 2000
    free_schedules: int = 16
    deviations: float | None = _REPLAY.deviations
    exploration: float = _REPLAY.exploration
    front_loading: float = _REPLAY.front_loading
    widening: float = _REPLAY.widening

    def __post_init__(self) -> None:
        super().__post_init__()
        self._mcts()

    def _mcts(self) -> MCTS:
        return MCTS(
            trees=1,
            greedy_trees=0,
            threads=1,
            first_draws=self.free_schedules,
            deviations=self.deviations,
            exploration=self.exploration,
            front_loading=self.front_loading,
            widening=self.widening,
        )

    def _search_guided(
        self, space: GuidedSpace, budget: Budget, seed: int, on_progress: OnProgress | None
    ) -> SearchResult:
        limits = budget.or_evaluations(self.evaluations).limits
        return mcts(space, self._mcts().options(seed), **limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return self._mcts()._bar(problem, budget)
