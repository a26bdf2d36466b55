"""Suites, and what in them does not fit together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks_for_tests import SUITE, write_suite
from halidegym.evaluation.benchmark.suite import AgentSettings, check_names, load_suite, with_more_agents
from halidegym.native._core import InvalidParameter

FIFTY, SIXTY = {"evaluations": 50}, {"evaluations": 60}


@pytest.mark.parametrize(
    ("baseline", "other", "is_comparable"),
    [
        (None, None, True),
        (None, [FIFTY], True),
        (None, [], True),
        (None, [SIXTY], False),
        ([FIFTY], None, False),
        ([FIFTY, SIXTY], [SIXTY], True),
        ([], [SIXTY], True),
    ],
)
def test_each_budget_has_a_baseline(baseline: Any, other: Any, is_comparable: bool, tmp_path: Path) -> None:
    agents = {"beam": {"agent": "BeamSearch", "budgets": baseline}, "own": {"agent": "RandomSearch", "budgets": other}}
    budgets = [FIFTY] if baseline != [FIFTY] else [FIFTY, SIXTY]
    path = write_suite(tmp_path, agents=agents, budgets=budgets)
    if is_comparable:
        load_suite(path)
    else:
        with pytest.raises(InvalidParameter, match="baseline beam has no result with 60 evaluations to compare"):
            load_suite(path)


def test_no_further_agent_takes_the_place_of_another(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    added = with_more_agents(suite, ["random=RandomSearch", "a.py:Mine", "other=b.py:Mine"])
    assert {name: added.agents[name].agent for name in ("Mine", "other")} == {"Mine": "a.py:Mine", "other": "b.py:Mine"}
    assert added.agents["random"] == AgentSettings(agent=SUITE["agents"]["random"])
    for texts in (["random=Greedy"], ["a.py:Mine", "b.py:Mine"]):
        with pytest.raises(
            InvalidParameter, match=r"there is another agent \w+; give yours another name, as in --agent my-"
        ):
            with_more_agents(suite, texts)


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "a\ttab"])
def test_names_that_no_table_can_show_are_refused(name: str, tmp_path: Path) -> None:
    suite = with_more_agents(load_suite(write_suite(tmp_path)), [f"{name}=Greedy"])
    with pytest.raises(InvalidParameter, match=rf"An agent is called {re.escape(repr(name))}; give a name of one line"):
        check_names(suite)


@pytest.mark.parametrize("kind", ["evaluations", "expansions", "measurements"])
def test_budgets_that_no_search_takes_are_refused_before_any_runs(kind: str, tmp_path: Path) -> None:
    load_suite(write_suite(tmp_path, budgets=[{kind: 2**63 - 1}]))
    with pytest.raises(InvalidParameter, match=rf"budgets\.0\.{kind}"):
        load_suite(write_suite(tmp_path, budgets=[{kind: 2**63}]))
