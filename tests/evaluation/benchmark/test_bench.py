"""`halidegym bench`: what it runs, what it leaves, what ends it, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks_for_tests import SUITE, cell_files, halidegym, run_suite, write_suite
from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.pipelines import toys
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.benchmark.report.groups import groups_of
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.suite import SUITES, check_names, load_suite

COMMAND = "from halidegym.evaluation.cli import main; main()"

AGENTS = """
import os
import time
from dataclasses import dataclass
from halidegym.agents import Agent, Greedy

@dataclass(frozen=True)
class Good(Agent):
    def search(self, problem, budget, seed, on_progress=None, timer=None):
        return Greedy().search(problem, budget, seed, on_progress, timer)

class Raises(Good):
    def search(self, problem, budget, seed, on_progress=None, timer=None):
        raise KeyError("nothing there")

class Dies(Good):
    def search(self, problem, budget, seed, on_progress=None, timer=None):
        os.abort()

class Hangs(Good):
    def search(self, problem, budget, seed, on_progress=None, timer=None):
        while True:
            time.sleep(1)

class Leaves(Good):
    def search(self, problem, budget, seed, on_progress=None, timer=None):
        os._exit(0)

class NoPlan(Good):
    def search(self, problem, budget, seed, on_progress=None, timer=None):
        return 7
