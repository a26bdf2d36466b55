"""`halidegym bench --workers ray`: the same as without, whoever dies, and one at a time where the clock counts."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks_for_tests import SUITE, cell_files, halidegym, run_suite, write_suite
from halidegym.native import _core
from ray_nodes import RayNodes

COMMAND = "from halidegym.evaluation.cli import main; main()"
COUNTED = {"budgets": [{"evaluations": 50}]}

AGENTS = """
import os, time
from dataclasses import dataclass
from pathlib import Path
from halidegym.agents import Agent, Greedy

@dataclass(frozen=True)
class Told(Agent):
    log: str = ""

    def search(self, problem, budget, seed, on_progress=None, timer=None):
        begin = time.monotonic()
        with open(self.log, "a") as log:
            print(self.name, os.getpid(), file=log)
        self.wait()
        with open(f"{self.log}.intervals", "a") as log:
            print(os.environ["RAY_RAYLET_PID"], begin, time.monotonic(), file=log)
        return Greedy().search(problem, budget, seed)

    def wait(self):
        pass

class HangsOnce(Told):
    def wait(self):
        if Path(self.log).read_text().split().count("HangsOnce") == 1:
            time.sleep(600)

class Measures(Told):
    measures = True

    def wait(self):
        time.sleep(0.5)
"""


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    """Two nodes, one of which has room for two cells."""
    with RayNodes() as nodes:
        nodes.add(num_cpus=1, resources={"timing": 1})
        nodes.add(num_cpus=2, resources={"timing": 1})
        yield nodes


def on_ray(environment: dict[str, str], folder: Path, **changes: Any) -> subprocess.Popen[str]:
    """The command that runs the suite on a cluster."""
    arguments = ["bench", str(write_suite(folder, **changes)), "--output", str(folder / "run"), "--workers", "ray"]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit status of a command, and what it said."""
    _, said = process.communicate()
    return process.returncode, said


def agents(folder: Path, *names: str) -> dict[str, Any]:
    """The baseline and agents that tell what they do, in `log`."""
    (folder / "mine.py").write_text(AGENTS)
    parameters = {"log": str(folder / "log")}
    mine = {name: {"agent": f"{folder}/mine.py:{name}", "parameters": parameters} for name in names}
    return {"beam": SUITE["agents"]["beam"], **mine}


def outcome(run: Path) -> dict[str, Any]:
    """What must be equal."""
    kept = ("agent", "seed", "cost", "candidates", "pass_costs", "evaluations", "expansions", "schedule", "fingerprint")
    return {name: {key: file["plan"][key] for key in kept} for name, file in cell_files(run).items()}


