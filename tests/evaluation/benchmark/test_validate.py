"""`halidegym validate`: true runs pass, and whatever was changed in one is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks_for_tests import SUITE, cell_files, halidegym, run_suite

BUDGETS = [{"evaluations": 50}]
MEASURED = SUITE["agents"] | {
    "halide's": {
        "agent": "reference.Adams2019",
        "parameters": {"beam_size": 2},
        "deterministic": True,
        "budgets": [],
    }
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    measurement = {"rounds": 6, "sample_seconds": 0.05, "threads": 1}
    folder = tmp_path_factory.mktemp("validate")
    return run_suite(folder, budgets=BUDGETS, agents=MEASURED, pipelines=["toy_scan"], measurement=measurement)


def test_a_true_run_is_valid(run: Path, tmp_path: Path) -> None:
    result = halidegym("validate", run, "--submission", tmp_path / "mine.zip")
    assert result.exit_code == 0, result.output
    assert "2 replayed, 2 believed, 0 failed, 0 false" in result.output
    assert "3 replayed, 1 believed" in halidegym("validate", tmp_path / "mine.zip", "--again").output


def test_a_run_with_missing_cells_is_validated_but_makes_no_submission(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (copy / "cells" / next(name for name in cell_files(copy) if "random-0" in name)).unlink()
    shutil.rmtree(copy / "timings")
    result = halidegym("validate", copy)
    assert (result.exit_code, "0 false, 1 missing" in result.output) == (0, True), result.output
    result = halidegym("validate", copy, "--submission", tmp_path / "mine.zip")
    assert (result.exit_code, "1 of its 3 cells are missing" in result.output) == (2, True), result.output
    assert not (tmp_path / "mine.zip").exists()


def change(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(document: dict[str, Any]) -> None:
        *path, last = key.split(".")
        for part in path:
            document = document[int(part) if part.isdigit() else part]
        document[last] = value(document[last]) if callable(value) else value

    return apply


def cheaper(document: dict[str, Any]) -> None:
    for key in ("plan.cost", "plan.candidates.0.cost"):
        change(key, lambda cost: cost * 0.9)(document)


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (cheaper, "cost is"),
        (change("plan.cost", lambda cost: cost * 0.9), "is not the one of its schedule"),
        (change("plan.candidates.0.cost", lambda cost: cost * 0.9), "is not the one of its schedule"),
        (change("plan.candidates.0.actions", lambda actions: [*actions[:-1], 10**6]), "damaged"),
        (change("plan.candidates.0.actions", lambda actions: actions[:-1]), "damaged"),
        (change("plan.schedule.cpp", lambda text: text.replace("parallel", "serial")), "schedule is another one"),
        (change("plan.history", lambda steps: [*steps, {**steps[-1], "cost": steps[-1]["cost"] / 2}]), "history"),
        (
            change("plan.history", lambda steps: [{**steps[-1], "seconds": 0.0, "cost": 1e-9}, *steps]),
            "history is no curve",
        ),
        (change("plan.fingerprint.weights_hash", "0" * 64), "fingerprint is"),
        (change("plan.fingerprint.problem_hash", "0" * 64), "plan for toy_scan"),
        (change("problem_hash", "0" * 64), "another problem"),
        (change("schedule_key", "0" * 64), "schedule_key is"),
        (change("plan.agent", "RandomSearch()"), "another version of RandomSearch"),
        (change("plan.agent", "Greedy()"), "agent is"),
        (change("plan.seed", 7), "seed is"),
        (change("cell.seed", 7), "another cell"),
        (
            change("budget", {"evaluations": 10**9}),
            "budget is {'evaluations': 1000000000} there, and {'evaluations': 50} here",
        ),
        (change("plan.budget.evaluations", 10**9), "budget of the plan is"),
        (change("plan.budget.seconds", 5.0), "budget of the plan is"),
        (change("machine", "another"), "another machine"),
        (change("scheduled", "AAAA"), "its agent is none"),
    ],
)
def test_what_was_changed_in_a_cell_is_found(
    tamper: Callable[[dict[str, Any]], None], reason: str, run: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    name = next(name for name in cell_files(copy) if "random-0" in name)
    path = copy / "cells" / name
    document = json.loads(path.read_text())
    tamper(document)
    assert document != json.loads(path.read_text())
    path.write_text(json.dumps(document))
    result = halidegym("validate", copy, "--submission", tmp_path / "mine.zip")
    assert result.exit_code == 1, result.output
    (line,) = (line for line in result.output.splitlines() if name in line)
    assert reason in line
    assert not (tmp_path / "mine.zip").exists()


def test_files_of_other_cells_and_run_times_are_found(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    name = next(iter(cell_files(copy)))
    shutil.copy(copy / "cells" / name, copy / "cells" / "other.json")
    (timings,) = (copy / "timings").glob("*.json")
    document = json.loads(timings.read_text())
    *_, comparison = document["comparisons"].values()
    comparison["ratio"] = comparison["high"] = 100.0
    timings.write_text(json.dumps(document))
    result = halidegym("validate", copy)
    assert result.exit_code == 1
    assert "cells/other.json: it is of no cell" in result.output
    assert "a ratio of 100.000 does not follow" in result.output


def test_damaged_files_are_told(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    path = copy / "cells" / next(iter(cell_files(copy)))
    true = path.read_text()
    changed = (true.replace('"history": [', '"history": [7,'), true.replace('"pipeline": ', '"pipelines": '))
    for text in ("", "[]", "{}", true[:-100], *changed):
        path.write_text(text)
        result = halidegym("validate", copy)
        assert (result.exit_code, "Remove it, and run again" in " ".join(result.output.split())) == (2, True), (
            result.output
        )
    path.write_text(true)
    (timings,) = (copy / "timings").glob("*.json")
    for document in ({}, {"comparisons": []}, {"comparisons": {"key": {}}}, {"comparisons": {}, "failure": None}):
        timings.write_text(json.dumps({"pipeline": "toy_scan"} | document))
        for command in ("validate", "report", "leaderboard"):
            result = halidegym(command, copy)
            words = " ".join(result.output.split())
            assert (result.exit_code, "The run times of toy_scan in" in words, "run again" in words) == (
                2,
                True,
                True,
            ), result.output


NESTED = """
from pathlib import Path
Path(__file__).with_suffix(".imported").touch()
from halidegym.agents import Greedy
class Mine(Greedy):
    pass
