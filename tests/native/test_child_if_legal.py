"""Decisions of other states are legal exactly if they are listed (docs/specification/search-space.md, section 17)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from halidegym.envs import pipelines
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import Decision, InvalidParameter, Space, State
from oracle.builder_problem import AVX512


def walk(space: Space, seed: int) -> list[State]:
    """The incomplete states of a random schedule."""
    state, states = space.initial_state(), []
    while not state.is_complete:
        states.append(state)
        state = state.random_decision(seed + len(states))[1]
    return states


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("harris", Rules()),
        ("hist", Rules()),
        ("iir_blur", Rules()),
        ("max_filter", Rules()),
        ("unsharp", Rules(subtiling=False)),
        ("unsharp", Rules(memory_limit=2**40)),
    ],
    ids=str,
)
def test_legal_is_what_is_listed(name: str, rules: Rules) -> None:
    draw = random.Random(0)
    space = rules.space(SchedulingProblem.from_pipeline(pipelines.build(name), target=AVX512, parallelism=16))
    states = [state for seed in (0, 1000, 2000) for state in walk(space, seed)]
    expansions = [state.expand() for state in states]
    listed = [[expansion.decision(i) for i in range(len(expansion))] for expansion in expansions]
    everywhere = list({decision: None for decisions in listed for decision in decisions})
    outcomes: Counter[bool] = Counter()
    for state, expansion, own in zip(states, expansions, listed, strict=True):
        assert len(set(own)) == len(own)
        for decision in draw.sample(own, min(10, len(own))) + draw.sample(everywhere, min(30, len(everywhere))):
            child = state.child_if_legal(decision)
            assert (child is not None) == (decision in own)
            outcomes[child is not None] += 1
            if child is not None:
                assert child.dump() == expansion.child(own.index(decision)).dump()
    assert min(outcomes[True], outcomes[False]) > 100


def test_nothing_is_legal_in_a_complete_schedule() -> None:
    space = Rules().space(toys.problem("toy_blur"))
    *_, last = walk(space, 1)
    decision = last.expand().decision(0)
    complete = last.child_if_legal(decision)
    assert complete is not None
    assert complete.is_complete
    assert complete.child_if_legal(decision) is None


def test_decisions_are_values() -> None:
    expansion = Rules().space(toys.problem("toy_blur")).initial_state().expand()
    decision = expansion.decision(0)
    assert decision == expansion.decision(0)
    assert decision != 0
    assert isinstance(decision, Decision)
    assert repr(decision).startswith("<Decision ")
    with pytest.raises(InvalidParameter, match="decision 99"):
        expansion.decision(99)
