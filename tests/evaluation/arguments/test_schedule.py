"""What may stand for a schedule."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest

import halidegym
from halidegym.agents import BeamSearch, Greedy, Plan
from halidegym.agents.budget import Budget
from halidegym.envs.pipelines import toys
from halidegym.evaluation.arguments.schedule import HELP, find_schedule
from halidegym.native._core import InvalidParameter

EXAMPLE = Path(halidegym.__path__[0]) / "agents/learned/shipped/example.weights"


def test_costs_of_other_weights_or_cores_are_not_shown_beside_ours(tmp_path: Path) -> None:
    problem = toys.problem("toy_blur")
    for agent, of, cost in (
        (BeamSearch(4), problem, True),
        (BeamSearch(4, weights=EXAMPLE), problem, False),
        (BeamSearch(4), problem.with_parallelism(2 * problem.parallelism), False),
    ):
        plan = agent.plan(of)
        plan.save(tmp_path / "plan.json")
        found = find_schedule(problem, str(tmp_path / "plan.json"))
        assert found.schedule == plan.schedule
        assert found.cost == (plan.cost if cost else None)


@pytest.mark.parametrize("name", ["beam", "root"])
@pytest.mark.parametrize("wrong", [{"seconds": -1.0}, {"seconds": math.nan}, {"seed": -1}])
def test_wrong_numbers_are_no_failures_of_an_agent(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        find_schedule(toys.problem("toy_blur"), name, **wrong)


def test_what_is_no_schedule_is_told_what_is_one() -> None:
    with pytest.raises(InvalidParameter, match="'nosuch' is no schedule") as refused:
        find_schedule(toys.problem("toy_blur"), "nosuch")
    names = re.findall(r"^  (.*?)  ", HELP, re.MULTILINE)
    assert len(names) == 6
    for name in ", ".join(names[:-2]).split(", "):
        assert name in str(refused.value)
    assert "plan" in str(refused.value) and "file.py:function" in str(refused.value)


def test_what_is_there_and_no_plain_file_is_not_called_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InvalidParameter, match="is no schedule: it is no plain file"):
            find_schedule(toys.problem("toy_blur"), str(path))


def test_ctrl_c_in_a_search_ends_more_than_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found until then is not what the agent finds, and would be shown and recorded as such."""

    def interrupted(*_: object, **__: object) -> Plan:
        return dataclasses.replace(Greedy().search(toys.problem("toy_blur"), Budget(), 0), ended_by="interrupt")

    monkeypatch.setattr(BeamSearch, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        find_schedule(toys.problem("toy_blur"), "beam")
