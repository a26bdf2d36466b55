"""What becomes of single cells: those whose agents return no plan, and those whose budgets depend on another one."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import pipelines_for_tests
from benchmarks_for_tests import SUITE, cell_files, halidegym, run_suite
from halidegym.evaluation.benchmark.timings import timings_file

AGENT = """
from dataclasses import dataclass, replace
from halidegym.agents import Agent, Greedy
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs.sources import load_problem

class Unsayable(Exception):
    def __str__(self):
        return self.reason

@dataclass(frozen=True)
class Wrong(Agent):
    what: str

    def search(self, problem, budget, seed, on_progress=None, timer=None):
        if self.what == "problem":
            problem = load_problem("toy_scan", parallelism=4)
        return self.changed(Greedy().search(problem, budget, seed))

    def search_space(self, space, budget, seed, on_progress=None, measure=None):
        return self.changed(Greedy().search_space(space, budget, seed))

    def changed(self, found):
        if self.what == "words":
            raise Unsayable
        changes = {"cost": float("nan"), "seconds": float("inf"), "evaluations": -3, "expansions": "many"}
        return replace(found, **{self.what: changes[self.what]}) if self.what in changes else found
"""

REASONS = {
    "cost": "cost=nan is out of range; give a positive number",
    "seconds": "seconds=inf is out of range",
    "evaluations": "evaluations=-3 is out of range",
    "expansions": "expansions='many'",
    "words": "Unsayable: <",
}


def wrong(folder: Path, *whats: str) -> dict[str, Any]:
    (folder / "mine.py").write_text(AGENT)
    agents = {what: {"agent": f"{folder}/mine.py:Wrong", "parameters": {"what": what}} for what in whats}
    return {"agents": SUITE["agents"] | agents, "budgets": [{"evaluations": 50}]}


@pytest.mark.parametrize("pipeline", ["toy_blur", "transform/16"])
def test_a_plan_that_is_none_is_a_failure_of_its_cell(pipeline: str, tmp_path: Path) -> None:
    reasons = REASONS | ({} if "transform" in pipeline else {"problem": "plan for toy_scan"})
    run = run_suite(tmp_path, pipelines=[pipeline], **wrong(tmp_path, "right", *reasons))
    failures = {file["cell"]["agent"]: file["failure"] for file in cell_files(run).values()}
    assert {agent for agent, failure in failures.items() if failure} == set(reasons)
    assert all(reason in failures[what] for what, reason in reasons.items()), failures
    assert halidegym("report", run).exit_code == 0
    assert f"3 replayed, 0 believed, {len(reasons)} failed, 0 false" in halidegym("validate", run).output


@pytest.fixture(scope="module")
def true_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("cells"), pipelines=["toy_blur"])


@pytest.mark.parametrize(
    ("name", "value"), [("cost", float("nan")), ("cost", 0), ("evaluations", -3), ("seconds", -1.0)]
)
def test_results_with_impossible_numbers_are_damaged(name: str, value: float, true_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(true_run, tmp_path / "run"))
    path = next(run.glob("cells/*random*.json"))
    cell = json.loads(path.read_text())
    path.write_text(json.dumps(cell | {"plan": cell["plan"] | {name: value}}))
    for command in ("report", "leaderboard"):
        result = halidegym(command, run)
        words = " ".join(result.output.split())
        assert (result.exit_code, f"or damaged: {name}={value}" in words) == (2, True), result.output


def test_budgets_in_units_of_the_baseline_follow_it(tmp_path: Path) -> None:
    run = run_suite(tmp_path, pipelines=["toy_blur"])
    command = ["bench", tmp_path / "toys.yaml", "--output", run]
    before = {name: file["budget"] for name, file in cell_files(run).items()}
    (baseline,) = run.glob("cells/*beam*")
    done = baseline.read_bytes()
    baseline.unlink()
    assert "1/3 " not in (again := halidegym(*command).output) and "3/3 " in again
    assert "2/3 " in again and "0 false" in halidegym("validate", run).output
    after = {name: file["budget"] for name, file in cell_files(run).items()}
    assert sum(after[name] != budget for name, budget in before.items()) == 1
    baseline.write_bytes(done)  # as if the run had been ended before the others followed
    again = halidegym(*command).output
    assert ("2/3 " in again, "3/3 " in again) == (False, True)
    assert {name: file["budget"] for name, file in cell_files(run).items()} == before


def test_cells_and_timings_of_long_names_have_files(tmp_path: Path) -> None:
    folder = tmp_path / ("ü" * 120)
    folder.mkdir()
    pipeline = f"{shutil.copy(pipelines_for_tests.__file__, folder)}:triangular"
    agents = {name: {"agent": "RandomSearch"} for name in ("long" * 30 + "a", "long" * 30 + "b")}
    run = run_suite(
        tmp_path, pipelines=[pipeline], agents=agents, baseline=next(iter(agents)), budgets=[{"evaluations": 5}]
    )
    files = cell_files(run)
    assert len(files) == 2 and all(len(name.encode()) <= 255 and re.search("long[ab]-0-", name) for name in files)
    names = {timings_file(pipeline * 2), timings_file(f"other {pipeline * 2}")}
    assert len(names) == 2 and all(len(name.encode()) <= 255 for name in names)
