"""The optima of the toy problems proven again."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner

from disks_for_tests import full_disk
from halidegym.envs.pipelines import toys
from halidegym.evaluation.cli import main
from halidegym.evaluation.commands import optima as optima_command
from halidegym.evaluation.studies.optima import prove_optimum, write_optima


@pytest.mark.parametrize("name", toys.BUILDERS)
def test_the_record_is_proven_again(name: str) -> None:
    assert prove_optimum(name) == toys.optimum(name)


def test_the_record_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "optima.json"
    write_optima(toys.read_optima(), path)
    assert path.read_bytes() == toys.OPTIMA_FILE.read_bytes()
    assert toys.read_optima(path) == toys.read_optima()


def test_a_full_disk_does_not_cost_the_record(tmp_path: Path) -> None:
    path = tmp_path / "optima.json"
    path.write_bytes(toys.OPTIMA_FILE.read_bytes())
    with full_disk(), pytest.raises(OSError, match=r"optima\.json"):
        write_optima({}, path)
    assert toys.read_optima(path) == toys.read_optima()


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
    monkeypatch.setattr(optima_command, "prove_optimum", proven.__getitem__)
    monkeypatch.setattr(optima_command, "write_optima", lambda optima: write_optima(optima, path))
    result = CliRunner().invoke(main, ["optima", "--write"])
    assert result.exit_code == 0, result.output
    assert toys.read_optima(path) == proven
    assert repr(proven["toy_blur"].cost) in result.output


@pytest.mark.parametrize("arguments", [["--check", "--write"], ["--write", "toy_blur"], ["harris"]], ids=str)
def test_senseless_arguments_are_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["optima", *arguments]).exit_code == 2
