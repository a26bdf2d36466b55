"""Random search."""

from __future__ import annotations

from collections import Counter

import pytest

import pipelines_for_tests
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import RandomSearchOptions, random_search
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def mm() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=4)


def test_more_schedules_are_never_worse(mm: SchedulingProblem) -> None:
    costs = [RandomSearch(num_schedules=count).plan(mm, seed=1).cost for count in (1, 10, 100, 1000)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_evaluations_are_schedules(mm: SchedulingProblem) -> None:
    plan = RandomSearch().plan(mm, evaluations=50)
    assert (plan.evaluations, plan.expansions, plan.ended_by) == (50, 0, "budget")
    assert RandomSearch(num_schedules=7).plan(mm).evaluations == 7


def test_seconds_are_a_budget(mm: SchedulingProblem) -> None:
    plan = RandomSearch().plan(mm, seconds=0.2)
    assert 0.2 <= plan.seconds < 20
    assert plan.ended_by == "budget"


def test_seeds_decide(mm: SchedulingProblem) -> None:
    agent = RandomSearch(num_schedules=20)
    plans = [agent.plan(mm, seed=seed) for seed in (1, 1, 2)]
    assert plans[0].candidates == plans[1].candidates != plans[2].candidates


def test_candidates_are_complete_and_cost_what_they_say(mm: SchedulingProblem) -> None:
    plan = RandomSearch(num_schedules=100).plan(mm)
    costs = [candidate.cost for candidate in plan.candidates]
    assert costs == sorted(costs)
    assert costs[0] == plan.cost
    for candidate in plan.top(5):
        state = Rules().space(mm).initial_state()
        for action in candidate.actions:
            state = state.apply(action)
        assert state.is_complete
        assert state.cost() == candidate.cost


def test_a_small_space_is_searched_completely() -> None:
    """On one core the scalar sum has so few schedules that random search finds the best one, and beam search no better."""
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.scalar_sum, target=SSE_AVX2, parallelism=1)
    assert RandomSearch(num_schedules=2000).plan(problem).cost <= (BeamSearch(beam_size=64).plan(problem).cost or 0)


def test_every_decision_is_drawn_uniformly(mm: SchedulingProblem) -> None:
    """The first decision of many one-schedule searches, by a chi-squared test at 0.1 %."""
    space = Rules().space(mm)
    state = space.initial_state()
    forced = []
    while len(state.expand()) == 1:
        forced.append(0)
        state = state.apply(0)
    choices, draws = len(state.expand()), 3000
    searches = (random_search(space, RandomSearchOptions(seed=seed), max_evaluations=1) for seed in range(draws))
    firsts = (search.solutions[0].actions[len(forced)] for search in searches)
    counts = Counter(firsts)
    expected = draws / choices
    statistic = sum((counts[action] - expected) ** 2 / expected for action in range(choices))
    degrees = choices - 1
    # Wilson and Hilferty's approximation of the quantile.
    assert statistic < degrees * (1 - 2 / (9 * degrees) + 3.09 * (2 / (9 * degrees)) ** 0.5) ** 3
