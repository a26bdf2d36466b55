"""TAG and UCT as agents; tests/native/bandits.cpp has the tests of their parts."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pipelines_for_tests
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import InvalidParameter, SearchExhausted, SyntheticTree
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def mm() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=4)


@settings(max_examples=30, deadline=None)
@given(
    branching=st.integers(1, 4),
    depth=st.integers(1, 4),
    delta=st.floats(0, 20),
    tree_seed=st.integers(0, 2**64 - 1),
    seed=st.integers(0, 2**32 - 1),
    agent=st.sampled_from([TAG(), TAG(best_rewards=1, delta=5.0), TAG(merge=False), UCT(), UCT(exploration=0.1)]),
)
def test_small_trees_are_searched_to_the_end(
    branching: int, depth: int, delta: float, tree_seed: int, seed: int, agent: NativeSearch
) -> None:
    """No branch that is known completely is entered again, or the search would neither end nor find the optimum."""
    tree = SyntheticTree(branching=branching, depth=depth, delta=delta, seed=tree_seed)
    solution = agent.solve(tree, seed=seed)
    assert solution.ended_by == "finished"
    assert solution.cost == tree.optimum()[0]
    assert solution.evaluations == sum(branching**d for d in range(depth + 1))
    assert solution.expansions == sum(branching**d for d in range(depth))


def test_tag_beats_random_search_on_schedules(mm: SchedulingProblem) -> None:
    tag = fmean(TAG().plan(mm, evaluations=300, seed=seed).cost or 0 for seed in range(5))
    random = fmean(RandomSearch().plan(mm, evaluations=300, seed=seed).cost or 0 for seed in range(5))
    assert tag < random


@pytest.mark.parametrize("agent", [TAG(), UCT()], ids=repr)
def test_seeds_decide(mm: SchedulingProblem, agent: NativeSearch) -> None:
    plans = [agent.plan(mm, evaluations=60, seed=seed) for seed in (1, 1, 2)]
    assert plans[0].candidates == plans[1].candidates != plans[2].candidates
    assert plans[0].evaluations == 60
    assert plans[0].ended_by == "budget"


@pytest.mark.parametrize("agent", [TAG(num_evaluations=40), UCT(num_evaluations=40)], ids=repr)
def test_candidates_are_complete_and_cost_what_they_say(mm: SchedulingProblem, agent: NativeSearch) -> None:
    plan = agent.plan(mm)
    assert plan.evaluations == 40
    assert plan.cost == plan.candidates[0].cost
    for candidate in plan.top(5):
        state = Rules().space(mm).initial_state()
        for action in candidate.actions:
            state = state.apply(action)
        assert state.is_complete
        assert state.cost() == candidate.cost


def test_without_legal_schedules() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.matmul, target=SSE_AVX2, parallelism=16)
    with pytest.raises(SearchExhausted, match="memory_limit"):
        TAG(memory_limit=0).plan(problem)


def test_parameters_are_checked() -> None:
    for arguments in ({"best_rewards": 0}, {"delta": 0.0}, {"delta": float("nan")}, {"num_evaluations": 0}):
        with pytest.raises(InvalidParameter, match=next(iter(arguments))):
            TAG(**arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="exploration"):
        UCT(exploration=-1.0)


class Free:
    """One decision between a complete state that costs nothing and one that earns something."""

    def root(self) -> int:
        return 0

    def is_complete(self, state: int) -> bool:
        return state != 0

    def depth(self, state: int) -> int:
        return int(state != 0)

    def max_depth(self) -> int:
        return 1

    def decisions(self, state: int) -> list[int]:
        return [1, 2]

    def apply(self, state: int, decision: int) -> int:
        return decision

    def cost(self, state: int) -> float:
        return 1.0 - state


def test_only_uct_needs_positive_costs() -> None:
    assert TAG().solve(Free()).cost == -1
    with pytest.raises(InvalidParameter, match="positive costs"):
        UCT().solve(Free())


@pytest.mark.parametrize("merge", ["no", 0.5, 1, None])
def test_what_is_no_truth_value_is_refused(merge: object) -> None:
    with pytest.raises(InvalidParameter, match=f"merge={merge!r} is out of range; give True or False"):
        TAG(merge=merge)  # type: ignore[arg-type]


def test_truth_values_of_numpy_are_taken() -> None:
    assert TAG(merge=np.bool_(False)).merge == np.False_  # type: ignore[arg-type]
