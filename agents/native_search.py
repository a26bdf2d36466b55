"""What the agents have in common whose search runs in the C++ core: the space, the clock, and the plan at the end."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.interrupts import interruptible
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import AnySpace, SpaceSolution
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.timers import Timer
from halidegym.native._core import SearchResult, Solution, Space, Weights
from halidegym.native.weights import check_weights, resolve_weights


@dataclass(frozen=True, kw_only=True)
class NativeSearch(Agent):
    """Base of the agents that search with the cost model, in C++.

    Attributes:
        subtiling, memory_limit, max_recompute: the rules of the search space; see `Rules`.
        weights: of the cost model, or the path of a ``.weights`` file; None for the pretrained ones.
    """

    subtiling: bool = Rules.subtiling
    memory_limit: int | None = Rules.memory_limit
    max_recompute: float | None = Rules.max_recompute
    weights: Weights | str | Path | None = None

    def __post_init__(self) -> None:
        _ = self.rules  # refuses what they cannot be
        check_weights(self.weights)

    @property
    def rules(self) -> Rules:
        """Of the search space."""
        return Rules(self.subtiling, self.memory_limit, self.max_recompute)

    def check_files(self) -> None:
        """See `Agent.check_files`."""
        resolve_weights(self.weights)

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        """Do what `plan` does; see `Agent.search`."""
        return self._plan(problem, seed, lambda space: self._search(space, budget, seed, on_progress))

    def search_space(
        self,
        space: AnySpace,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        measure: Callable[[Any], float] | None = None,
    ) -> SpaceSolution:
        """Do what `solve` does; see `Agent.search_space`."""
        with interruptible(on_progress) as go_on:
            return self._solution(seed, self._search(space, budget, seed, go_on))

    @abstractmethod
    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        """Run the search."""

    def _plan(self, problem: SchedulingProblem, seed: int, search: Callable[[Space], SearchResult]) -> Plan:
        """Return what a search of the problem's schedules finds as a plan."""
        weights = resolve_weights(self.weights)
        start, cpu_start = time.perf_counter(), time.process_time()
        result = search(self.rules.space(problem, weights))
        elapsed, cpu_elapsed = time.perf_counter() - start, time.process_time() - cpu_start
        with interruptible(None):  # there is nothing left for Ctrl-C to end, only to lose
            return Plan(
                agent=repr(self),
                seed=seed,
                fingerprint=fingerprint(problem, weights),
                cost=result.solutions[0].cost,
                schedule=Schedule.from_state(problem, result.solutions[0].state),
                rules=self.rules,
                candidates=_candidates(result.solutions),
                pass_costs=tuple(result.pass_costs),
                pass_candidates=_candidates(result.pass_solutions),
                evaluations=result.evaluations,
                distinct_evaluations=result.distinct_evaluations,
                expansions=result.expansions,
                forwards=result.forwards,
                seconds=elapsed,
                cpu_seconds=cpu_elapsed,
                history=_history(result),
                ended_by=result.ended_by,
            )

    def _solution(self, seed: int, result: SearchResult[Any]) -> SpaceSolution:
        """Return what a search of any space found."""
        return SpaceSolution(
            agent=repr(self),
            seed=seed,
            cost=result.solutions[0].cost,
            state=result.solutions[0].state,
            candidates=_candidates(result.solutions),
            pass_costs=tuple(result.pass_costs),
            evaluations=result.evaluations,
            distinct_evaluations=result.distinct_evaluations,
            expansions=result.expansions,
            forwards=result.forwards,
            seconds=result.seconds,
            history=_history(result),
            ended_by=result.ended_by,
        )


def _candidates(solutions: list[Solution]) -> tuple[Candidate, ...]:
    return tuple(Candidate(cost=solution.cost, actions=tuple(solution.actions)) for solution in solutions)


def _history(result: SearchResult) -> tuple[Improvement, ...]:
    return tuple(Improvement(i.seconds, i.evaluations, i.expansions, i.cost) for i in result.history)
