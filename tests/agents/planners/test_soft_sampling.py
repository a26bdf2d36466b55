"""Sampling by the cost of children."""

from __future__ import annotations

import pytest

from halidegym.agents import Greedy, RandomSearch, SoftSampling
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def harris() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(
        pipelines.build("harris", size=(160, 128)), target=SSE_AVX2, parallelism=4, name="harris"
    )


def test_without_temperature_it_is_greedy_search(harris: SchedulingProblem) -> None:
    greedy = Greedy().plan(harris)
    plan = SoftSampling(temperature=0, samples=1).plan(harris)
    assert plan.cost == greedy.cost
    assert plan.forwards == 0


def test_states_that_are_met_again_are_not_evaluated_again(harris: SchedulingProblem) -> None:
    one = SoftSampling(temperature=0, samples=1).plan(harris)
    three = SoftSampling(temperature=0, samples=3).plan(harris)
    assert three.evaluations == one.evaluations, "nor is the schedule, which is the same"


def test_the_hotter_the_more_random(harris: SchedulingProblem) -> None:
    cold, hot = (SoftSampling(temperature=temperature, samples=16).plan(harris) for temperature in (0.1, 1e6))
    random = RandomSearch(num_schedules=16).plan(harris)
    assert cold.cost < min(hot.cost, random.cost)
    assert cold.evaluations > 100


def test_bad_input(harris: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match="temperature"):
        SoftSampling(temperature=-0.1)
    with pytest.raises(InvalidParameter, match="samples"):
        SoftSampling(samples=0)
    with pytest.raises(InvalidParameter, match="no end of their own"):
        SoftSampling(samples=None).plan(harris)
    with pytest.raises(InvalidParameter, match="expand no state"):
        SoftSampling(samples=None).plan(harris, expansions=1)
