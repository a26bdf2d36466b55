"""`halidegym leaderboard`: which runs are in one table, and by which names."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks_for_tests import halidegym, run_suite
from halidegym.evaluation.benchmark.leaderboard import leaderboard

SMALL = {"pipelines": ["toy_scan"], "budgets": [{"evaluations": 20}]}


def agents(**parameters: Any) -> dict[str, Any]:
    """With parameters of the baseline."""
    beam = {"agent": "BeamSearch", "parameters": parameters, "deterministic": True, "budgets": []}
    return {"beam": beam, "random": "RandomSearch"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("leaderboard"), agents=agents(beam_size=2), **SMALL)


def test_runs_of_the_same_name_are_told_apart(run: Path, tmp_path: Path) -> None:
    for name in ("alice/quick", "bob/quick", "bob/else"):
        shutil.copytree(run, tmp_path / name)
    paths = [tmp_path / "alice/quick", tmp_path / "bob/quick", tmp_path / "bob/else", tmp_path / "bob/../bob/else"]
    ((board,), refused) = leaderboard(paths)
    assert not refused
    names = [entry.run for entry in board.entries if entry.agent == "random"]
    assert sorted(names) == ["alice/quick", "bob/quick", "else"]
    assert len(board.entries) == 2 * 3


def test_runs_with_another_baseline_are_in_another_table(run: Path, tmp_path: Path) -> None:
    other = run_suite(tmp_path, agents=agents(beam_size=3), **SMALL)
    boards, refused = leaderboard([run, other])
    assert (len(boards), refused) == (2, [])


def test_a_damaged_run_is_left_out_and_the_others_are_shown(run: Path, tmp_path: Path) -> None:
    for name in ("cut", "no-run", "whole"):
        shutil.copytree(run, tmp_path / name)
    cell = next((tmp_path / "cut/cells").glob("*random*.json"))
    cell.write_bytes(cell.read_bytes()[:-100])
    (tmp_path / "no-run/run.json").unlink()
    result = halidegym("leaderboard", *(tmp_path / name for name in ("cut", "no-run", "whole")))
    assert result.exit_code == 2, result.output
    assert " whole " in result.output
    assert f"cut is left out: {cell} is no result of a cell, or damaged" in result.output
    assert f"no-run is left out: {tmp_path}/no-run is no run" in result.output


def test_a_submission_whose_bytes_were_changed_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "changed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.json", "{}")
    data = bytearray(path.read_bytes())
    data[30 + len("run.json")] = 0b111  # of the compressed bytes the first: a kind of block that deflate does not have
    path.write_bytes(data)
    result = halidegym("leaderboard", path)
    assert (result.exit_code, "Cannot read a run from" in result.output) == (2, True), result.output


OWN_PIPELINE = """
import halide as hl

def build():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.f32(x) * 2.0
    f.set_estimates([(0, 4096)])
    return hl.Pipeline(f)
"""


def test_pipelines_of_ones_own_are_replayed_if_they_are_trusted(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_PIPELINE)
    run = run_suite(tmp_path, agents=agents(beam_size=2), **{**SMALL, "pipelines": [f"{tmp_path}/mine.py:build"]})
    refused = halidegym("leaderboard", run)
    assert (refused.exit_code, "if you trust it, add --own-pipelines" in refused.output) == (1, True), refused.output
    shown = halidegym("leaderboard", run, "--own-pipelines")
    assert (shown.exit_code, "left out" in shown.output) == (0, False), shown.output


FAILING_AGENT = """
from halidegym.agents import RandomSearch

class Failing(RandomSearch):
    def search(self, *arguments, **named):
        raise RuntimeError("out of luck")
"""


def test_cells_that_failed_are_not_among_those_that_need_trust(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_PIPELINE)
    (tmp_path / "failing.py").write_text(FAILING_AGENT)
    field = {**agents(beam_size=2), "failing": f"{tmp_path}/failing.py:Failing"}
    run = run_suite(tmp_path, agents=field, **{**SMALL, "pipelines": [f"{tmp_path}/mine.py:build"]})
    refused = halidegym("leaderboard", run)
    assert "2 of its results are not valid" in refused.output, refused.output


CHOOSY_AGENT = """
from halidegym.agents import ExhaustiveSearch

class Choosy(ExhaustiveSearch):
    def plan(self, problem, **budget):
        if problem.name != "toy_scan":
            raise RuntimeError("too hard")
        return super().plan(problem, **budget)
"""


def test_no_agent_gets_ahead_by_failing(tmp_path: Path) -> None:
    """Its mean would be that of the pipelines that it copes with."""
    (tmp_path / "choosy.py").write_text(CHOOSY_AGENT)
    choosy = {"agent": f"{tmp_path}/choosy.py:Choosy", "deterministic": True, "budgets": []}
    greedy = {"agent": "Greedy", "deterministic": True, "budgets": []}
    base = {"agent": "RandomSearch", "parameters": {"num_schedules": 1}, "deterministic": True, "budgets": []}
    field = {"base": base, "choosy": choosy, "greedy": greedy}
    run = run_suite(tmp_path, baseline="base", agents=field, budgets=None, pipelines=["toy_scan", "toy_blur"])
    ((board,), _) = leaderboard([run])
    means = {entry.agent: entry.cost and (entry.cost.pipelines, entry.cost.mean.value) for entry in board.entries}
    assert (means["choosy"] or (0, 0))[0] == 1 and (means["choosy"] or (0, 0))[1] > (means["greedy"] or (0, 9))[1]
    assert [entry.agent for entry in board.entries][-1] == "choosy", means
