"""The optima of the toy problems proven again, and agents measured against them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner

from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.reference import Mullapudi2016
from halidegym.envs.pipelines import toys
from halidegym.evaluation.cli import main
from halidegym.evaluation.commands import optimality as optimality_command
from halidegym.evaluation.studies.optimality import AGENTS, Gap, optimality_gaps, prove_optimum, write_optima


@pytest.mark.parametrize("name", toys.BUILDERS)
def test_the_record_is_proven_again(name: str) -> None:
    assert prove_optimum(name) == toys.optimum(name)


def test_the_record_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "optima.json"
    write_optima(toys.read_optima(), path)
    assert path.read_bytes() == toys.OPTIMA_FILE.read_bytes()
    assert toys.read_optima(path) == toys.read_optima()


def test_no_agent_beats_the_optimum() -> None:
    gaps = optimality_gaps(seeds=range(2), evaluations=100)
    assert [(gap.pipeline, gap.agent) for gap in gaps] == [(name, agent) for name in toys.BUILDERS for agent in AGENTS]
    assert all(cost >= gap.optimum for gap in gaps for cost in gap.costs)
    assert all(len(gap.costs) == 2 for gap in gaps)
    assert any(gap.gap > 0 for gap in gaps if gap.agent == "greedy")


def test_a_larger_budget_closes_gaps() -> None:
    few, many = (
        optimality_gaps({"random": AGENTS["random"]}, ["toy_blur"], range(5), evaluations=n)[0].gap for n in (10, 3000)
    )
    assert many < 0.01 < few


def test_the_exhaustive_search_has_no_gap() -> None:
    assert [gap.gap for gap in optimality_gaps({"all": ExhaustiveSearch()}, ["toy_blur", "toy_scan"])] == [0, 0]


def test_a_gap_is_a_mean_over_seeds() -> None:
    assert Gap("p", "a", costs=(2.0, 3.0), optimum=2.0).gap == pytest.approx(0.25)


def test_agents_without_a_cost_have_no_gap() -> None:
    with pytest.raises(ValueError, match="mullapudi does not rate its schedules"):
        optimality_gaps({"mullapudi": Mullapudi2016()}, ["toy_pointwise"])


def test_optima_are_shown_and_checked() -> None:
    shown = CliRunner().invoke(main, ["optima", "toy_blur", "--check"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert repr(toys.optimum("toy_blur").cost) in shown.output
    assert "1 of 1 optima are proven as recorded." in shown.output
    assert "toy_scan" not in shown.output


def test_a_wrong_record_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = toys.read_optima()
    recorded["toy_blur"] = dataclasses.replace(recorded["toy_blur"], num_schedules=914)
    monkeypatch.setattr(toys, "read_optima", lambda: recorded)
    result = CliRunner().invoke(main, ["optima", "toy_blur", "toy_scan", "--check"])
    assert result.exit_code == 1
    assert "toy_blur is not as recorded." in result.output
    assert "1 of 2 optima are proven as recorded." in result.output


def test_what_is_proven_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "optima.json"
    proven = {
        name: dataclasses.replace(optimum, cost=2 * optimum.cost, actions=optimum.actions[::-1])
        for name, optimum in toys.read_optima().items()
    }
    monkeypatch.setattr(optimality_command, "prove_optimum", proven.__getitem__)
    monkeypatch.setattr(optimality_command, "write_optima", lambda optima: write_optima(optima, path))
    result = CliRunner().invoke(main, ["optima", "--write"])
    assert result.exit_code == 0, result.output
    assert toys.read_optima(path) == proven
    assert repr(proven["toy_blur"].cost) in result.output


@pytest.mark.parametrize("arguments", [["--check", "--write"], ["--write", "toy_blur"], ["harris"]], ids=str)
def test_senseless_arguments_are_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["optima", *arguments]).exit_code == 2


def test_gaps_are_shown() -> None:
    arguments = ["optimality", "toy_stencils", "--seeds", "1", "--evaluations", "100"]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    rows = {
        row[0]: row[1:] for row in (line.strip("│").replace(" ", "").split("│") for line in result.output.splitlines())
    }
    cost = BeamSearch().plan(toys.problem("toy_stencils"), evaluations=100).cost
    assert cost is not None
    gap = f"{cost / toys.optimum('toy_stencils').cost - 1:.2%}"
    assert rows["beam32"] == [gap, gap], "of the toy, and the mean over one"
