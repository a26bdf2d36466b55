"""How well the cost model orders schedules by their run time on this machine."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from halidegym.agents import proposals
from halidegym.agents.learned.cost_models.figures import rank_correlation, regret
from halidegym.agents.proposals import Proposal
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.measurements import Timing
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.output import run_times


@dataclass(frozen=True)
class Point:
    """A schedule with its predicted and its measured time.

    Attributes:
        kind: of the proposal, see `draw`.
        cost: of the cost model, in milliseconds as trained.
        seconds: measured; of one that is too slow, the limit; infinite if it failed.
        is_too_slow: whether a run was ended at the limit, so that all that is known is that it takes longer.
        is_disturbed: whether other processes were in the way.
        failure: what went wrong, in a few words; empty if nothing did.
    """

    kind: str
    cost: float
    seconds: float
    is_too_slow: bool = False
    is_disturbed: bool = False
    failure: str = ""

    @property
    def is_good(self) -> bool:
        """Whether a search may come to the like of it: all but random walks."""
        return self.kind != "random"

    @classmethod
    def of(cls, kind: str, cost: float, timing: Timing, limit_s: float) -> Point:
        """A schedule that was timed with this limit for a run."""
        is_too_slow = timing.outcome == "timeout" and not timing.compiler_was_late
        failure = "" if is_too_slow or timing.outcome == "ok" else run_times.outcome(timing, "")
        seconds = limit_s if is_too_slow else timing.median_s
        return cls(kind, cost, seconds, is_too_slow, timing.is_disturbed, failure)


@dataclass(frozen=True)
class Calibration:
    """What the cost model is worth for a problem on this machine.

    Schedules that are too slow count as if they took the limit: they rank last, all alike.

    Attributes:
        problem: its name.
        threads: that schedules ran on.
        limit_s: seconds after which a run was ended.
        points: the schedules.
    """

    problem: str
    threads: int
    limit_s: float
    points: tuple[Point, ...]

    @property
    def ranked(self) -> tuple[Point, ...]:
        """The schedules that did not fail."""
        return tuple(point for point in self.points if math.isfinite(point.seconds))

    @property
    def failures(self) -> tuple[str, ...]:
        """What went wrong with the others."""
        return tuple(point.failure for point in self.points if point.failure)

    @property
    def good(self) -> tuple[Point, ...]:
        """Of these the good ones, among which a search has to choose."""
        return tuple(point for point in self.ranked if point.is_good)

    @property
    def rank_correlation(self) -> float:
        """Spearman's, of cost and run time; NaN for fewer than three schedules."""
        return rank_correlation(*_costs_and_times(self.ranked))

    @property
    def rank_correlation_of_good(self) -> float:
        """The same among the good schedules."""
        return rank_correlation(*_costs_and_times(self.good))

    @property
    def regret(self) -> float:
        """How many times longer the schedule takes that the model rates best than the one that is; NaN without any.

        Of several that it rates best, the geometric mean.
        """
        return regret(*_costs_and_times(self.ranked)) if self.ranked else math.nan


def _costs_and_times(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [point.cost for point in points], [point.seconds for point in points]


def calibrate(
    problem: SchedulingProblem,
    timer: RecordingTimer,
    count: int,
    *,
    seconds: float = math.inf,
    seed: int = 0,
    on_schedule: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Draw schedules, random and good ones, and time them.

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
    limit_s = timer.stopwatch.settings.timeout_s
    points: list[Point] = []
    for drawn in _batches(problem, timer.stopwatch, count, seconds, seed):
        costs = [proposal.cost for proposal in drawn]
        timings = timer.time_all(problem, _schedules(problem, drawn), costs=costs)
        for proposal, timing in zip(drawn, timings, strict=True):
            on_schedule(f"{problem.name}: {proposal.kind}")
            points.append(Point.of(proposal.kind, proposal.cost, timing, limit_s))
    return Calibration(problem.name, timer.stopwatch.threads_for(problem), limit_s, tuple(points))


def draw(problem: SchedulingProblem, seed: int) -> Iterator[Proposal]:
    """Schedules without end, bad and good ones: the greedy one, then in turn random walks and careless descents."""
    space = Rules().space(problem)
    yield from proposals.beam_winners(space, widths=(1,))
    yield from proposals.in_turn(proposals.random_walks(space, seed), proposals.careless_descents(space, seed))


def compile_drawn(
    problem: SchedulingProblem,
    stopwatch: Stopwatch,
    count: int,
    *,
    seconds: float = math.inf,
    seed: int = 0,
    on_schedule: Callable[[str], None] = lambda _: None,
) -> None:
    """Compile what `calibrate` would time, for the stopwatch's folder of kernels."""
    for drawn in _batches(problem, stopwatch, count, seconds, seed):
        stopwatch.compile(problem, _schedules(problem, drawn))
        for proposal in drawn:
            on_schedule(f"{problem.name}: {proposal.kind}")


def _batches(
    problem: SchedulingProblem, stopwatch: Stopwatch, count: int, seconds: float, seed: int
) -> Iterator[list[Proposal]]:
    """Yield so many schedules together that all compilers have something to do most of the time."""
    deadline = time.monotonic() + seconds
    drawn = itertools.islice(proposals.distinct(problem, draw(problem, seed)), count)
    while time.monotonic() < deadline and (batch := list(itertools.islice(drawn, 4 * stopwatch.compilers))):
        yield batch


def _schedules(problem: SchedulingProblem, drawn: Sequence[Proposal]) -> list[Schedule]:
    return [Schedule.from_state(problem, proposal.state) for proposal in drawn]