"""


def outcome(run: Path) -> dict[str, Any]:
    """What must be equal however often a run was ended; seconds cannot be."""
    return {
        name: {key: file["plan"][key] for key in ("cost", "candidates", "evaluations", "schedule")}
        for name, file in cell_files(run).items()
        if not (file["cell"]["budget"] or {}).get("baseline_seconds")
    }


def baseline(**settings: Any) -> dict[str, Any]:
    """Of a suite, agents that have only another baseline."""
    return {"agents": {"beam": settings | {"budgets": []}}}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("bench"))


def test_each_cell_is_a_file_with_its_plan(run: Path) -> None:
    files = cell_files(run)
    assert len(files) == 2 * (1 + 2)
    assert all(file["plan"]["history"] and file["machine"] and not file["failure"] for file in files.values())
    (beam,) = (file for name, file in files.items() if name.startswith("toy_blur-beam"))
    problem = load_problem("toy_blur", target=SUITE["target"], parallelism=4)
    assert beam["plan"]["cost"] == BeamSearch(beam_size=2).plan(problem).cost
    assert beam["problem_hash"] == beam["plan"]["fingerprint"]["problem_hash"] == problem.hash
    for file in files.values():
        budget = file["cell"]["budget"] or {}
        if "evaluations" in budget:
            assert file["plan"]["evaluations"] == 50
        if "baseline_seconds" in budget:
            (of_pipeline,) = (
                other["plan"]["seconds"]
                for other in files.values()
                if (other["cell"]["agent"], other["cell"]["pipeline"]) == ("beam", file["cell"]["pipeline"])
            )
            assert file["budget"] == {"seconds": of_pipeline}


def test_a_killed_run_goes_on_where_it_was(run: Path, tmp_path: Path) -> None:
    suite, killed = write_suite(tmp_path), tmp_path / "killed"
    arguments = ["bench", str(suite), "--output", str(killed)]
    process = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(killed.glob("cells/*.json"))) < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in killed.glob("cells/*.json")}
    assert 3 <= len(before) < 6
    assert halidegym(*arguments).exit_code == 0
    assert all(path.stat().st_mtime_ns == modified for path, modified in before.items())
    assert len(outcome(killed)) == 4
    assert outcome(killed) == outcome(run)


def test_several_cells_at_a_time_give_the_same(run: Path, tmp_path: Path) -> None:
    assert halidegym("bench", write_suite(tmp_path), "--output", tmp_path / "run", "--workers", "3").exit_code == 0
    assert outcome(tmp_path / "run") == outcome(run)


def test_failing_cells_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENTS)
    names = ("Good", "Raises", "Dies", "Hangs", "Leaves", "NoPlan")
    agents = {name: {"agent": f"{tmp_path}/mine.py:{name}", "deterministic": True} for name in names}
    suite = {"budgets": [{"evaluations": 50}], "pipelines": ["toy_blur"], "cell_seconds": 5.0}
    path = write_suite(tmp_path, agents=SUITE["agents"] | agents, **suite)
    result = halidegym("bench", path, "--output", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "8 cells are done, 5 of them failed" in result.output
    failures = {file["cell"]["agent"]: file["failure"] for file in cell_files(tmp_path / "run").values()}
    assert "nothing there" in failures["Raises"]
    assert "SIGABRT" in failures["Dies"]
    assert "still running after 5 s" in failures["Hangs"]
    assert failures["Leaves"] == "its process ended before its time"
    assert "NoPlan.search returned" in failures["NoPlan"]
    assert not failures["Good"] and not failures["random"]
    mended = AGENTS.replace('raise KeyError("nothing there")', "return super().search(problem, budget, seed)")
    (tmp_path / "mine.py").write_text(mended.replace("time.sleep(1)", "return super().search(problem, budget, seed)"))
    assert "5 of them failed" in halidegym("bench", path, "--output", tmp_path / "run").output
    retried = halidegym("bench", path, "--output", tmp_path / "run", "--retry").output
    assert "3 of them failed" in retried
    assert [f"{done}/8 " in retried for done in range(3, 10)] == [False, *[True] * 5, False]


def test_a_further_agent_runs_alone(run: Path, tmp_path: Path) -> None:
    suite, own = write_suite(tmp_path), tmp_path / "run"
    shutil.copytree(run, own)
    before = {path: path.stat().st_mtime_ns for path in own.glob("cells/*.json")}
    header = json.loads((own / "run.json").read_text())
    (own / "run.json").write_text(json.dumps(header | {"version": "0.0.1"}))
    result = halidegym("bench", suite, "--output", own, "--agent", "descent=Greedy")
    assert result.exit_code == 0, result.output
    assert set(own.glob("cells/*.json")) > set(before)
    assert all(path.stat().st_mtime_ns == modified for path, modified in before.items())
    assert "descent" in Run(own).suite.agents
    assert Run(own).header.version == "0.0.1", "which the cells were made by"
    refused = halidegym("bench", suite, "--output", own, "--agent", "descent=RandomSearch")
    assert (refused.exit_code, "another agent descent" in refused.output) == (2, True)


def test_a_run_grows_by_seeds_pipelines_and_budgets(run: Path, tmp_path: Path) -> None:
    own, greedy = tmp_path / "run", {"agent": "Greedy", "deterministic": True, "budgets": [{"evaluations": 20}]}
    shutil.copytree(run, own)
    before = {path: path.stat().st_mtime_ns for path in own.glob("cells/*.json")}
    more = {
        "title": "More toys",
        "pipelines": ["toy_pointwise", *reversed(SUITE["pipelines"])],
        "seeds": [7, 0],
        "budgets": [{"evaluations": 9}, *SUITE["budgets"]],
        "agents": SUITE["agents"] | {"own": greedy},
    }
    for agents in (
        more["agents"],
        more["agents"] | {"own": greedy | {"budgets": [{"evaluations": 5}, *greedy["budgets"]]}},
    ):
        result = halidegym("bench", write_suite(tmp_path, **more | {"agents": agents}), "--output", own)
        assert result.exit_code == 0, result.output
    assert all(path.stat().st_mtime_ns == modified for path, modified in before.items())
    suite = Run(own).suite
    assert (suite.title, suite.seeds, suite.pipelines) == (
        "More toys",
        [0, 7],
        ["toy_blur", "toy_scan", "toy_pointwise"],
    )
    assert [budget.evaluations for budget in suite.budgets] == [50, None, 9]
    assert len(cell_files(own)) == 3 * (1 + 3 * 2 + 2) == len(Run(own).cells)
    verdicts = halidegym("validate", own).output
    assert "0 false" in verdicts and "missing" not in verdicts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": [5]}, "other seeds: 0. Keep what is there"),
        ({"pipelines": ["toy_blur"]}, "other pipelines: toy_scan"),
        ({"budgets": [{"evaluations": 50}]}, "other budgets: the baseline's seconds"),
        ({"budgets": None}, "other budgets: 50 evaluations"),
        ({"parallelism": 2}, "is for 4 cores, not 2"),
        ({"target": "host"}, "another target"),
        ({"cell_seconds": 7.0}, "another cell_seconds"),
        ({"measurement": {"rounds": 6}}, "another measurement"),
        ({"agents": SUITE["agents"] | {"random": "Greedy"}}, "another agent random"),
        (
            {"agents": SUITE["agents"] | {"random": {"agent": "RandomSearch", "budgets": [{"evaluations": 50}]}}},
            "another agent random",
        ),
    ],
)
def test_what_results_depend_on_stays(changes: dict[str, Any], message: str, run: Path, tmp_path: Path) -> None:
    header = (run / "run.json").read_bytes()
    result = halidegym("bench", write_suite(tmp_path, **changes), "--output", run)
    assert (result.exit_code, message in " ".join(result.output.split())) == (2, True), result.output
    assert (run / "run.json").read_bytes() == header


def test_budgets_do_not_replace_an_own_end(tmp_path: Path) -> None:
    agents = {name: {"agent": name, "budgets": []} for name in ("BeamSearch", "Greedy")}
    suite: dict[str, Any] = {"baseline": "Greedy", "budgets": None, "pipelines": ["toy_blur"]}
    run = run_suite(tmp_path, agents=agents, **suite)
    agents["BeamSearch"] = {"agent": "BeamSearch", "budgets": [{"evaluations": 9}]}
    result = halidegym("bench", write_suite(tmp_path, agents=agents, **suite), "--output", run)
    assert (result.exit_code, "other budgets of BeamSearch: none" in result.output) == (2, True), result.output


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (baseline(agent="Beem"), "There is no agent 'Beem': give one of MB2FBS"),
        (baseline(agent="BeamSearch", parameters={"size": 3}), "no parameter size"),
        (baseline(agent="BeamSearch", parameters={"beam_size": 0}), "beam_size=0"),
        (baseline(agent="Greedy", preset="x"), "has no presets"),
        (baseline(agent="none.py:A"), "There is no file none.py"),
        (baseline(agent="json:dumps"), "json:dumps is no agent"),
        (baseline(agent="Autotune", parameters={"weights": "no"}), "agents.beam: Cannot read cost model weights from"),
        (baseline(agent="reference.Adams2019", parameters={"weights_path": "no"}), "Cannot read cost model weights"),
        (baseline(agent="PolicyAgent", parameters={"policy": "none.npz"}), "There is no policy 'none.npz'"),
        (
            baseline(
                agent="IteratedSearch",
                parameters={"agent": {"agent": "RandomSearch", "parameters": {"weights": "no"}}},
            ),
            "Cannot read cost model weights",
        ),
        ({"agents": {"beam": "BeamSearch"}}, "give beam budgets: []"),
        ({"baseline": "bean"}, "baseline 'bean' is none of the agents beam, random"),
        ({"pipelines": ["toy_blurr"]}, "There is no pipeline 'toy_blurr'"),
        ({"pipelines": ["toy_blur", "toy_blur"]}, "toy_blur is there twice"),
        ({"pipelines": ["none.py:build"]}, "There is no file none.py"),
        ({"pipelines": ["transform/16?cost=measured&database=d.db"]}, "Seconds are no budget for transform/16"),
        ({"target": "x86-64-plan9"}, "is no Halide target"),
        ({"target": "host-cuda"}, "has a GPU"),
        ({"budgets": [{}]}, "empty budget"),
        ({"budgets": [{"evaluations": 0}]}, "greater than or equal to 1"),
        ({"budgets": [{"evaluations": 100}] * 2}, "100 evaluations is there twice"),
        ({"agents": {"beam": {"agent": "BeamSearch", "budgets": [{"seconds": 1}] * 2}}}, "1 s is there twice"),
        ({"seeds": [-1]}, "a seed is an integer"),
        ({"title": None}, "title is missing"),
        ({"colour": "red"}, "colour is no setting"),
        ({"measurement": {"rounds": 3}}, "greater than or equal to 6"),
    ],
)
def test_bad_suites_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    settings = changes | ({"budgets": [{"baseline_seconds": 1}]} if changes.get("agents") else {})
    result = halidegym("bench", write_suite(tmp_path, **settings), "--output", tmp_path / "run")
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "run" / "run.json").exists()


def test_files_and_folders_are_refused(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    (tmp_path / "no.yaml").write_text("agents: [")
    (tmp_path / "wrong.py").write_text("def f(:")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for arguments, message in (
        (["bench", "quickest"], "learned, optimality, papers"),
        (["bench", tmp_path / "no.yaml"], "is no YAML"),
        (["bench", suite, "--output", tmp_path / "full"], "has files, but no run"),
        (["bench", suite, "--output", "/proc/run"], "Cannot write /proc/run"),
        (["bench", suite, "--output", tmp_path / "new", "--agent", f"{tmp_path}/wrong.py:A"], "is no Python"),
        (["validate", tmp_path / "full"], "is no run"),
        (["validate", suite], "Cannot read a run"),
    ):
        result = halidegym(*arguments)
        assert (result.exit_code, message in " ".join(result.output.split())) == (2, True), result.output
        assert "Traceback" not in result.output
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["file"]  # and no lock


def test_two_processes_do_not_write_to_one_run(run: Path, tmp_path: Path) -> None:
    with FolderLock(run):
        result = halidegym("bench", write_suite(tmp_path), "--output", run)
    assert (result.exit_code, "Another process is writing" in result.output) == (2, True)


@pytest.mark.parametrize("path", sorted(SUITES.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_suites_are_sound(path: Path) -> None:
    check_names(load_suite(path.stem))


def test_no_agent_beats_the_optimum(tmp_path: Path) -> None:
    suite = load_suite("optimality").model_dump()
    agents = {name: suite["agents"][name] for name in (suite["baseline"], "random", "greedy")}
    few = suite | {"pipelines": ["toy_blur", "toy_scan"], "seeds": [0, 1], "agents": agents}
    run = Run(run_suite(tmp_path, **few))
    (group,) = groups_of(run)
    for name in few["pipelines"]:
        assert [result.cost for result in group.agents[suite["baseline"]][name]] == [toys.optimum(name).cost]
    ratios = {agent: group.cost_ratios(agent) for agent in agents}
    assert all(ratio <= 1 + 1e-12 for found in ratios.values() for each in found.values() for ratio in each)
    assert ratios["greedy"]["toy_scan"][0] < 0.99
    assert ratios["random"]["toy_blur"][1] == pytest.approx(1)


def test_agents_without_budgets_run_to_their_own_ends(tmp_path: Path) -> None:
    agents = {name: {"agent": name, "deterministic": True} for name in ("BeamSearch", "Greedy")}
    run = Run(run_suite(tmp_path, agents=agents, baseline="Greedy", budgets=None, pipelines=["toy_blur"]))
    (group,) = groups_of(run)
    assert (group.budget, set(group.agents)) == ("none", set(agents))
    assert all(result.plan and result.plan["ended_by"] == "finished" for result in run.results().values())


PIPELINE = """
import halide as hl

