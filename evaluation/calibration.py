"""How well the cost model orders schedules by their run time on this machine."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.plan import Rules
from halidegym.envs.problem import SchedulingProblem
from halidegym.envs.schedule import Schedule
from halidegym.envs.schedule_key import schedule_key
from halidegym.envs.timers import RecordingTimer
from halidegym.native._core import SearchExhausted, State, beam_search


@dataclass(frozen=True)
class Point:
    """A schedule with its predicted and its measured time.

    Attributes:
        kind: "random": the end of a random walk; "good": of a greedy descent that misses decisions at random.
        cost: of the cost model, in milliseconds as trained.
        seconds: measured; infinite if it failed.
        disturbed: whether other processes were in the way.
    """

    kind: str
    cost: float
    seconds: float
    disturbed: bool


@dataclass(frozen=True)
class Calibration:
    """What the cost model is worth for a problem on this machine.

    Attributes:
        problem: its name.
        threads: that schedules ran on.
        points: the schedules.
    """

    problem: str
    threads: int
    points: tuple[Point, ...]

    @property
    def timed(self) -> tuple[Point, ...]:
        """The schedules that did not fail."""
        return tuple(point for point in self.points if math.isfinite(point.seconds))

    @property
    def rank_correlation(self) -> float:
        """Spearman's, of cost and run time; NaN for fewer than three schedules."""
        return spearman([p.cost for p in self.timed], [p.seconds for p in self.timed])

    @property
    def rank_correlation_of_good(self) -> float:
        """The same among the good schedules, where a search has to choose."""
        good = [p for p in self.timed if p.kind == "good"]
        return spearman([p.cost for p in good], [p.seconds for p in good])

    @property
    def regret(self) -> float:
        """How many times longer the schedule takes that the model rates best than the one that is; NaN without any."""
        if not self.timed:
            return math.nan
        chosen = min(self.timed, key=lambda point: point.cost)
        return chosen.seconds / min(point.seconds for point in self.timed)


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's rank correlation, with mean ranks for ties; NaN for fewer than three pairs or a constant side."""
    if len(a) < 3 or len(set(a)) == 1 or len(set(b)) == 1:
        return math.nan
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def calibrate(
    problem: SchedulingProblem,
    timer: RecordingTimer,
    count: int,
    *,
    seconds: float = math.inf,
    seed: int = 0,
    on_schedule: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Draw schedules, half of them random and half good, and time them.

    Args:
        problem: the problem.
        timer: to measure with.
        count: how many different schedules to draw.
        seconds: time after which no more are begun.
        seed: of the random numbers.
        on_schedule: called with a text for each schedule.

    Raises:
        Error: the trusted schedule fails.
    """
    deadline = time.monotonic() + seconds
    batch = 4
    points: list[Point] = []
    drawn = itertools.islice(_distinct(problem, draw(problem, seed)), count)
    while time.monotonic() < deadline and (group := list(itertools.islice(drawn, batch))):
        costs = [state.cost() for _, state in group]
        schedules = [Schedule.from_state(problem, state) for _, state in group]
        timings = timer.time_all(problem, schedules, costs=costs)
        for (kind, _), cost, timing in zip(group, costs, timings, strict=True):
            on_schedule(f"{problem.name}: {kind}")
            points.append(Point(kind, cost, timing.median_s, timing.is_disturbed))
    return Calibration(problem.name, timer.stopwatch.threads_for(problem), tuple(points))


def draw(problem: SchedulingProblem, seed: int) -> Iterator[tuple[str, State]]:
    """Complete schedules without end, in turn a random and a good one; each with its kind."""
    space, generator = Rules().space(problem), random.Random(seed)
    while True:
        state = space.initial_state()
        try:
            while not state.is_complete:
                _, state = state.random_decision(generator.getrandbits(63))
            yield "random", state
        except SearchExhausted:
            pass
        # From rather careless to the greedy schedule itself.
        dropout = generator.choice([20, 40, 60, 80, 90, 100])
        solutions = beam_search(space, beam_size=1, random_dropout=dropout, seed=generator.getrandbits(32)).solutions
        yield "good", solutions[0].state


def _distinct(problem: SchedulingProblem, drawn: Iterator[tuple[str, State]]) -> Iterator[tuple[str, State]]:
    """Leave out what was there before; end where a problem has hardly more to offer."""
    seen: set[str] = set()
    repetitions = 0
    for kind, state in drawn:
        key = schedule_key(problem, Schedule.from_state(problem, state))
        repetitions = repetitions + 1 if key in seen else 0
        if repetitions > 100:
            return
        if key not in seen:
            seen.add(key)
            yield kind, state
