"""What the agents have in common whose search runs in the C++ core: the space, the clock, and the plan at the end."""

from __future__ import annotations

import time
from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halidegym.agents.agent import Agent, Budget, problem_of
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import AnySpace, SpaceSolution
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import SearchResult, Solution, Weights
from halidegym.native.checks import INT64_MAX, check_at_least, check_seed
from halidegym.native.weights import resolve_weights


@dataclass(frozen=True, kw_only=True)
class NativeSearch(Agent):
    """Base of the agents that search with the cost model, in C++.

    Attributes:
        subtiling, memory_limit: the rules of the search space; see `Rules`.
        weights: of the cost model, or the path of a ``.weights`` file; None for the pretrained ones.
    """

    subtiling: bool = True
    memory_limit: int | None = None
    weights: Weights | str | Path | None = None

    def __post_init__(self) -> None:
        check_at_least(0, INT64_MAX, memory_limit=self.memory_limit)

    def plan(
        self,
        problem_or_env: Any,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        expansions: int | None = None,
        measurements: int | None = None,
        seed: int = 0,
        progress: bool = False,
    ) -> Plan:
        """Search for a good schedule; see `Agent.plan`."""
        budget = Budget(seconds, evaluations, expansions, measurements)
        problem = problem_of(problem_or_env)
        check_seed(seed)
        with self._bar(problem, budget) if progress else nullcontext() as on_progress:
            return self.search(problem, budget, seed, on_progress)

    def search(
        self, problem: SchedulingProblem, budget: Budget, seed: int, on_progress: OnProgress | None = None
    ) -> Plan:
        """Do what `plan` does, with a callback, which can end the search from another thread."""
        weights = resolve_weights(self.weights)
        start, cpu_start = time.perf_counter(), time.process_time()
        rules = Rules(subtiling=self.subtiling, memory_limit=self.memory_limit)
        result = self._search(rules.space(problem, weights), budget, seed, on_progress)
        elapsed, cpu_elapsed = time.perf_counter() - start, time.process_time() - cpu_start
        return Plan(
            agent=repr(self),
            seed=seed,
            fingerprint=fingerprint(problem, weights),
            cost=result.solutions[0].cost,
            schedule=Schedule.from_state(problem, result.solutions[0].state),
            rules=rules,
            candidates=_candidates(result.solutions),
            pass_costs=tuple(result.pass_costs),
            pass_candidates=_candidates(result.pass_solutions),
            evaluations=result.evaluations,
            expansions=result.expansions,
            seconds=elapsed,
            cpu_seconds=cpu_elapsed,
            history=_history(result),
            interrupted=self._was_interrupted(result, budget),
        )

    def solve(
        self,
        space: AnySpace,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        expansions: int | None = None,
        seed: int = 0,
    ) -> SpaceSolution:
        """Search any space for its cheapest complete state: what `plan` does for schedules.

        Args:
            space: a `SyntheticTree`, an object with the methods of `SearchSpace`, or the `Space` of a scheduling problem,
                which has its own rules and weights.
            seconds: as for `plan`.
            evaluations: as for `plan`.
            expansions: as for `plan`.
            seed: as for `plan`.

        Raises:
            InvalidParameter: an argument is out of its range, or `space` is none.
            SearchExhausted: the space has no acceptable complete state, or the agent's limits leave none.
        """
        return self.search_space(space, Budget(seconds, evaluations, expansions), check_seed(seed))

    def search_space(
        self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None = None
    ) -> SpaceSolution:
        """Do what `solve` does, with a callback, which can end the search from another thread."""
        result = self._search(space, budget, seed, on_progress)
        return SpaceSolution(
            agent=repr(self),
            seed=seed,
            cost=result.solutions[0].cost,
            state=result.solutions[0].state,
            candidates=_candidates(result.solutions),
            pass_costs=tuple(result.pass_costs),
            evaluations=result.evaluations,
            expansions=result.expansions,
            seconds=result.seconds,
            history=_history(result),
            interrupted=self._was_interrupted(result, budget),
        )

    @abstractmethod
    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        """Run the search."""

    @abstractmethod
    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        """Return the progress bar of this search."""

    def _was_interrupted(self, result: SearchResult, budget: Budget) -> bool:
        """Return whether the search ended before its time."""
        return bool(result.interrupted)


def _candidates(solutions: list[Solution]) -> tuple[Candidate, ...]:
    return tuple(Candidate(cost=solution.cost, actions=tuple(solution.actions)) for solution in solutions)


def _history(result: SearchResult) -> tuple[Improvement, ...]:
    return tuple(Improvement(i.seconds, i.evaluations, i.expansions, i.cost) for i in result.history)