def build():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * 3
    f.set_estimates([(0, 4096)])
    return f
"""


def test_results_of_a_pipeline_that_has_changed_are_not_compared(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PIPELINE)
    suite = {"pipelines": [f"{file}:build"], "budgets": [{"evaluations": 5}]}
    run = run_suite(tmp_path, **suite)
    file.write_text(PIPELINE.replace("4096", "64"))
    command = ["bench", tmp_path / "toys.yaml", "--output", run, "--agent", "Greedy"]
    for _ in range(2):
        result = halidegym(*command)
        assert (result.exit_code, "is one problem in" in result.output) == (2, True), result.output
    assert len(cell_files(run)) == 2, "the one of the other problem is not kept"
    assert halidegym("report", run, "--output", tmp_path / "report").exit_code == 0
    (of_other,) = run.glob("cells/*beam*")
    cell = json.loads(of_other.read_text())
    of_other.write_text(json.dumps(cell | {"problem_hash": "0" * 64}))
    refused = halidegym("report", run, "--output", tmp_path / "report")
    assert (refused.exit_code, "cannot be compared" in refused.output) == (2, True), refused.output
    file.write_text(PIPELINE)


def test_cells_of_an_agent_that_was_edited_are_named_and_run_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(AGENTS)
    agents = {
        "good": {"agent": f"{file}:Good", "deterministic": True},
        "nested": {"agent": "IteratedSearch", "parameters": {"agent": {"agent": f"{file}:Good"}, "rounds": 1}},
    }
    suite = {"pipelines": ["toy_blur"], "budgets": None, "agents": SUITE["agents"] | agents}
    run = run_suite(tmp_path, **suite)
    command = ["bench", tmp_path / "toys.yaml", "--output", run]
    assert "edited" not in halidegym(*command).output
    file.write_text(AGENTS.replace("Greedy()", "Greedy(random_dropout=50)"))
    for agent in agents:
        assert f"{agent} has been edited since some of its cells were run" in halidegym(*command).output
    before = {path: path.stat().st_mtime_ns for path in run.glob("cells/*.json")}
    again = halidegym(*command, "--edited").output
    assert ("edited" in again, "4 cells are done" in again) == (False, True)
    assert sum(path.stat().st_mtime_ns != modified for path, modified in before.items()) == 2


def test_run_times_of_schedules_that_are_gone_go_too(tmp_path: Path) -> None:
    """An edited agent may come to a schedule that another one has found; or to none at all, as all others."""
    file = tmp_path / "mine.py"
    file.write_text(AGENTS.replace("Greedy()", "Greedy(random_dropout=50)"))
    agents = {name: {"agent": f"{file}:Good"} for name in ("edited", "base")} | {"greedy": {"agent": "Greedy"}}
    measurement = {"rounds": 6, "sample_seconds": 0.05, "threads": 1}
    suite: dict[str, Any] = {"pipelines": ["toy_scan"], "budgets": None, "measurement": measurement}
    run = run_suite(tmp_path, agents=agents, baseline="base", **suite)
    assert "0 false" in halidegym("validate", run).output
    file.write_text(AGENTS)
    assert halidegym("bench", tmp_path / "toys.yaml", "--output", run, "--edited").exit_code == 0
    assert "3 replayed, 1 believed, 0 failed, 0 false" in halidegym("validate", run).output
    for path in run.glob("cells/*.json"):
        failed = {"plan": None, "problem_hash": "", "schedule_key": "", "failure": "nothing was found"}
        path.write_text(json.dumps(json.loads(path.read_text()) | failed))
    assert halidegym("bench", tmp_path / "toys.yaml", "--output", run).exit_code == 0
    assert "3 failed, 0 false" in halidegym("validate", run).output
