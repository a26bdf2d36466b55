"""Run times that decide in place of costs: of complete states, each measured once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from halidegym.agents.plan import Candidate, Plan
from halidegym.agents.spaces import SpaceSolution
from halidegym.native._core import InvalidParameter, MctsResult, Solution
from halidegym.native.checks import is_number, shown


class RunTimes:
    """Measures complete states, each once, as long as the budget of measurements lasts."""

    def __init__(self, measure: Callable[[Any], float], measurements: int | None) -> None:
        self._measure = measure
        self._measurements = measurements
        self._seconds: dict[tuple[int, ...], float] = {}

    def __call__(self, state: Any, actions: list[int]) -> float | None:
        """Return seconds, or None if that was not measured and no measurement is left."""
        key = tuple(actions)
        if key not in self._seconds:
            if self._measurements is not None and len(self._seconds) >= self._measurements:
                return None
            seconds = self._measure(state)
            if not is_number(seconds) or math.isnan(seconds):
                raise InvalidParameter(
                    f"measure returned {shown(seconds)}; return seconds, infinite where a state fails"
                )
            self._seconds[key] = float(seconds)
        return self._seconds[key]

    @property
    def count(self) -> int:
        """How many states were measured."""
        return len(self._seconds)

    def seconds(self, found: Candidate | Solution) -> float:
        """Return what is known of a complete state by its decisions; infinity if nothing is."""
        return self._seconds.get(tuple(found.actions), math.inf)


def by_run_time(plan: Plan, run_times: RunTimes) -> Plan:
    """Return the plan with the fastest schedule first, where at least one could be measured."""
    fastest = min((*plan.pass_candidates, *plan.candidates), key=run_times.seconds)
    run_time = run_times.seconds(fastest)
    if math.isinf(run_time):
        return dataclasses.replace(plan, measurements=run_times.count)
    return dataclasses.replace(
        plan,
        cost=fastest.cost,
        schedule=plan.schedule_of(fastest),
        candidates=_begun_with(fastest, plan.candidates),
        run_time=run_time,
        measurements=run_times.count,
    )


def fastest_first(solution: SpaceSolution, result: MctsResult[Any], run_times: RunTimes) -> SpaceSolution:
    """Return the solution with the fastest state first, where at least one could be measured."""
    fastest = min((*result.pass_solutions, *result.solutions), key=run_times.seconds)
    if math.isinf(run_times.seconds(fastest)):
        return solution
    first = Candidate(cost=fastest.cost, actions=tuple(fastest.actions))
    candidates = _begun_with(first, solution.candidates)
    return dataclasses.replace(solution, cost=fastest.cost, state=fastest.state, candidates=candidates)


def _begun_with(first: Candidate, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates with this one before all others, whether it was among them or not."""
    return (first, *(candidate for candidate in candidates if candidate.actions != first.actions))
