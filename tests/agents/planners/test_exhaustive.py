"""Exhaustive search against a brute force in Python, and as an agent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.envs import pipelines
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import InvalidParameter, State, estimate_num_schedules
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    """915 complete schedules."""
    return toys.problem("toy_blur")


@pytest.fixture(scope="module")
def large() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("harris"), target=SSE_AVX2, parallelism=16, name="harris")


def complete_schedules(state: State, actions: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], State]]:
    if state.is_complete:
        yield actions, state
        return
    expansion = state.expand()
    for index in range(len(expansion)):
        yield from complete_schedules(expansion.child(index), (*actions, index))


@pytest.mark.parametrize("name", ["toy_pointwise", "toy_mat_mul", "toy_histogram"])
def test_it_equals_a_brute_force(name: str) -> None:
    problem = toys.problem(name)
    found = [(state.cost(), actions) for actions, state in complete_schedules(Rules().space(problem).initial_state())]
    plan = ExhaustiveSearch().plan(problem)
    assert plan.evaluations == len(found)
    expected = sorted(found, key=lambda entry: entry[0])[:32]  # stable: of equal costs, the first in order
    assert [(candidate.cost, candidate.actions) for candidate in plan.candidates] == expected
    assert (plan.cost, plan.actions) == expected[0]
    assert plan.ended_by == "finished"
    costs = [improvement.cost for improvement in plan.history]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == plan.cost


def test_rules_restrict_it(blur: SchedulingProblem) -> None:
    unrestricted = ExhaustiveSearch().plan(blur)
    restricted = ExhaustiveSearch(subtiling=False).plan(blur)
    assert restricted.evaluations is not None and unrestricted.evaluations is not None
    assert 0 < restricted.evaluations < unrestricted.evaluations


@pytest.mark.parametrize("evaluations", [1, 100, 914])
def test_a_budget_of_evaluations_is_exact(blur: SchedulingProblem, evaluations: int) -> None:
    plan = ExhaustiveSearch().plan(blur, evaluations=evaluations)
    assert (plan.evaluations, plan.ended_by) == (evaluations, "budget")
    assert plan.schedule_of(plan.top(1)[0]) == plan.schedule


def test_a_sufficient_budget_interrupts_nothing(blur: SchedulingProblem) -> None:
    plan = ExhaustiveSearch().plan(blur, evaluations=915)
    assert (plan.evaluations, plan.ended_by) == (915, "finished")
    assert plan.candidates == ExhaustiveSearch().plan(blur).candidates


@pytest.mark.parametrize("budget", [{"seconds": 1e-9}, {"expansions": 1}], ids=str)
def test_any_budget_leaves_a_schedule(blur: SchedulingProblem, budget: dict[str, int]) -> None:
    plan = ExhaustiveSearch().plan(blur, **budget)  # type: ignore[arg-type]
    assert (plan.evaluations, plan.ended_by) == (1, "budget")


def test_it_refuses_what_would_never_end(large: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match=r"harris has about \d.* complete schedules.*seconds=60"):
        ExhaustiveSearch().plan(large)
    plan = ExhaustiveSearch().plan(large, evaluations=50)
    assert (plan.evaluations, plan.ended_by) == (50, "budget")


def test_the_limit_is_a_parameter(blur: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match=r"toy_blur has about .* more than max_schedules=10;"):
        ExhaustiveSearch(max_schedules=10).plan(blur)
    with pytest.raises(InvalidParameter, match="max_schedules=0"):
        ExhaustiveSearch(max_schedules=0)


def test_the_number_of_schedules_is_estimated(blur: SchedulingProblem) -> None:
    space = Rules().space(blur)
    assert estimate_num_schedules(space, walks=20_000) == pytest.approx(915, rel=0.03)
    assert estimate_num_schedules(space, walks=100, seed=1) == estimate_num_schedules(space, walks=100, seed=1)
    with pytest.raises(InvalidParameter, match="walks is 0"):
        estimate_num_schedules(space, walks=0)
