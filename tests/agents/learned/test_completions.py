"""What the schedules cost that a policy, or greedy search, completes from a decision on."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from halidegym.agents.learned.policies import load_network
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native._core import GuidanceOptions, GuidedSpace, InvalidParameter, Policy, Space, State


@functools.cache
def space() -> Space:
    return Rules().space(load_problem("unsharp", parallelism=16))


def greedily(state: State) -> float:
    while not state.is_complete:
        costs = state.expand().costs()
        state = state.apply(int(np.nanargmin(costs)))
    return state.cost()


def test_completions_without_a_policy_are_greedy_searches_from_there() -> None:
    greedy = GuidedSpace(space(), None, GuidanceOptions(temperature=0.0))
    state = space().initial_state()
    while not state.is_complete:
        expansion = state.expand()
        actions = list(range(0, len(expansion), 1 + len(expansion) // 4))
        costs = greedy.completion_costs(expansion, actions)
        assert costs.tolist() == [greedily(expansion.child(action)) for action in actions]
        state = expansion.child(actions[-1])


def test_completions_that_a_policy_draws_depend_on_the_seed_alone() -> None:
    policy = GuidedSpace(space(), Policy(load_network("default"), space()))
    expansion = space().initial_state().expand()
    while len(expansion) == 1:
        expansion = expansion.child(0).expand()
    one, again, other = (policy.completion_costs(expansion, [0, 1, 2], seed=seed) for seed in (1, 1, 2))
    assert one.tolist() == again.tolist() != other.tolist()
    assert policy.completion_costs(expansion, [2], seed=1).tolist() == one[2:].tolist()
    with pytest.raises(InvalidParameter):
        policy.completion_costs(expansion, [len(expansion)])
    for name in ("unsharp", "toy_pointwise"):
        other_space = Rules().space(load_problem(name, parallelism=16))
        with pytest.raises(InvalidParameter, match="of another space"):
            policy.completion_costs(other_space.initial_state().expand(), [0])
