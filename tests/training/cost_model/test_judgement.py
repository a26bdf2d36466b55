"""Models are judged pipeline by pipeline, among the good schedules."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter
from halidegym.training.cost_model.judgement import Judgement, judge
from measured_for_tests import measured

ROWS, PIPELINE = np.ones((2, 39)), np.ones((2, 7, 40))


def schedules(*times: float, name: str = "a", **fields: object) -> list[MeasuredSchedule]:
    return [measured(ROWS, PIPELINE, time, pipeline=name, **fields) for time in times]


def test_figures_are_those_of_good_schedules_that_ran() -> None:
    good = schedules(5.0, 1.0, 2.0, 3.0, 4.0)
    failed = dataclasses.replace(good[0], outcome="crash", run_time_s=math.nan)
    others = [*good, *schedules(0.1, kind="random"), failed, *schedules(1.0, 2.0, name="too few")]
    found = judge([50, 20, 10, 30, 40, 1, 1, 1, 1], others)
    assert found.pipelines == ("a",)
    assert found.correlation == pytest.approx(0.9)
    assert found.mean_regret == pytest.approx(2.0)


def test_a_pipeline_on_other_threads_is_compared_with_itself_alone() -> None:
    both = [*schedules(1, 2, 3, 4, 5), *schedules(10, 20, 30, 40, 50, threads=2)]
    assert list(judge([1, 2, 3, 4, 5, 5, 4, 3, 2, 1], both).correlations) == pytest.approx([1, -1])


def test_costs_for_other_numbers_of_cores_are_not_compared() -> None:
    """Each number has costs of its own, and is ordered by them; together they would be the wrong way round."""
    both = [*schedules(1, 2, 3, 4, 5, parallelism=2), *schedules(10, 20, 30, 40, 50, parallelism=16)]
    assert list(judge([10, 20, 30, 40, 50, 1, 2, 3, 4, 5], both).correlations) == pytest.approx([1, 1])


def test_the_groups_of_a_pipeline_come_and_go_together() -> None:
    """Both pipelines have a mean of one half, so that other pipelines like these would have it, too."""
    found = Judgement(("a", "a", "b"), np.array([0.0, 1.0, 0.5]), np.array([1.0, 4.0, 2.0]), np.array([1.0, 9.0, 3.0]))
    intervals = (
        (found.correlation_interval(), 0.5),
        (found.regret_interval(), 2),
        (found.regret_by_halves_interval(), 3),
    )
    for interval, mean in intervals:
        assert (interval.low, interval.value, interval.high) == pytest.approx((mean, mean, mean))


def test_costs_that_say_nothing_are_worth_nothing() -> None:
    assert judge([1] * 5, schedules(3, 1, 2, 4, 5)).correlation == 0


@pytest.mark.parametrize("times", [(1, 2, 4, 8, 16), (16, 8, 4, 2, 1)])
def test_of_equal_costs_none_is_the_favourite_for_coming_first(times: tuple[float, ...]) -> None:
    assert judge([1] * 5, schedules(*times)).mean_regret == pytest.approx(4)
    assert judge([1, 1, 3, 1, 1], schedules(*times)).mean_regret == pytest.approx(4)


def test_by_halves_the_fastest_is_that_of_the_other_turns() -> None:
    turns = [(3.0, 4.0), (1.0, 2.0), (2.0, 1.0), (5.0, 5.0), (5.0, 5.0)]
    timed = [dataclasses.replace(each, turns_s=given) for each, given in zip(schedules(*[3] * 5), turns, strict=True)]
    found = judge([1, 2, 3, 4, 5], timed)
    assert found.regrets_by_halves == pytest.approx([math.sqrt((4 / 2) * (3 / 2))])
    assert judge([1, 1, 3, 4, 5], timed).regrets_by_halves == pytest.approx([1.5**0.25])


def test_luck_is_no_regret_by_halves() -> None:
    """Equally fast, each with an error of a tenth in each turn: none is to be regretted."""
    random, lucky = np.random.default_rng(0), list[MeasuredSchedule]()
    for number in range(40):
        turns = np.exp(0.1 * random.normal(size=(30, 4)))
        timed = schedules(*np.median(turns, axis=1), name=str(number))
        lucky += [dataclasses.replace(each, turns_s=tuple(row)) for each, row in zip(timed, turns, strict=True)]
    found = judge(random.normal(size=len(lucky)), lucky)
    assert found.regret_interval().low > 1.08
    assert found.regret_by_halves_interval().low < 1 < found.regret_by_halves_interval().high
    assert found.median_regret_by_halves_interval().high < 1.05


def test_a_schedule_of_one_turn_has_its_time_in_both_halves() -> None:
    once = [dataclasses.replace(each, turns_s=(each.run_time_s,)) for each in schedules(1, 2, 3, 4, 5)]
    unknown = [dataclasses.replace(each, turns_s=()) for each in once]
    for timed in (once, unknown):
        assert judge([5, 4, 3, 2, 1], timed).regrets_by_halves == pytest.approx([5])


def test_costs_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="1 of 5 costs are NaN"):
        judge([1, 2, math.nan, 3, 4], schedules(3, 1, 2, 4, 5))


def test_intervals_are_narrower_for_pairs() -> None:
    random = np.random.default_rng(0)
    groups, costs, better = list[MeasuredSchedule](), list[float](), list[float]()
    for number in range(30):
        times = np.exp(random.normal(size=12))
        groups += schedules(*times, name=str(number))
        noise = random.normal(size=12) * random.uniform(0.2, 3)
        costs += list(np.log(times) + noise)
        better += list(np.log(times) + 0.8 * noise)
    worse, best = judge(costs, groups), judge(better, groups)
    gain, correlation = best.gain_over(worse), best.correlation_interval()
    assert 0 < gain.low < gain.value < gain.high
    assert gain.high - gain.low < (correlation.high - correlation.low) / 2
    assert best.regret_ratio_to(worse).value < 1.05
    assert str(best.regret_interval()).count(".") == 3
    assert worse.median_regret_interval().low >= 1
