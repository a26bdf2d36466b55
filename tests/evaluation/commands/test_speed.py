"""`halidegym speed`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from halidegym.evaluation.cli import main
from halidegym.evaluation.commands import speed as speed_command
from halidegym.evaluation.output.spread import Spread
from halidegym.evaluation.parity.check import Check
from halidegym.evaluation.parity.speed import SIDES, Speed

QUICK = ["--runs", "2", "--seconds", "0.01"]


def speed(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["speed", *map(str, arguments)])


def measured(*checks: Check) -> Speed:
    """Ours takes 1, 2 and 4; the plugin six times, and ten times without memoization of features."""
    sides = dict(zip(SIDES, ((1.0, 2.0, 4.0), (6.0, 12.0, 24.0), (10.0, 20.0, 40.0)), strict=True))
    spreads = {side: Spread(values) for side, values in sides.items()}
    return Speed("harris", spreads, spreads, checks, 100, 50, Spread((0.1, 0.2, 0.4)))


def test_the_ratios_are_to_the_better_plugin_setting() -> None:
    found = measured()
    assert found.speedup == found.memory_ratio == Spread((6.0, 6.0, 6.0))
    assert found.evaluation_rate == Spread((500.0, 250.0, 125.0))
    assert found.distinct_share == 0.5


@pytest.mark.parametrize("equal", [True, False])
def test_a_difference_is_a_failure(equal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    check = Check("cost evaluations", "100", "100" if equal else "101", equal)
    monkeypatch.setattr(speed_command, "compare_speed", lambda *_, **__: measured(check, check))
    result = speed("harris", "--part", "beam")
    assert result.exit_code == (0 if equal else 1)
    told = "DIFFERENT. harris: cost evaluations 100, and the plugin's 101"
    assert result.output.count(told) == (0 if equal else 1)


@pytest.mark.alone
def test_a_beam_is_compared_with_the_plugin() -> None:
    result = speed("toy_blur", "--part", "beam", "--beam", "4", "--passes", "2", "--runs", "1")
    assert result.exit_code == 0, result.output
    assert "CPU time, plugin / ours" in result.output


def test_parts_are_measured_and_written(tmp_path: Path) -> None:
    table = tmp_path / "speed.csv"
    parts = ["--part", "network", "--part", "allocations", "--part", "search"]
    result = speed("toy_blur", *parts, *QUICK, "--csv", table)
    assert result.exit_code == 0, result.output
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["part"] for row in rows] == 4 * ["network"] + 2 * ["allocations"] + 4 * ["search"]
    assert {row["pipeline"] for row in rows} == {"toy_blur"}
    for row in rows:
        least, median, greatest = (float(row[name].replace(",", "")) for name in ("least", "median", "greatest"))
        assert 0 < least <= median <= greatest
        assert row["quantity"] in result.output


def test_environments_are_compared_with_cart_pole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_command, "_TOYS", speed_command.Vectors(size=8, native_size=6, small_room=32))
    monkeypatch.setattr(speed_command, "_POOL", 3)
    result = speed("toy_blur", "--part", "environment", *QUICK)
    assert result.exit_code == 0, result.output
    for quantity in (
        "gym.make / CartPole-v1",
        "gym.make, max_decisions=32 / CartPole-v1",
        "gym.make, copy=False / CartPole-v1",
        "gym.make_vec of 8 / CartPole-v1",
        "gym.make_vec of 8, copy=False: steps / s",
        "gym.make_vec of 8, copy=False, max_decisions=32 / CartPole-v1",
        "_core.VectorEnvironment of 6 / CartPole-v1",
        "gym.make_vec of 8 / gym.make",
        "gym.make_vec of 8 / SyncVectorEnv of 8",
        "gym.make_vec of 8, 2 threads / 1",
        "_core.VectorEnvironment of 6, 2 threads / 1",
        "pool=3 / the same pipelines, each alone",
    ):
        assert quantity in result.output


def test_growth_is_relative_to_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_command.search_speed, "GROWTH", {"toy_pointwise": 2, "toy_blur": 3})
    result = speed("--part", "growth", *QUICK)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines() if "that of" in line]
    assert [line[1] for line in lines] == ["toy_pointwise", "toy_blur"]
    assert lines[0][-3:] == ["1", "1", "1"]


@pytest.mark.parametrize("command", [["speed", "toy_blur"], ["rollouts", "toy_blur"]], ids=lambda command: command[0])
@pytest.mark.parametrize("seconds", ["0", "nan", "-1"])
def test_a_rate_needs_some_seconds(command: list[str], seconds: str) -> None:
    result = CliRunner().invoke(main, [*command, "--seconds", seconds])
    assert (result.exit_code, "Invalid value for '--seconds': " in result.output) == (2, True), result.output


def test_a_table_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_command, "compare_speed", lambda *_, **__: pytest.fail("it has begun"))
    mine = tmp_path / "mine.py"
    mine.write_text("mine")
    for pipeline, table, message in (
        ("harris", tmp_path / "none" / "speed.csv", f"There is no folder {tmp_path / 'none'}"),
        (f"{mine}:build", mine, "--csv and [PIPELINE]... are one file"),
    ):
        result = speed(pipeline, "--part", "beam", "--csv", table)
        assert (result.exit_code, message in " ".join(result.stderr.split())) == (2, True), result.output
    assert mine.read_text() == "mine"


def test_what_was_measured_before_an_interruption_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str, *_: object, **__: object) -> Speed:
        if name == "unsharp":
            raise KeyboardInterrupt
        return measured(Check("cost evaluations", "100", "101", False))

    monkeypatch.setattr(speed_command, "compare_speed", interrupted)
    table = tmp_path / "speed.csv"
    result = speed("harris", "unsharp", "--part", "beam", "--csv", table)
    assert result.exit_code == 1, result.output
    assert "DIFFERENT. harris" in result.output
    assert 'beam,harris,"CPU time, plugin / ours",6,6,6' in table.read_text()
    assert speed("unsharp", "--part", "beam", "--csv", table).output.strip() == "Aborted!"
    assert "harris" in table.read_text()