"""


def test_no_code_of_agents_within_agents_is_run(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(NESTED)
    within = {"agent": "IteratedSearch", "parameters": {"agent": {"agent": f"{source}:Mine"}, "rounds": 2}}
    run = run_suite(tmp_path, agents=SUITE["agents"] | {"nested": within}, budgets=BUDGETS, pipelines=["toy_scan"])
    source.with_suffix(".imported").unlink()
    for _ in range(2):
        result = halidegym("validate", run)
        assert result.exit_code == 0, result.output
        assert "3 replayed, 0 believed, 0 failed, 0 false" in result.output
        assert not source.with_suffix(".imported").exists()
        source.unlink(missing_ok=True)


def test_cells_that_failed_are_no_false_claims_where_their_pipeline_cannot_be_built(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "import halide as hl\n\ndef no_estimates():\n    f = hl.Func('f')\n    f[hl.Var('x')] = 1\n    return f\n"
    )
    run = run_suite(tmp_path, budgets=BUDGETS, pipelines=["toy_scan", f"{source}:no_estimates"])
    result = halidegym("validate", run, "--submission", tmp_path / "mine.zip")
    assert result.exit_code == 0, result.output
    assert "2 replayed, 0 believed, 2 failed, 0 false" in result.output
    assert (tmp_path / "mine.zip").exists()
