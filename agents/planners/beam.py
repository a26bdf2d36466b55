"""Beam search over schedules (Adams et al. 2019)."""

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
class BeamSearch(NativeSearch):
    """The multi-pass coarse-to-fine beam search of Adams et al. 2019, equal to that of the Adams2019 autoscheduler.

    A pass decides node by node, from the output to the inputs, and keeps the best partial schedules. From the second pass
    on it prefers partial schedules that look like good ones of the pass before, and looks closer each time. The plan's
    schedule is the best by cost of all passes.

    Attributes:
        beam_size: partial schedules expanded per decision; 1 is a greedy search.
        passes: how often to search; None for five, or one if greedy.
        random_dropout: per-cent chance that no partial schedule is dropped at random on the way to a complete one;
            100 drops none.
        threads: that evaluate partial schedules. The plan is the same for any number of them; only a budget of seconds goes
            further with more.
    """

    beam_size: int = _DEFAULTS.beam_size
    passes: int | None = _DEFAULTS.passes
    random_dropout: int = _DEFAULTS.random_dropout
    threads: int = _DEFAULTS.threads

    def __post_init__(self) -> None:
        super().__post_init__()
        self._options(seed=0)

    def _options(self, seed: int) -> BeamOptions:
        return BeamOptions(
            beam_size=self.beam_size,
            passes=self.passes,
            random_dropout=self.random_dropout,
            threads=self.threads,
            seed=seed,
        )

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        return beam_search(space, self._options(seed), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        depth, passes = 2 * problem.num_nodes, self._options(seed=0).num_passes
        return progress_bar(f"Beam search, {problem.name}", passes * depth, lambda p, d, _: p * depth + d)
