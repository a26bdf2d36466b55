"""The comparison of the ways to search with a policy: its entrants, and its table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks_for_tests import halidegym
from halidegym.evaluation.papers.guided_searches import EVALUATIONS, HEADER, guided_searches, lines
from halidegym.evaluation.papers.learned_agents import BEAM, GREEDY, Entrant, Run


def _run(pipeline: str, agent: str, cost: float, seed: int = 0) -> Run:
    return Run(pipeline, agent, "default", seed, cost, 9, 9, 4, 1.0)


def test_every_search_has_every_budget() -> None:
    entrants = guided_searches("default")
    assert list(entrants)[:2] == [BEAM, GREEDY]
    by_budget = [{name.rpartition(", ")[0] for name, e in entrants.items() if e.evaluations == n} for n in EVALUATIONS]
    assert by_budget[0] == by_budget[1] and len(by_budget[0]) == (len(entrants) - 2) / 2
    assert len({repr(entrant.agent) for entrant in entrants.values()}) == 2 + len(by_budget[0])


def test_costs_are_compared_with_guided_replay_of_the_same_budget() -> None:
    runs = [
        *(_run(pipeline, agent, cost) for pipeline in "ab" for agent, cost in ((BEAM, 2.0), (GREEDY, 4.0))),
        *(_run(pipeline, "guided replay, 2,000 evaluations", 2.0) for pipeline in "ab"),
        _run("a", "SGBS, 2,000 evaluations", 1.0, seed=0),
        _run("a", "SGBS, 2,000 evaluations", 4.0, seed=1),
        _run("b", "SGBS, 2,000 evaluations", 8.0),
    ]
    beam, _greedy, replay, ours = lines(runs)
    assert all(len(line) == len(HEADER) for line in (beam, replay, ours))
    assert beam[:6] == (BEAM, "-", "0.500", "1.000", "-", "-")
    assert replay[:6] == ("guided replay", "2,000", "0.500", "1.000", "-", "-")
    # As cheap on one pipeline, where the mean of both seeds counts, and four times as dear on the other.
    assert ours[:5] == ("SGBS", "2,000", "1.000", "2.000", "2.000")
    low, high = (float(end) for end in ours[5].split(" to "))
    assert 1.0 <= low <= 2.0 <= high <= 4.0
    assert ours[6:] == ("0", "1", "9", "4")


def test_the_table_is_of_the_policies_that_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_up(names: Sequence[str], entrants: Mapping[str, Entrant], **_: object) -> Iterator[Run]:
        for name, entrant in entrants.items():
            cost = {"": 4.0, "default": 2.0, "default, seed-1": 1.0}[entrant.policy]
            yield Run(names[0], name, entrant.policy, 0, cost, 9, 9, 4, 1.0)

    monkeypatch.setattr(import_module("halidegym.evaluation.commands.reproduce.guided"), "compare", made_up)

    def of_greedy(*policies: str) -> str:
        options = [option for policy in policies for option in ("--policy", policy)]
        result = halidegym("reproduce", "guided", *options, "--pipelines", "1", "--output", tmp_path)
        assert result.exit_code == 0, result.output
        with open(tmp_path / "guided-searches.csv") as table:
            return next(row["cost, of greedy's"] for row in csv.DictReader(table) if row["agent"] == "SGBS")

    assert [of_greedy(), of_greedy("default", "seed-1"), of_greedy("default")] == ["0.500", "0.250", "0.500"]
