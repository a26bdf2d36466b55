"""Simulation-guided beam search with a learned policy (Choo et al. 2022)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from halidegym.agents.budget import Budget
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.progress import OnProgress, budget_bar
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import GuidedSpace, SearchResult, SgbsOptions, sgbs

_DEFAULTS = SgbsOptions()


@dataclass(frozen=True)
class SGBS(GuidedAgent):
    """A beam that is kept by what rollouts come to, not by the costs of partial schedules.

    A policy proposes children of each partial schedule in the beam, and completes each of them by a rollout; those with the
    cheapest complete schedules are the next beam. A child on the way of its parent's rollout needs none of its own.

    Attributes:
        beam_size: partial schedules kept at each decision.
        children: of each of them, that are completed.
        sampled: whether these are drawn without repetition, or else the likeliest ones, as in the paper.
        passes: how many searches follow each other, each with twice the beam and twice the children; None for as many as
            the budget given to `plan` allows, or one without a budget.
        temperature: of the rollouts; 0, as in the paper, for the policy's favourites.
    """

    beam_size: int = _DEFAULTS.beam_size
    children: int = _DEFAULTS.children
    sampled: bool = _DEFAULTS.sampled
    passes: int | None = None
    temperature: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._options(seed=0, passes=self.passes)

    def _options(self, seed: int, passes: int | None) -> SgbsOptions:
        return SgbsOptions(
            beam_size=self.beam_size, children=self.children, sampled=self.sampled, passes=passes, seed=seed
        )

    def _search_guided(
        self, space: GuidedSpace, budget: Budget, seed: int, on_progress: OnProgress | None
    ) -> SearchResult:
        passes = 1 if self.passes is None and budget.is_unlimited else self.passes
        return sgbs(space, self._options(seed, passes), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return budget_bar(f"Simulation-guided beam search, {problem.name}", budget)
