"""Schedules made of others are legal, and as like them as they should be."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.agents.proposals import Proposal, beam_winners, proposal_of
from halidegym.agents.tuner import moves
from halidegym.agents.tuner.likeness import distances, likest, steps_of
from halidegym.agents.tuner.styles import RULES
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import Space
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def spaces() -> list[Space]:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=2)
    return [Rules().space(problem.with_parallelism(cores)) for cores in (2, 16)]


@pytest.fixture(scope="module")
def pair(spaces: list[Space]) -> tuple[Proposal, Proposal]:
    a = next(beam_winners(spaces[0], widths=(8,)))
    rng = random.Random(0)
    b = next(
        b for b in (moves.bold_descent(spaces[0], 0.5, rng) for _ in range(99)) if b.state.dump() != a.state.dump()
    )
    return a, b


def is_legal(proposal: Proposal) -> bool:
    return proposal_of("again", proposal.state.space, proposal.actions).state.dump() == proposal.state.dump()


def test_variations_are_other_schedules_nearby(pair: tuple[Proposal, Proposal]) -> None:
    rng = random.Random(1)
    variations = [moves.variation(pair[0], pair[0].state.space, rng) for _ in range(60)]
    assert all(is_legal(variation) for variation in variations)
    assert len({variation.state.dump() for variation in variations}) > 20
    words = [step.words for step in steps_of(pair[0])]
    alike = [sum(own == step.words for own, step in zip(words, steps_of(v), strict=True)) for v in variations]
    assert sum(alike) / len(variations) > len(words) / 2


def test_a_schedule_crossed_with_itself_is_itself(pair: tuple[Proposal, Proposal]) -> None:
    assert moves.crossing(pair[0], pair[0], random.Random(0)).actions == pair[0].actions


def test_a_crossing_has_decisions_of_both(pair: tuple[Proposal, Proposal]) -> None:
    rng = random.Random(0)
    crossings = [moves.crossing(*pair, rng) for _ in range(20)]
    assert all(is_legal(crossing) for crossing in crossings)
    assert {c.state.dump() for c in crossings} - {p.state.dump() for p in pair}


def test_a_schedule_is_made_again_for_other_cores(spaces: list[Space], pair: tuple[Proposal, Proposal]) -> None:
    there = moves.variation(pair[0], spaces[1], random.Random(3))
    assert there.parallelism == 16 and is_legal(there)


def test_the_likest_decision_is_the_same_one_where_it_is_legal(pair: tuple[Proposal, Proposal]) -> None:
    state = pair[0].state.space.initial_state()
    for step in steps_of(pair[0]):
        expansion = state.expand()
        assert likest(expansion, step) == step.action
        assert distances(expansion, step)[step.action] == 0
        assert step.choices == len(expansion)
        state = expansion.child(step.action)


def test_bold_descents_decide_places_the_model_dislikes(spaces: list[Space]) -> None:
    rng = random.Random(0)
    descents = [moves.bold_descent(spaces[0], 0.8, rng) for _ in range(30)]
    assert all(is_legal(descent) for descent in descents)
    assert len({descent.state.dump() for descent in descents}) > 15


def written_out(words: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """How different two decisions are: other places count as so many doublings of a size."""
    weights = {"kind": 3.0, "level": 4.0, "vector_dim": 4.0}
    distance = sum(weight for key, weight in weights.items() if words.get(key) != other.get(key))
    distance += 0.5 * abs(words.get("depth", 0) - other.get("depth", 0))
    for key in ("outer_tile", "inner_tile", "tasks"):
        own, its = words.get(key, ()), other.get(key, ())
        alike = len(own) == len(its)
        distance += sum(abs(math.log2(a / b)) for a, b in zip(own, its, strict=True)) if alike else 2.0
    return distance


def test_distances_are_of_places_and_of_sizes_in_doublings(
    spaces: list[Space], pair: tuple[Proposal, Proposal]
) -> None:
    state = spaces[1].initial_state()
    for own, its in zip(steps_of(pair[0]), steps_of(pair[1]), strict=True):
        expansion = state.expand()
        for step in (own, its):
            expected = [written_out(step.words, expansion.describe(index)) for index in range(len(expansion))]
            assert distances(expansion, step) == pytest.approx(expected)
            assert expected[likest(expansion, step)] == pytest.approx(min(expected))
        state = expansion.child(likest(expansion, its))


def test_styles_are_what_they_are_called(spaces: list[Space], pair: tuple[Proposal, Proposal]) -> None:
    def of(words: Mapping[str, Any]) -> list[bool]:
        tuples = [words[key] for key in ("outer_tile", "inner_tile", "tasks") if key in words]
        return [
            "tasks" not in words or 2 <= math.prod(words["tasks"]) <= 8,
            all(sizes[0] == 1 for sizes in tuples),
            "inner_tile" not in words and words.get("depth", 0) <= 2,
            not words["kind"].startswith("store_at"),
            words["kind"] != "inline",
        ]

    state, seen = spaces[0].initial_state(), set[tuple[bool, ...]]()
    for action in pair[1].actions:
        expansion = state.expand()
        expected = [of(expansion.describe(index)) for index in range(len(expansion))]
        followed = np.array([rule(*expansion.sizes(), 2) for rule in RULES])
        assert followed.T.tolist() == expected
        seen.update(map(tuple, expected))
        state = expansion.child(action)
    assert all({kept[rule] for kept in seen} == {True, False} for rule in range(len(RULES)))
