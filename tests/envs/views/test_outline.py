"""Nests as trees of levels, and in words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.views import Level, decision_words, nest_words, outline, status_words
from halidegym.envs.views.outline import folded
from halidegym.native._core import State

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"


def problem(name: str) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(getattr(pipelines_for_tests, name), target=TARGET, parallelism=4)


def episode(name: str, seed: int) -> list[State]:
    """All states of a random episode."""
    states = [Rules().space(problem(name)).initial_state()]
    while not states[-1].is_complete:
        states.append(states[-1].random_decision(seed + len(states))[1])
    return states


def levels(nest: Level) -> list[Level]:
    return [level for level in nest.walk() if level.kind not in ("root", "inlined")]


@pytest.mark.parametrize("name", ["blur", "hist", "matmul"])
@pytest.mark.parametrize("seed", range(3))
def test_costs_add_up_and_levels_are_those_of_the_text(name: str, seed: int) -> None:
    for state in episode(name, seed):
        nest = outline(state)
        assert nest.cost == pytest.approx(state.cost() if state.num_decisions_made else 0.0, rel=1e-5)
        assert sum(level.own_cost for level in shown(nest)) == pytest.approx(nest.cost, rel=1e-9)
        lines = [line.strip().split(" ") for line in state.dump().splitlines() if line.strip()]
        counts = [[word for word in line[1:] if word[:1].isdigit()] for line in lines if line[0] != "realize:"]
        of_levels = [line for line in counts if line]
        assert len(levels(nest)) <= len(of_levels)
        vectors = [int(word.rstrip("vc")) for line in of_levels for word in line if "v" in word]
        assert vectors == [level.lanes for level in levels(nest) if level.vector]


def shown(nest: Level) -> Sequence[Level]:
    """The levels that a picture has rows for."""
    inside = [] if nest.computes else [level for part in nest.parts for level in shown(part)]
    return [nest, *inside]


def test_a_known_nest() -> None:
    state = Rules().space(problem("blur")).initial_state()
    assert outline(state).parts == ()
    found = {}
    while not state.is_complete:
        expansion = state.expand()
        index = int(expansion.costs().argmin())
        found[state.num_decisions_made] = decision_words(expansion.describe(index))
        state = expansion.child(index)
    nest = outline(state)
    (tasks,) = [level for level in nest.walk() if level.kind == "tasks"]
    assert tasks in nest.parts
    text = list(nest_words(nest))
    assert len(text) == nest.num_rows - 1
    assert "100.0%" in text[0] and "parallel tasks" in text[0]
    assert any("computes vectors of" in line for line in text)
    assert any("parallel tasks" in words for words in found.values())
    assert status_words(state, 0).endswith(f"complete, cost {state.cost():.6g}")


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"kind": "inline", "func": "f"}, "inline f into its consumers"),
        ({"kind": "pass", "func": "f"}, "f: nothing to decide"),
        ({"kind": "parallelize", "func": "f", "tasks": (2, 8)}, "cut f into 2 x 8 parallel tasks"),
        (
            {"kind": "compute_at_level", "func": "f", "vector_dim": 1, "depth": 0, "level": "root"},
            "compute f at the root, vectors along dimension 1",
        ),
        (
            {"kind": "compute_at_tile", "func": "f", "vector_dim": 0, "depth": 2, "level": "g", "outer_tile": (4, 3)},
            "tile the loops inside g at depth 2 by 4 x 3, compute f in each tile",
        ),
    ],
)
def test_decisions_in_words(description: dict[str, object], words: str) -> None:
    assert decision_words(description) == words


def test_every_kind_of_decision_has_words_of_its_own() -> None:
    kinds: dict[str, str] = {}
    for state in episode("blur", 0)[:-1]:
        expansion = state.expand()
        for index in range(expansion.count):
            description = expansion.describe(index)
            kinds[description["kind"]] = decision_words(description)
    assert len(kinds) >= 5
    assert len(set(kinds.values())) == len(kinds)


def test_folding_keeps_the_cost_and_what_is_expensive() -> None:
    nest = outline(episode("hist", 1)[-1])
    rows = nest.num_rows
    assert folded(nest, rows) == nest
    smaller = folded(nest, rows - 2)
    assert smaller.num_rows < rows
    assert smaller.cost == nest.cost
    assert sum(level.own_cost for level in shown(smaller)) == pytest.approx(nest.cost)
    assert any(level.kind == "folded" for level in smaller.walk())
    assert folded(nest, 1).num_rows <= folded(nest, rows - 2).num_rows
