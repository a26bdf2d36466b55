"""Collecting: each set once, whatever happens in between."""

from __future__ import annotations

import functools
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import halide as hl
import numpy as np
import pytest
from click.testing import CliRunner

import pipelines_for_tests
from collections_for_tests import measured_collection
from halidegym.agents import BeamSearch
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.sources import load_problem
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.evaluation.cli import main
from halidegym.native._core import InvalidParameter, Network
from halidegym.native.weights import builtin_weights
from halidegym.training.measured.collect import Collector, CollectSettings, Wanted
from halidegym.training.measured.collection import MeasuredCollection, file_name
from halidegym.training.measured.sets import NotCollected, Recipe, SetName, draw
from halidegym.training.measured.store import MeasuredStore

pytest.importorskip("pyarrow", reason="an optional dependency")

SETTINGS = CollectSettings(
    Recipe(schedules=8, parallelisms=(2,)), TimingSettings(time_limit_s=2.0), rounds=2, compilers=1, compile_s=math.inf
)
OF_THE_USER = "// no kernel of ours"
#: Small ones, which compile quickly.
NAMES = ["random-train-v1/34", "random-validation-v1/40"]


def wanted(*names: str) -> list[Wanted]:
    return [Wanted(SetName(name, 1), functools.partial(load_problem, name, parallelism=1)) for name in names]


def single() -> SchedulingProblem:
    """A problem with hardly any choice."""
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x
    f.set_estimates([(0, 1)])
    return SchedulingProblem.from_pipeline(f, parallelism=1)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "kernels").mkdir()
    (folder / "kernels" / "blur.cpp").write_text(OF_THE_USER)
    with pytest.MonkeyPatch.context() as patch, MeasuredStore(folder) as store:
        patch.setattr(tempfile, "tempdir", str(folder))
        assert list(Collector(store, SETTINGS).collect(wanted(*NAMES), seconds=600)) == [
            SetName(name, 1) for name in NAMES
        ]
    return folder


def test_schedules_are_measured_with_what_cost_models_read(collected: Path) -> None:
    collection = MeasuredCollection.load(collected)
    assert [schedule.split for schedule in collection.schedules] == ["train"] * 8 + ["validation"] * 8
    assert {"greedy", "random", "careless"} <= {schedule.kind for schedule in collection.schedules}
    for schedule in collection.schedules:
        assert (schedule.outcome, schedule.threads) == ("ok", 1)
        assert schedule.run_time_s > 0 and len(schedule.turns_s) == 2
        problem = load_problem(schedule.pipeline, parallelism=schedule.parallelism)
        assert problem.hash == schedule.problem
        state = Schedule.from_actions(problem, Rules(), schedule.actions)._state  # type: ignore[attr-defined]
        np.testing.assert_array_equal(state.features()[1], schedule.schedule_features)
        assert state.cost() == schedule.cost
        rated = Network(builtin_weights()).predict(
            schedule.pipeline_features, schedule.schedule_features, schedule.parallelism
        )
        assert rated[0] == pytest.approx(schedule.cost, rel=1e-6)
    assert not list(collected.glob("halidegym-scratch-*"))


def test_files_of_others_in_the_folder_stay(collected: Path) -> None:
    assert (collected / "kernels" / "blur.cpp").read_text() == OF_THE_USER


