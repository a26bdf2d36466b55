"""`halidegym schedule`: by cost, and by run time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents.plan import Plan
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.cli import main

_SPEEDS = re.compile(r"^// \d: .* ms, [\d.]+ \[.*\] times as fast as Adams2019's schedule$", re.MULTILINE)
BLUR = f"{pipelines_for_tests.__file__}:blur"


def schedule(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["schedule", BLUR, "--parallelism", "1", *map(str, arguments)])


def test_the_best_few_by_cost() -> None:
    result = schedule("--beam", "4", "--top", "2")
    assert result.exit_code == 0, result.output
    costs = [float(cost) for cost in re.findall(r"^// \d: cost (\S+)$", result.stdout, re.MULTILINE)]
    assert len(costs) == 2
    assert costs == sorted(costs)
    assert result.stdout.count("compute_root()") >= 2
    assert "//" not in schedule("--beam", "4").stdout


def test_the_fastest_few_by_run_time(tmp_path: Path) -> None:
    database, plan = tmp_path / "times.db", tmp_path / "plan.json"
    options = ("--measure", "--measurements", "4", "--top", "2", "--database", database, "--save", plan)
    result = schedule(*options)
    assert result.exit_code == 0, result.output
    speeds = _SPEEDS.findall(result.stdout)
    assert len(speeds) == 2
    assert "4 schedules timed" in result.stderr
    assert re.search(r"\d measured, best .* ms \(.*x\), Adams2019's schedule .* ms", result.stderr)
    loaded = Plan.load(plan, load_problem(BLUR, parallelism=1))
    assert loaded.measurements == 4
    assert _SPEEDS.findall(schedule(*options).stdout) == speeds  # answered from the record


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--measure", "--beam", "4"), "--measure has no --beam"),
        (("--measure", "--evaluations", "4"), "--measure has no --evaluations"),
        (("--measure", "--agent", "tag"), "leave out --agent tag"),
        (("--measurements", "4"), "--measure"),
        (("--database", "times.db"), "--measure"),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], words: str) -> None:
    result = schedule(*options)
    assert result.exit_code == 2
    assert words in result.stderr
