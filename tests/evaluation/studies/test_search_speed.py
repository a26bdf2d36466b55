"""Rates of the parts of a search, and how often it allocates memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from halidegym.envs import pipelines
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.evaluation.output.spread import Spread
from halidegym.evaluation.studies import search_speed
from halidegym.evaluation.studies.allocations import count_allocations
from halidegym.native._core import InvalidParameter, Space, State, compute_features, random_rollouts


@pytest.fixture(scope="module")
def space() -> Space:
    return Rules().space(toys.problem("toy_blur"))


def test_what_is_compared_takes_turns() -> None:
    order: list[str] = []
    values = iter((1.0, 10.0, 2.0, 20.0))
    rates = {"a": lambda: next(values), "b": lambda: next(values)}
    assert search_speed.in_turns(rates, 2, order.append) == {"a": Spread((1.0, 2.0)), "b": Spread((10.0, 20.0))}
    assert order == ["a", "b", "a", "b"]


def test_work_is_repeated_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((5.0, 5.0, 5.25, 5.5))
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    assert search_speed.per_second(lambda: 3, 0.5) == 12


@pytest.mark.parametrize(
    "rate",
    [
        search_speed.evaluations,
        search_speed.network_rows,
        search_speed.feature_rows,
        search_speed.rollouts,
        search_speed.simulations,
    ],
)
def test_every_rate_is_measured(rate: Callable[[Space, float], search_speed.Rate], space: Space) -> None:
    assert rate(space, 0.01)() > 0


def test_siblings_follow_each_other(space: Space) -> None:
    states = search_speed.siblings(space, 50)
    assert len(states) >= 50
    root = space.initial_state().expand()
    assert [state.dump() for state in states[: len(root)]] == [root.child(i).dump() for i in range(len(root))]


def test_features_are_counted_by_rows(space: Space) -> None:
    states: list[State] = search_speed.siblings(space, 50)
    assert compute_features(states) == sum(len(state.features()[0]) for state in states)
    assert compute_features([]) == 0
    other = Rules().space(load_problem("toy_pointwise", parallelism=16))
    with pytest.raises(InvalidParameter, match="several spaces"):
        compute_features([*states, other.initial_state()])


def test_rollouts_are_counted(space: Space) -> None:
    assert random_rollouts(space, 7, seed=1) == 7


def test_growth_names_the_numbers_of_funcs() -> None:
    for name, funcs in search_speed.GROWTH.items():
        assert SchedulingProblem.from_pipeline(pipelines.build(name)).num_nodes == funcs


def test_allocations_are_counted_exactly() -> None:
    """The C++ tests hold the counts themselves, where nothing but the search allocates."""
    first, second = (count_allocations(toys.problem("toy_blur")) for _ in range(2))
    assert first == second
    assert first.per_evaluation > 1
    assert first.per_rollout > first.per_evaluation
