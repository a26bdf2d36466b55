"""Greedy search: always the decision that looks best at once."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import BeamOptions, SearchResult, beam_search

_DEFAULTS = BeamOptions()


@dataclass(frozen=True)
class Greedy(NativeSearch):
    """Take the cheapest child of the state, decision by decision: a beam search with a beam of one, in one pass.

    Attributes:
        random_dropout: per-cent chance that no child is dropped at random on the way to a complete schedule; 100 drops
            none. With less, each seed gives another descent that still prefers cheap children, the random baseline of
            Adams et al. 2019.
    """

    random_dropout: int = _DEFAULTS.random_dropout

    def __post_init__(self) -> None:
        super().__post_init__()
        self._options(seed=0)

    def _options(self, seed: int) -> BeamOptions:
        return BeamOptions(beam_size=1, passes=1, random_dropout=self.random_dropout, seed=seed)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        return beam_search(space, self._options(seed), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Greedy search, {problem.name}", 2 * problem.num_nodes, lambda _pass, depth, _: depth)