def worker_above(process: int) -> int:
    """The Ray worker of which a process is a child, or a child's child."""
    while not Path(f"/proc/{process}/cmdline").read_text().startswith("ray::"):
        process = int(re.search(r"^PPid:\t(\d+)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)[1])  # type: ignore[index]
    return process


@pytest.mark.slow
def test_plans_are_those_of_one_machine(nodes: RayNodes, tmp_path: Path) -> None:
    (tmp_path / "serial").mkdir()
    suite = {"seeds": [0, 1], **COUNTED}
    serial = run_suite(tmp_path / "serial", **suite)
    status, said = ended(on_ray(nodes.environment(), tmp_path, **suite))
    assert status == 0, said
    assert len(outcome(serial)) == 2 * (1 + 2)
    assert outcome(tmp_path / "run") == outcome(serial)


@pytest.mark.slow
def test_a_cell_whose_worker_was_killed_is_run_again_and_no_other(nodes: RayNodes, tmp_path: Path) -> None:
    suite = {"pipelines": ["toy_blur"], "agents": agents(tmp_path, "HangsOnce", "Told"), **COUNTED}
    process = on_ray(nodes.environment(), tmp_path, **suite)
    deadline = time.monotonic() + 240
    log = tmp_path / "log"
    while not (log.exists() and "HangsOnce" in log.read_text() and len(cell_files(tmp_path / "run")) == 2):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("run/cells/*.json")}
    searches = dict(line.split() for line in log.read_text().splitlines())
    os.kill(worker_above(int(searches["HangsOnce"])), signal.SIGKILL)
    status, said = ended(process)
    assert (status, "3 cells are done. Next" in said) == (0, True), said
    assert sorted(line.split()[0] for line in log.read_text().splitlines()) == ["HangsOnce", "HangsOnce", "Told"]
    assert all(path.stat().st_mtime_ns == modified for path, modified in before.items())
    assert not any(file["failure"] for file in cell_files(tmp_path / "run").values())


@pytest.mark.slow
def test_cells_that_measure_never_overlap_on_a_node(nodes: RayNodes, tmp_path: Path) -> None:
    suite = {"pipelines": ["toy_blur"], "agents": agents(tmp_path, "Measures"), "seeds": [0, 1, 2, 3, 4], **COUNTED}
    status, said = ended(on_ray(nodes.environment(), tmp_path, **suite))
    assert status == 0, said
    by_node: dict[str, list[tuple[float, float]]] = {}
    for line in (tmp_path / "log.intervals").read_text().splitlines():
        node, begin, end = line.split()
        by_node.setdefault(node, []).append((float(begin), float(end)))
    assert sum(map(len, by_node.values())) == 5
    assert len(by_node) == 2
    for intervals in by_node.values():
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(sorted(intervals)))


@pytest.mark.slow
def test_unfit_clusters_are_refused(tmp_path: Path) -> None:
    suite = {"pipelines": ["toy_blur"], "agents": agents(tmp_path, "Measures"), **COUNTED}
    with RayNodes() as nodes:
        nodes.add(num_cpus=1)
        status, said = ended(on_ray(nodes.environment(), tmp_path, **suite))
        assert (status, "No node of the Ray cluster may measure" in said) == (2, True), said
        nodes.add(num_cpus=1, env_vars={"PYTHONPATH": str(other_build(tmp_path))})
        status, said = ended(on_ray(nodes.environment(), tmp_path, **suite))
        assert status == 2, said
        assert "of the Ray cluster has core " in said and "install the same there" in said
        assert "Traceback" not in said


def other_build(folder: Path) -> Path:
    """A folder to import another build of the core from."""
    package = Path(_core.__file__).parents[1]
    own = folder / "other" / "halidegym"
    (own / "native").mkdir(parents=True)
    for path in (*package.iterdir(), *(package / "native").iterdir()):
        copy = own / path.relative_to(package)
        if path.name != "__pycache__" and not copy.exists():
            copy.symlink_to(path)
    core = own / "native" / Path(_core.__file__).name
    core.unlink()
    shutil.copy(_core.__file__, core)
    with core.open("ab") as file:
        file.write(b"\0")
    return own.parent


def test_without_ray_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("halidegym.envs.processes.ray_cluster", "halidegym.evaluation.benchmark.ray_lanes"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    result = halidegym("bench", write_suite(tmp_path), "--output", tmp_path / "run", "--workers", "ray")
    assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output
    assert "needs ray, which is not installed; run pip install 'halidegym[ray]'" in result.output


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere"])
def test_clusters_that_are_not_there_are_refused(address: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="it comes with the extra ray")
    status, said = ended(on_ray(os.environ | {"RAY_ADDRESS": address}, tmp_path, **COUNTED))
    assert (status, f"Cannot connect to the Ray cluster at {address}: " in said) == (2, True), said
    assert "Traceback" not in said


@pytest.mark.parametrize("number", ["0", "many"])
def test_workers_are_a_number_or_ray(number: str, tmp_path: Path) -> None:
    result = halidegym("bench", write_suite(tmp_path), "--output", tmp_path / "run", "--workers", number)
    assert (result.exit_code, "nor ray" in result.output) == (2, True)
