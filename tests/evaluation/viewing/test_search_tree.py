"""The tree of what a plan tells of its search."""

from __future__ import annotations

import pytest

from halidegym.agents.agent import Agent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.envs.sources import load_problem
from halidegym.evaluation.viewing.search_tree import search_tree


@pytest.mark.parametrize(
    "agent",
    [BeamSearch(beam_size=2, passes=3), MCTS.preset("mcts_0.5s"), RandomSearch(num_schedules=6)],
    ids=["beam", "mcts", "random"],
)
def test_paths_lead_to_the_schedules_of_the_plan(agent: Agent) -> None:
    problem = load_problem("toy_diamond", target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=4)
    plan = agent.plan(problem, evaluations=2000)
    tree = search_tree(plan, plan.rules.space(problem), siblings=3)
    kind = "move" if isinstance(agent, MCTS) else "pass"
    assert [path.name for path in tree.paths if path.compared is not None] == [
        f"{kind} {k + 1}" for k in range(len(plan.pass_costs))
    ]
    assert tree.paths[0].cost == plan.cost
    assert len(tree.paths) == len(plan.candidates) + len(plan.pass_candidates)
    for path in tree.paths:
        end = tree.nodes[path.nodes[-1]]
        assert end.cost == pytest.approx(path.cost, rel=1e-6)
        for before, number in zip((-1, *path.nodes), path.nodes, strict=False):
            node = tree.nodes[number]
            assert node.parent == before
            assert node.state.num_decisions_made == node.step
            told = path.name == "best schedule" or path.compared is not None
            if not told:
                continue
            assert node.choice is not None
            taken = [sibling for sibling in node.choice.siblings if sibling.index == node.index]
            assert [sibling.words for sibling in taken] == [node.words]
            assert taken[0].cost == node.choice.costs[node.choice.rank - 1] == node.cost
            assert len([sibling for sibling in node.choice.siblings if sibling.known is None]) <= 3
    assert len({(node.parent, node.index) for node in tree.nodes}) == len(tree.nodes)


def test_schedules_are_counted_where_they_part() -> None:
    problem = load_problem("toy_diamond", target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=4)
    plan = RandomSearch(num_schedules=60).plan(problem)
    tree = search_tree(plan, plan.rules.space(problem), siblings=1)
    assert tree.known == len(plan.candidates) > 10
    parted = 0
    for node in filter(lambda node: node.choice, tree.nodes):
        assert node.choice is not None
        through = [sibling.known for sibling in node.choice.siblings if sibling.known is not None]
        before = tree.nodes[node.parent].known if node.parent >= 0 else None
        assert sum(known.count for known in through) == (before.count if before else tree.known)
        assert node.known in through
        assert min(known.best for known in through) == (before.best if before else plan.cost)
        if before:
            total = sum(known.mean * known.count for known in through)
            assert total == pytest.approx(before.mean * before.count)
        parted += len(through) > 1
    assert parted > 0
    few = search_tree(plan, plan.rules.space(problem), schedules=3)
    assert (len(few.paths), few.known) == (4, tree.known)
