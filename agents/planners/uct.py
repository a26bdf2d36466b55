"""UCT on the tree of partial schedules, the counterpart of TAG."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, budget_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import SearchResult, UctOptions, uct_search
from halidegym.native.checks import check_at_least, check_present

_DEFAULTS = UctOptions()


@dataclass(frozen=True)
class UCT(NativeSearch):
    """Upper confidence bounds applied to trees (Kocsis and Szepesvári 2006), in the setting of `TAG` to compare with it.

    Grows the tree of partial schedules from the root as `TAG` does, but descends to the successor of the largest
    mean reward + exploration * sqrt(ln n / n_i): it aims at the best mean. The reward of a schedule is its inverse cost,
    relative to the best at the successors, so costs must be positive. There is one tree for the whole search; `MCTS` is the
    planner that commits to one decision after another.

    Attributes:
        exploration: the larger, the more it explores.
        merge: whether equal partial schedules are one vertex; if not, the graph is a tree.
        num_evaluations: the budget of evaluations if `plan` is given none of seconds, evaluations or expansions.
    """

    exploration: float = _DEFAULTS.exploration
    merge: bool = _DEFAULTS.merge
    num_evaluations: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, **check_present(num_evaluations=self.num_evaluations))
        self._options(seed=0)

    def _options(self, seed: int) -> UctOptions:
        return UctOptions(exploration=self.exploration, merge=self.merge, seed=seed)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        budget = budget.or_evaluations(self.num_evaluations)
        return uct_search(space, self._options(seed), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return budget_bar(f"UCT, {problem.name}", budget.or_evaluations(self.num_evaluations))
