"""Beam search over schedules (Adams et al. 2019)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from halidegym.agents.agent import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import SearchResult, beam_search
from halidegym.native.checks import check_at_least


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
    """

    beam_size: int = 32
    passes: int | None = None
    random_dropout: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, beam_size=self.beam_size, passes=self.passes)
        check_dropout(self.random_dropout)

    @property
    def num_passes(self) -> int:
        """How often to search, the default resolved."""
        return self.passes if self.passes is not None else 1 if self.beam_size == 1 else 5

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        return beam_search(
            space,
            beam_size=self.beam_size,
            passes=self.num_passes,
            random_dropout=self.random_dropout,
            seed=seed,
            **budget.limits,
            on_progress=on_progress,
        )

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        depth = 2 * problem.num_nodes
        return progress_bar(f"Beam search, {problem.name}", self.num_passes * depth, lambda p, d, _: p * depth + d)


def check_dropout(random_dropout: int) -> None:
    """Check the percentage of random dropout.

    Raises:
        InvalidParameter: it is no integer from 0 to 100.
    """
    check_at_least(0, 100, random_dropout=random_dropout)