def test_what_is_there_is_not_measured_again(collected: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError(arguments)

    before = {path: path.read_bytes() for path in collected.glob("measured*")}
    monkeypatch.setattr(Collector, "_compiled", never)
    with MeasuredStore(collected) as store:
        assert len(list(Collector(store, SETTINGS).collect(wanted(*NAMES), seconds=600))) == 2
    assert {path: path.read_bytes() for path in collected.glob("measured*")} == before


def test_run_times_of_another_problem_are_not_taken_for_ones_own(collected: Path) -> None:
    name = SetName(NAMES[0], 1)
    with MeasuredStore(collected) as store:
        store.check_is_of(name, load_problem(NAMES[0], parallelism=4))
        store.check_is_of(SetName("not measured yet", 1), load_problem(NAMES[1]))
        with pytest.raises(InvalidParameter, match=f"has run times of {NAMES[0]} with other estimates or another alg"):
            store.check_is_of(name, load_problem(NAMES[1]))


def test_pipelines_that_are_skipped_are_not_tried_again(tmp_path: Path) -> None:
    names = [SetName("refused", 1), SetName("slow", 1)]
    refused = Wanted(names[0], functools.partial(load_problem, "there is no such pipeline"))
    slow = Wanted(names[1], functools.partial(load_problem, NAMES[0], parallelism=1))
    settings = CollectSettings(SETTINGS.recipe, compilers=1, compile_s=0.0)
    with MeasuredStore(tmp_path) as store:
        assert list(Collector(store, settings).collect([refused, slow], seconds=600)) == names
    skipped = MeasuredCollection.load(tmp_path).skipped
    assert "no pipeline" in skipped[names[0]] and "to compile" in skipped[names[1]]
    with MeasuredStore(tmp_path) as store:
        assert store.done == set(names)
    with MeasuredStore(tmp_path, retry=True) as store:
        assert store.done == set()
        store.add(measured_collection("slow"))
        after = store.done
    assert after == {names[1]}
    assert set(MeasuredCollection.load(tmp_path).skipped) == {names[0]}


def test_failures_are_data(tmp_path: Path) -> None:
    name = "mat_mul"  # which takes a tenth of a second and more: late on a busy machine, too
    settings = CollectSettings(
        SETTINGS.recipe, TimingSettings(time_limit_s=1.0, compile_timeout_s=60.0, timeout_s=1e-5), rounds=1, compilers=1,
        compile_s=math.inf,
    )  # fmt: skip
    with MeasuredStore(tmp_path) as store:
        list(Collector(store, settings).collect(wanted(name), seconds=600))
        # The trusted schedule is late, too, so that nothing can be verified.
        assert "timeout" in store.collection.skipped[SetName(name, 1)]
    unverified = TimingSettings(time_limit_s=1.0, timeout_s=1e-5, verify=False)
    settings = CollectSettings(SETTINGS.recipe, unverified, rounds=1, compilers=1, compile_s=math.inf)
    with MeasuredStore(tmp_path / "unverified") as store:
        list(Collector(store, settings).collect(wanted(name), seconds=600))
    again = MeasuredCollection.load(tmp_path / "unverified")
    assert {schedule.outcome for schedule in again.schedules} == {"timeout"}
    assert all(math.isnan(schedule.run_time_s) and "running after" in schedule.error for schedule in again.schedules)


def test_no_set_begins_after_the_time(tmp_path: Path) -> None:
    with MeasuredStore(tmp_path) as store:
        collector = Collector(store, SETTINGS)
        assert list(collector.collect(wanted(*NAMES), seconds=0)) == []
    # Nor is waited for what was to be compiled of the first one.
    assert collector.spent.compiling == 0


def test_a_problem_with_few_schedules_is_left_out() -> None:
    with pytest.raises(NotCollected, match="different schedules; 8 are needed"):
        draw(single(), Recipe())


def test_draws_are_repeatable_and_of_every_kind() -> None:
    problem = load_problem("harris", parallelism=1)
    recipe = Recipe(schedules=40, parallelisms=(1, 2), weights=(builtin_weights(),))
    first, again = draw(problem, recipe), draw(problem, recipe)
    assert [drawn.actions for drawn in first] == [drawn.actions for drawn in again]
    assert {drawn.kind for drawn in first} == {
        "greedy",
        "beam",
        "random",
        "careless",
        "grouped",
        "neighbour",
        "dropout",
    }
    assert {drawn.parallelism for drawn in first} == {1, 2}


def test_other_weights_propose_what_is_best_for_them_and_what_is_near_it() -> None:
    problem, other = load_problem("harris", parallelism=1), example_weights()
    alone = {drawn.actions for drawn in draw(problem, Recipe(schedules=40))}
    added = [drawn for drawn in draw(problem, Recipe(schedules=40, weights=(other,))) if drawn.actions not in alone]
    assert {"beam", "careless", "neighbour"} <= {drawn.kind for drawn in added}
    best = min((drawn for drawn in added if drawn.kind == "beam"), key=lambda drawn: drawn.cost)
    assert best.cost == BeamSearch(passes=1, weights=other).plan(problem).cost


@pytest.mark.parametrize("wrong", [{"schedules": 7}, {"parallelisms": (0,)}, {"seed": -1}])
def test_wrong_recipes_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        Recipe(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"rounds": 2**31}, {"compile_s": math.nan}, {"compile_s": None}])
def test_wrong_settings_are_no_reason_to_leave_a_pipeline_out(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        CollectSettings(**wrong)


def test_one_collects_at_a_time(tmp_path: Path) -> None:
    with MeasuredStore(tmp_path), pytest.raises(InvalidParameter, match="Another process is writing into"):
        MeasuredStore(tmp_path)
    with MeasuredStore(tmp_path):
        pass


def test_a_store_survives_a_kill_between_its_file_and_its_journal(tmp_path: Path) -> None:
    with MeasuredStore(tmp_path) as store:
        store.add(measured_collection("a"))
        store.add(measured_collection("b"))
        journal = next(tmp_path.glob("*.journal")).read_bytes()
    path = tmp_path / file_name(this_machine())
    assert not path.with_suffix(".journal").exists()
    # The file is written, and the journal still there; its last entry was cut short.
    cut = journal + journal[: len(journal) // 3]
    path.with_suffix(".journal").write_bytes(cut)
    assert MeasuredCollection.load(tmp_path).pipelines == ("a", "b")
    assert path.with_suffix(".journal").read_bytes() == cut  # as somebody may be writing it
    with MeasuredStore(tmp_path) as store:
        assert store.collection.pipelines == ("a", "b")
        assert len(store.collection.schedules) == 16
    # Only the journal is there.
    path.unlink()
    path.with_suffix(".journal").write_bytes(journal)
    for place in (tmp_path, path):
        assert MeasuredCollection.load(place).pipelines == ("a", "b")
    assert not path.exists()
    with MeasuredStore(tmp_path) as store:
        assert store.collection.pipelines == ("a", "b")
    assert MeasuredCollection.load(path).pipelines == ("a", "b")


def test_the_file_is_written_while_it_goes_on(tmp_path: Path) -> None:
    with MeasuredStore(tmp_path) as store:
        for number in range(10):
            store.add(measured_collection(str(number)))
        assert len(MeasuredCollection.load(tmp_path).pipelines) == 10
        assert "70 run times of 10 pipelines" in store.path.with_suffix(".md").read_text()


SCRIPT = """
import sys
from pathlib import Path
import test_collect
from halidegym.training.measured.collect import Collector
from halidegym.training.measured.store import MeasuredStore
with MeasuredStore(Path(sys.argv[1])) as store:
    for name in Collector(store, test_collect.SETTINGS).collect(test_collect.wanted(*sys.argv[2:]), seconds=600):
        print(name, flush=True)
"""


@pytest.mark.parametrize("when", ["compiling", "timing"])
def test_a_kill_loses_no_more_than_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    names = ["toy_blur", "toy_mat_mul"]
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(pipelines_for_tests.__file__).parent), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path), *names],
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 240
    if when == "compiling":
        while not list(tmp_path.glob("halidegym-scratch-*/*.so")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
    else:
        assert process.stdout is not None
        assert names[0] in process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with MeasuredStore(tmp_path) as store:
        assert store.done == (set() if when == "compiling" else {SetName(names[0], 1)})
        list(Collector(store, SETTINGS).collect(wanted(*names), seconds=600))
    sets = MeasuredCollection.load(tmp_path).sets
    assert {name.pipeline: len(schedules) for name, schedules in sets.items()} == dict.fromkeys(names, 8)
    assert not list(tmp_path.glob("halidegym-scratch-*"))


def test_a_misspelt_pipeline_ends_the_command(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["collect", "harriss", "-o", str(tmp_path / "data")])
    assert (result.exit_code, "harriss" in result.output) == (2, True)
    assert not (tmp_path / "data").exists()


def test_the_command_collects_and_goes_on(tmp_path: Path) -> None:
    command = [
        "collect",
        "random-test-v1/6",
        "-o",
        str(tmp_path),
        "--schedules",
        "8",
        "--rounds",
        "1",
        "--compilers",
        "1",
    ]
    first = CliRunner().invoke(main, command)
    assert first.exit_code == 0, first.output
    assert "8 run times of 1 pipelines" in first.output
    path = tmp_path / file_name(this_machine())
    assert "| test | 1 | 1 | 8 | 8 |" in path.with_suffix(".md").read_text()
    data = path.read_bytes()
    again = CliRunner().invoke(main, command)
    assert again.exit_code == 0 and path.read_bytes() == data
    path.write_bytes(data[:-20])
    damaged = CliRunner().invoke(main, command)
    assert (damaged.exit_code, "cut short or damaged" in damaged.output) == (2, True)


RAMP = """
import halide as hl

def {name}():
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = x * y
    g[x, y] = f[x, y] + f[x + 1, y]
    g.set_estimates([(0, {width}), (0, {height})])
    return g
"""


def test_a_pipeline_of_ones_own_is_measured_for_one_size_and_what_is_left_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wide.py").write_text(RAMP.format(name="build", width=256, height=64))
    Path("point.py").write_text(RAMP.format(name="build", width=1, height=1))
    command = ["collect", "wide.py:build", "point.py:build", "-o", "data", "--schedules", "8", "--rounds", "1"]
    first = CliRunner().invoke(main, command)
    assert first.exit_code == 0, first.output
    assert "point.py:build was left out: it has" in first.stderr
    assert "8 run times of 1 pipelines, 0 failed, 1 pipelines skipped" in first.stdout
    other = CliRunner().invoke(main, [*command, "--estimate", "g=0,512,0,64"])
    assert (other.exit_code, "has run times of wide.py:build with other estimates" in other.stderr) == (2, True)
