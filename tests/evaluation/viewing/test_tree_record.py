"""The moves of a tree search, recorded in a second run."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable

import pytest

from halidegym.agents.agent import Agent
from halidegym.agents.plan import Candidate, Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.mcts import MCTS, Selection
from halidegym.envs.sources import load_problem
from halidegym.evaluation.viewing.moves_data import moves_data
from halidegym.evaluation.viewing.search_tree import search_tree
from halidegym.evaluation.viewing.tree_record import Move, tree_moves

ENSEMBLE = MCTS(iterations=4, trees=5, greedy_trees=1)


def planned(agent: Agent, **budget: float) -> Plan:
    problem = load_problem("toy_stencils", target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=8)
    return agent.plan(problem, seed=3, **budget)  # type: ignore[arg-type]


def recorded(plan: Plan) -> list[Move]:
    return list(tree_moves(plan, plan.rules.space(plan.schedule.problem)))


@pytest.mark.parametrize(
    ("agent", "budget"),
    [
        (ENSEMBLE, {}),
        (dataclasses.replace(ENSEMBLE, selection=Selection("mean_inverse", "added"), threads=2), {}),
        (dataclasses.replace(ENSEMBLE, iterations=None), {"evaluations": 600}),
        (dataclasses.replace(ENSEMBLE, iterations=None, seconds_per_decision=60.0), {"evaluations": 600}),
        (MCTS.preset("mcts_replay"), {"evaluations": 500}),
    ],
    ids=["ensemble", "selection", "budget", "seconds that do not limit", "replay"],
)
def test_the_record_is_that_of_the_search(agent: MCTS, budget: dict[str, float]) -> None:
    plan = planned(agent, **budget)
    moves = recorded(plan)
    assert [move.decided for move in moves] == list(plan.pass_candidates)
    for number, move in enumerate(moves):
        assert move.decided in move.brought
        assert move.decided.cost == min(schedule.cost for schedule in move.brought)
        assert 1 <= len(set(move.brought)) == len(move.brought) <= agent.trees + 1
        assert 0 <= move.tree <= agent.trees
        assert move.is_greedy == (1 <= move.tree <= agent.greedy_trees)
        if number > 0:
            assert move.brought[0] == moves[number - 1].decided
    assert {schedule for move in moves for schedule in move.brought} > set(plan.pass_candidates)


def test_a_search_that_ran_over_ray_is_recorded_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    plan = planned(ENSEMBLE)
    over_ray = dataclasses.replace(plan, agent=repr(dataclasses.replace(ENSEMBLE, backend="ray", workers=2)))
    assert recorded(over_ray) == recorded(plan) != []


def test_the_page_is_told_what_the_trees_would_have_taken() -> None:
    plan = planned(ENSEMBLE)
    moves = recorded(plan)
    tree = search_tree(plan, plan.rules.space(plan.schedule.problem), moves)
    data = moves_data(moves, tree)
    assert len(data) == len(moves) > 2
    for move, told in zip(moves, data, strict=True):
        node = tree.nodes[told["node"]]
        assert told["node"] in tree.paths[told["path"]].nodes
        assert told["options"][0][3] == told["cost"] == pytest.approx(move.decided.cost, rel=1e-4)
        taken = [option for option in told["options"] if option[0] == node.index]
        assert [words for _, words, _, _ in taken] == [node.words]
        assert sum(count for _, _, count, _ in told["options"]) == len(move.brought)
    assert any(len(told["options"]) > 1 for told in data)


def tampered(plan: Plan) -> Plan:
    first, *others = plan.pass_candidates
    return dataclasses.replace(plan, pass_candidates=(Candidate(first.cost / 2, first.actions), *others))


@pytest.mark.parametrize(
    "make",
    [
        lambda: planned(BeamSearch(beam_size=2, passes=2)),
        lambda: planned(MCTS(trees=2, greedy_trees=0), seconds=0.05),
        lambda: planned(MCTS(trees=2, greedy_trees=0, iterations=3, winner="average")),
        lambda: dataclasses.replace(planned(ENSEMBLE), budget=None),
        lambda: dataclasses.replace(planned(ENSEMBLE), agent="MCTS(forest=3)"),
        lambda: tampered(planned(ENSEMBLE)),
    ],
    ids=["beam", "seconds", "average", "budget", "version", "tampered"],
)
def test_what_cannot_be_recorded_is_not(make: Callable[[], Plan]) -> None:
    assert recorded(make()) == []
