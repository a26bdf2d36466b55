"""Run times for tests that measure nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.timing.measurements import Comparison, Timing


class MadeUpTimes:
    """A timer whose schedules take what a function says; infinitely long, if they fail."""

    def __init__(self, seconds: Callable[[Any], float]) -> None:
        self._seconds = seconds
        self.asked: list[str] = []

    def time(self, problem: SchedulingProblem, schedule: Any, *, cost: float | None = None) -> Timing:
        seconds = self._seconds(schedule)
        return (
            Timing("crash", (), 0.0, "boom")
            if math.isinf(seconds)
            else Timing("ok", (seconds,), 0.0, disturbed=(False,))
        )

    def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
        self.asked.append(schedule_key(problem, a))
        timings = self.time(problem, a), self.time(problem, b)
        ratio = timings[1].median_s / timings[0].median_s if all(t.outcome == "ok" for t in timings) else math.nan
        return Comparison(ratio, ratio, ratio, *timings)

    def close(self) -> None: ...
