"""How a tuning run spends its seconds, and what it says when it is ended early."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.agents import Autotune, BeamSearch
from halidegym.agents.proposals import Proposal, careless_descents
from halidegym.agents.reference import AutoschedulerFailed, Mullapudi2016
from halidegym.agents.tuner import autotune, run
from halidegym.agents.tuner.plan import TunedPlan
from halidegym.agents.tuner.racing import screen
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.timing.measurements import Comparison, Timing
from oracle.builder_problem import SSE_AVX2
from timers_for_tests import MadeUpTimes

SMALL = Autotune(batch=4, first=4, proposals=4, finalists=3, parallelisms=(2,))


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=SSE_AVX2, parallelism=2)


class Slow(MadeUpTimes):
    """A timer that takes its time, and says that running schedules took some.

    Attributes:
        begun: when each comparison began, in seconds since the timer was made.
    """

    def __init__(self, takes_s: float, run_s: float = 0.0) -> None:
        super().__init__(lambda schedule: 1e-3 * (1 + schedule.cpp().count(".split(")))
        self._takes_s, self._run_s = takes_s, run_s
        self._made = time.perf_counter()
        self.begun: list[float] = []

    def time(self, problem: SchedulingProblem, schedule: Any, *, cost: float | None = None) -> Timing:
        return replace(super().time(problem, schedule, cost=cost), run_s=self._run_s)

    def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
        self.begun.append(time.perf_counter() - self._made)
        time.sleep(self._takes_s)
        return super().compare(problem, a, b, costs=costs)


def tune(problem: SchedulingProblem, timer: MadeUpTimes, **budget: Any) -> TunedPlan:
    plan = SMALL.plan(problem, timer=timer, **budget)
    assert isinstance(plan, TunedPlan)
    return plan


def test_no_batch_is_begun_that_would_not_end_in_time(blur: SchedulingProblem) -> None:
    """Four schedules take 1.6 s; of a second batch, one or two do in what is left of 90 % of 2.5 s."""
    timer = Slow(0.4)
    measured = tune(blur, timer, seconds=2.5).measurements
    assert measured in (4, 5, 6)
    assert timer.begun[measured] < 2.5


def test_what_is_left_of_the_seconds_is_for_a_smaller_batch(blur: SchedulingProblem) -> None:
    """A batch of four took 2 s, when the machine was busy; later ones would take 0.2 s, and 1.6 s are left."""

    class Busy(Slow):
        def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
            self._takes_s = 0.5 if len(self.begun) < 4 else 0.05
            return super().compare(problem, a, b, costs=costs)

    timer = Busy(0.0)
    measured = tune(blur, timer, seconds=4.0).measurements
    assert measured is not None and measured >= 7
    assert timer.begun[measured] < 4.0


def test_a_run_with_smaller_batches_is_that_of_as_many_measurements(
    blur: SchedulingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are chosen together are all measured before others are, so that batches show in nothing.

    Whether Mullapudi2016 is done within a tenth of five seconds does.
    """
    monkeypatch.setattr(autotune, "mullapudi_groups", lambda *_: {})

    class Late(MadeUpTimes):
        """One that makes the second batch seem to take most of the seconds that are left."""

        def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
            if 20 <= len(self.asked) < 28:
                time.sleep(0.25)
            return super().compare(problem, a, b, costs=costs)

    def time_of(schedule: Any) -> float:
        return 1.0 + len(schedule.cpp()) % 17

    agent = Autotune(batch=8, first=16, proposals=24, finalists=3, parallelisms=(2,))
    late = agent.plan(blur, timer=Late(time_of), seconds=5.0)
    again = agent.plan(blur, timer=MadeUpTimes(time_of), measurements=late.measurements)
    assert late.measurements is not None and late.measurements > 28
    assert late.finalists == again.finalists


def test_the_last_comparison_has_the_time_for_as_many_turns_as_an_interval_needs(blur: SchedulingProblem) -> None:
    """A third of the seconds and more, where schedules run for long, and next to none where they do not."""
    long, short = Slow(0.02, run_s=1.0), Slow(0.02, run_s=0.0)
    measured = tune(blur, long, seconds=3.0).measurements
    assert measured is not None and long.begun[measured] < 3.0 * 0.65 + 0.4
    assert measured > SMALL.first, "which leaves two thirds to measure in"
    measured = tune(blur, short, seconds=3.0).measurements
    assert measured is not None and short.begun[measured] > 3.0 * 0.9


def test_a_run_that_is_ended_early_says_how_long_its_fastest_takes(blur: SchedulingProblem) -> None:
    """By the latest time of the baseline, with which it took turns: the machine became half as fast after the first."""
    adams2019 = BeamSearch().plan(blur).schedule.cpp()

    class Interrupted(MadeUpTimes):
        slowdown = 1.0

        def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
            if len(self.asked) == 8:
                raise KeyboardInterrupt
            self.slowdown = 2.0
            return super().compare(problem, a, b, costs=costs)

    timer = Interrupted(lambda schedule: timer.slowdown * (4.0 if schedule.cpp() == adams2019 else 1.0))
    plan = tune(blur, timer, measurements=16)
    assert plan.ended_by == "interrupt"
    assert (plan.baseline_time, plan.run_time, plan.speedup) == pytest.approx((8.0, 2.0, 4.0))
    assert not math.isnan(plan.finalists[0].low)


def test_costs_for_other_numbers_of_cores_are_not_told_as_the_problems(blur: SchedulingProblem) -> None:
    """A replay would take them for estimates of the run time."""
    costs: list[float | None] = []

    class Told(MadeUpTimes):
        def compare(self, problem: SchedulingProblem, a: Any, b: Any, **how: Any) -> Comparison:
            costs.append(how["costs"][0])
            return super().compare(problem, a, b)

    def drawn(cores: int) -> Proposal:
        return next(careless_descents(Rules().space(blur.with_parallelism(cores))))

    own, other = drawn(2), drawn(8)
    screen(Told(lambda _schedule: 1.0), blur, [own, other], BeamSearch().plan(blur).schedule, 1.0, math.inf)
    assert costs == [own.cost, None]


def test_schedules_are_screened_beside_the_fastest_so_far(
    blur: SchedulingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds: list[float] = []

    def screened(*given: Any) -> list[Comparison]:
        speeds.append(given[4])
        return screen(*given)

    monkeypatch.setattr(run, "screen", screened)
    adams2019 = BeamSearch().plan(blur).schedule.cpp()
    timer = MadeUpTimes(lambda schedule: 3.0 if schedule.cpp() == adams2019 else 1.0)
    tune(blur, timer, measurements=8)
    assert speeds == pytest.approx([1.0, 3.0])


def test_without_mullapudi2016_there_are_no_groups(blur: SchedulingProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> Any:
        raise AutoschedulerFailed("it is out of memory")

    def by_splits(schedule: Any) -> float:
        return 1.0 + schedule.cpp().count(".split(")

    def kinds(problem: SchedulingProblem) -> set[str]:
        plan = replace(SMALL, finalists=8).plan(problem, timer=MadeUpTimes(by_splits), measurements=8)
        assert isinstance(plan, TunedPlan)
        return {finalist.kind for finalist in plan.finalists}

    assert "grouped" in kinds(blur)
    monkeypatch.setattr(Mullapudi2016, "plan", fails)
    others = kinds(blur.with_parallelism(7))  # of which it has not been asked before
    assert len(others) > 1 and "grouped" not in others
