"""What is kept of a parent when its children are rated changes nothing: each row is recomputed from scratch and compared."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import halide as hl
import numpy as np
import pytest

import pipelines_for_tests
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import Expansion, InvalidParameter, Space, State, UnsupportedPipeline
from oracle.builder_problem import AVX512

BENCHMARKS = ["harris", "unsharp", "hist", "iir_blur", "max_filter", "mat_mul", "conv_layer", "stencil_chain"]
LARGE_BENCHMARKS = [
    "camera_pipe",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("interpolate", "lens_blur", "local_laplacian")),
]

PIPELINES: dict[str, Callable[[], hl.Pipeline]] = pipelines_for_tests.ALL | {
    f"benchmark {name}": partial(pipelines.build, name) for name in BENCHMARKS
}


def compare(expansion: Expansion, index: int, cost: float) -> None:
    """A child rated and looked at from its parent is the child that is built."""
    child = expansion.child(index)
    assert cost == child.cost()
    for ours, expected in zip(expansion.child_features(index), child.features(), strict=True):
        np.testing.assert_array_equal(ours, expected, strict=True)


def walk(space: Space, seed: int, *, greedy: bool, most_children: int | None) -> int:
    """Compare children of each state on the way to a complete one; return how many."""
    draw = random.Random(seed)
    state, compared = space.initial_state(), 0
    while not state.is_complete:
        expansion = state.expand()
        if len(expansion) == 0:  # a memory limit may leave none
            break
        costs = expansion.costs()
        indices = range(len(expansion))
        for index in indices if most_children is None else draw.sample(indices, min(most_children, len(indices))):
            compare(expansion, index, costs[index])
            compared += 1
        # Some random steps, so that the walks of several seeds differ.
        follow = greedy and draw.random() < 0.85
        state = expansion.child(int(np.argmin(costs)) if follow else draw.choice(indices))
    return compared


@pytest.mark.parametrize("parallelism", [1, 2, 16])
@pytest.mark.parametrize("name", PIPELINES)
def test_children_are_rated_as_if_they_were_built(name: str, parallelism: int) -> None:
    problem = SchedulingProblem.from_pipeline(PIPELINES[name](), target=AVX512, parallelism=parallelism)
    compared = 0
    for seed, rules in enumerate([Rules(), Rules(), Rules(memory_limit=2**20)]):
        compared += walk(rules.space(problem), seed, greedy=seed > 0, most_children=None)
    # Some update stages cannot be made parallel without subtiling.
    try:
        compared += walk(Rules(subtiling=False).space(problem), 3, greedy=True, most_children=None)
    except UnsupportedPipeline:
        assert parallelism > 1
    assert compared > 20


@pytest.mark.parametrize("name", LARGE_BENCHMARKS)
def test_children_in_deep_nests(name: str) -> None:
    """Sites that are presumed from each other over many steps are rare in small pipelines."""
    problem = SchedulingProblem.from_pipeline(pipelines.build(name), target=AVX512, parallelism=16)
    for seed in range(6):
        rules = Rules(memory_limit=None if seed % 3 else 2**40)
        assert walk(rules.space(problem), seed, greedy=True, most_children=None) > 1000


def complete(space: Space) -> State:
    state = space.initial_state()
    while not state.is_complete:
        state = state.random_decision(0)[1]
    return state


def test_costs_have_the_order_of_decisions() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur(), target=AVX512, parallelism=16)
    state = Rules().space(problem).initial_state().apply(0)
    costs = state.expand().costs()
    assert costs.dtype == np.float64
    assert costs.tolist() == [state.apply(index).cost() for index in range(len(costs))]
    assert len(set(costs)) > 1


def test_a_complete_schedule_has_no_children() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur(), target=AVX512, parallelism=16)
    expansion = complete(Rules().space(problem)).expand()
    assert expansion.costs().shape == (0,)
    with pytest.raises(InvalidParameter, match="decision 0 of a state with 0 legal decisions"):
        expansion.child_features(0)
