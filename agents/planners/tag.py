"""Threshold ascent on the graph of partial schedules (TAG)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, budget_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import SearchResult, TagOptions, tag_search
from halidegym.native.checks import check_at_least, check_present

_DEFAULTS = TagOptions()


@dataclass(frozen=True)
class TAG(NativeSearch):
    """Threshold Ascent on Graph (de Mesmay, Rimmel, Voronenko and Püschel 2009, "Bandit-based optimization on graphs with
    application to library performance tuning").

    Grows a part of the graph of partial schedules, one decision at a time: descends from the root to a decision not taken
    before, completes the schedule there by random decisions, and tells its cost to all ancestors. On the way down a bandit
    prefers the successors that most of the best costs came from, not those of the best mean cost: it aims at the best single
    schedule. Partial schedules with the same loops after equally many decisions are one vertex and share what is known of
    them, however they were reached. What has been searched completely is not entered again, so that small spaces come to an
    end with the optimum.

    Attributes:
        best_rewards: how many of the best costs below a vertex a choice looks at.
        delta: of the bandit; the less, the more it explores.
        merge: whether equal partial schedules are one vertex; if not, the graph is a tree.
        num_evaluations: the budget of evaluations if `plan` is given none of seconds, evaluations or expansions.
    """

    best_rewards: int = _DEFAULTS.best_rewards
    delta: float = _DEFAULTS.delta
    merge: bool = _DEFAULTS.merge
    num_evaluations: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, **check_present(num_evaluations=self.num_evaluations))
        self._options(seed=0)

    def _options(self, seed: int) -> TagOptions:
        return TagOptions(best_rewards=self.best_rewards, delta=self.delta, merge=self.merge, seed=seed)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        budget = budget.or_evaluations(self.num_evaluations)
        return tag_search(space, self._options(seed), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return budget_bar(f"TAG, {problem.name}", budget.or_evaluations(self.num_evaluations))
