"""What is said of cells that an agent made which is not the one of today."""

from __future__ import annotations

import pytest

from halidegym.agents import MCTS, Greedy, IteratedSearch
from halidegym.evaluation.benchmark.agent_claim import check_agent
from halidegym.evaluation.benchmark.problems.claims import FalseClaimError


def said(claimed: str, here: str) -> str:
    with pytest.raises(FalseClaimError) as raised:
        check_agent(claimed, here)
    return str(raised.value)


def test_the_agent_of_today_is_fine() -> None:
    for agent in (Greedy(), MCTS(deviations=2.5), IteratedSearch(Greedy())):
        check_agent(repr(agent), repr(agent))


def test_an_older_version_is_told_by_its_parameters() -> None:
    now = repr(MCTS(draws=8))
    before = now.replace("draws=8, ", "").replace("trees=16", "trees=16, forest='old'")
    assert said(before, now) == (
        "it was made by another version of MCTS, of whose parameters this is new here: draws=8; this is unknown here: "
        "forest='old'. Remove the file, and give the same `halidegym bench` again, which runs this cell anew"
    )


def test_agents_within_agents_are_compared_too() -> None:
    now = repr(IteratedSearch(Greedy()))
    assert "is new here: agent.subtiling=True." in said(now.replace("subtiling=True, ", ""), now)


@pytest.mark.parametrize(
    ("claimed", "reason"),
    [
        ("MCTS(trees=4, draws=1)", "its agent has trees=4 there, and trees=16 here"),
        ("MCTS(trees=4)", "its agent has trees=4 there, and trees=16 here"),  # a lie, whatever else is new
        ("Greedy(trees=16, draws=1)", "agent is 'Greedy(trees=16, draws=1)' there"),
        ("not a call", "agent is 'not a call' there"),
        ("MCTS(trees = 16, draws=1)", "agent is 'MCTS(trees = 16, draws=1)' there"),
    ],
)
def test_another_agent_is_a_false_claim(claimed: str, reason: str) -> None:
    assert reason in said(claimed, "MCTS(trees=16, draws=1)")
