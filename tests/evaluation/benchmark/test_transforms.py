"""Suites of transforms: the same engine, cells, reports and validation as for pipelines."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from benchmarks_for_tests import cell_files, halidegym, run_suite, write_suite
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.timing.measurements import Comparison
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.arguments.transform import TransformName
from halidegym.evaluation.benchmark.problems import kind_of
from halidegym.evaluation.benchmark.report.groups import groups_of
from halidegym.evaluation.benchmark.run import Run
from halidegym.native._core import InvalidParameter, TransformSpace, available_lanes

MODEL, MEASURED = "transform/64?space=lanes", "transform/16?cost=measured"
AGENTS = {
    "DP": {"agent": "DynamicProgramming", "parameters": {"rounds": 1}, "deterministic": True, "budgets": []},
    "TAG": {"agent": "TAG", "deterministic": True},
}
SETTINGS = {
    "pipelines": [MODEL, MEASURED],
    "baseline": "DP",
    "budgets": [{"evaluations": 40}],
    "agents": AGENTS,
    "measurement": {"rounds": 6},
    "target": None,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("transforms"), **SETTINGS)


def test_the_model_s_optimum_is_the_baseline_and_measured_plans_are_counted(run: Path) -> None:
    found = {(file["cell"]["pipeline"], file["cell"]["agent"]): file["plan"] for file in cell_files(run).values()}
    space = TransformSpace(64, space="lanes", lanes=available_lanes())
    assert found[MODEL, "DP"]["cost"] == space.optimum()[0]
    assert (found[MODEL, "TAG"]["evaluations"], found[MODEL, "TAG"]["measurements"]) == (40, None)
    assert found[MODEL, "TAG"]["fingerprint"]["order"] == "any"
    assert kind_of(MEASURED).measures(MEASURED) and not kind_of(MODEL).measures(MODEL)
    assert found[MEASURED, "DP"]["measurements"] > 0 and found[MEASURED, "TAG"]["measurements"] > 0
    (group,) = groups_of(Run(run))
    assert all(ratio <= 1 + 1e-12 for ratio in group.cost_ratios("TAG")[MODEL])
    assert all(len(group.speedups(agent)) == 2 for agent in AGENTS)


def test_they_are_reported_and_validated(run: Path, tmp_path: Path) -> None:
    assert halidegym("report", run, "--output", tmp_path / "report").exit_code == 0
    assert MEASURED in (tmp_path / "report" / "tables" / "1-times.csv").read_text()
    result = halidegym("validate", run)
    assert (result.exit_code, "2 replayed, 4 believed, 0 failed, 0 false" in result.output) == (0, True), result.output
    for change in ({"cost": 1e-3}, {"text": "codelet 1"}, {"candidates": []}):
        copy = tmp_path / next(iter(change))
        shutil.copytree(run, copy)
        path = next((copy / "cells").glob("transform_64*TAG*"))
        document = json.loads(path.read_text())
        document["plan"] |= change
        path.write_text(json.dumps(document))
        assert halidegym("validate", copy).exit_code == 1


def test_measured_plans_are_replayed_from_a_record(tmp_path: Path) -> None:
    database, n = tmp_path / "record.db", 16
    name = f"transform/{n}?cost=measured&database={database}"
    agents = {"random": {"agent": "RandomSearch", "deterministic": True}, "DP": AGENTS["DP"]}
    settings = SETTINGS | {"agents": agents, "baseline": "random", "measurement": None}
    measured = Run(run_suite(tmp_path, **settings | {"pipelines": [name]}))
    (tmp_path / "again").mkdir()
    replayed = run_suite(tmp_path / "again", **settings | {"pipelines": [name.replace("cost=measured", "cost=replay")]})
    for first, second in zip(measured.results().values(), Run(replayed).results().values(), strict=True):
        assert (first.cell["agent"], first.cost) == (second.cell["agent"], second.cost)
        assert first.schedule_key == second.schedule_key != ""
    assert not kind_of(name).is_shared(name) and kind_of(MODEL).is_shared(MODEL)
    assert "2 replayed, 0 believed" in halidegym("validate", replayed).output


def test_a_record_of_several_machines_wants_a_choice_before_anything_runs(tmp_path: Path) -> None:
    database, plan = tmp_path / "record.db", TransformSpace(2, lanes=available_lanes()).root().plan
    with TransformTimer(TransformPlan(2, plan), database=database) as timer:
        timer.cost(plan)
    with TimingDatabase(database) as opened:
        (record,) = opened.records()
        assert isinstance(record.result, Comparison)
        timing = dataclasses.replace(record.result.a, samples_s=(7e-6,) * 6)
        result, key = dataclasses.replace(record.result, a=timing), dataclasses.replace(record.key, machine="another")
        opened.add(dataclasses.replace(record, key=key, result=result))
    name = f"transform/2?cost=replay&database={database}"
    for choice, message in {"": r"Choose one: machine=", "&machine=third": "machine='third' measured nothing"}.items():
        with pytest.raises(InvalidParameter, match=message):
            kind_of(name).check(name + choice)
    chosen = f"{name}&machine=another"
    kind_of(chosen).check(chosen)
    assert kind_of(chosen).load(chosen, "host", 1).solve(RandomSearch(), 0, {}).plan["cost"] == pytest.approx(7.0)


def test_a_record_for_other_vectors_is_replayed_where_its_lanes_are_named(tmp_path: Path) -> None:
    database, plans = tmp_path / "record.db", TransformSpace(2, lanes=(1,))
    plan = plans.root().plan
    with TransformTimer(TransformPlan(2, plan), lanes=(1,), database=database) as timer:
        cost = timer.cost(plan)
    name = f"transform/2?cost=replay&database={database}&lanes=1"
    kind_of(name).check(name)
    found = kind_of(name).load(name, "host", 1).solve(RandomSearch(), 0, {})
    assert found.plan["cost"] == pytest.approx(cost)
    assert found.plan["fingerprint"]["lanes"] == [1]
    assert kind_of(name).load(name, "host", 1).verify(found, None, again=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("transform/", "is no transform"),
        ("transform/x", "is no transform"),
        ("transform/1", "n=1"),
        ("transform/64?size=3", "has no size"),
        ("transform/64?space=huge", "give one of basic, lanes, wide"),
        ("transform/64?cost=guess", "give one of model, measured, replay"),
        ("transform/64?context=a", "is no number"),
        ("transform/64?context=1&cost=measured", "leave it out"),
        ("transform/64?database=times.db", "database is of measurements"),
        ("transform/64?cost=measured&machine=another", "machine is of a record"),
        ("transform/64?cost=replay", "replays no file"),
        ("transform/64?lanes=1", "lanes are of a record"),
        ("transform/64?cost=replay&lanes=wide", "give numbers such as lanes=1,2,4"),
    ],
)
def test_bad_names_are_refused(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=message):
        TransformName.parse(name)
    result = halidegym("bench", write_suite(tmp_path, pipelines=[name]), "--output", tmp_path / "run")
    assert (result.exit_code, message in " ".join(result.output.split())) == (2, True), result.output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("transform/11", "the nearest sizes are 10 or 12"),
        ("transform/64?cost=measured&database={folder}/none/times.db", "unable to open"),
        ("transform/64?cost=replay&database={folder}/toys.yaml", "is not a database"),
    ],
)
def test_what_no_cell_could_plan_is_refused_before_any_runs(name: str, message: str, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, pipelines=["toy_blur", name.format(folder=tmp_path)])
    result = halidegym("bench", suite, "--output", tmp_path / "run")
    assert (result.exit_code, message in " ".join(result.output.split())) == (2, True), result.output
    assert not (tmp_path / "run").exists()


def test_a_suite_that_is_refused_makes_no_record(tmp_path: Path) -> None:
    record = tmp_path / "times.db"
    suite = write_suite(tmp_path, pipelines=[f"transform/16?cost=measured&database={record}"])
    result = halidegym("bench", suite, "--output", tmp_path / "run")
    assert result.exit_code == 2 and "Seconds are no budget" in result.output, result.output
    assert not record.exists()


def test_pipelines_that_agents_cannot_plan_fail_alone(tmp_path: Path) -> None:
    agents = AGENTS | {"policy": {"agent": "PolicyAgent", "deterministic": True}}
    run = run_suite(tmp_path, **SETTINGS | {"agents": agents, "pipelines": [MODEL], "measurement": None})
    failures = [file["failure"] for file in cell_files(run).values() if file["failure"]]
    assert len(failures) == 1 and "schedules pipelines only" in failures[0]


@pytest.mark.parametrize("escaped", ["database", "d%61tabase"])
def test_names_that_read_a_file_are_not_shared(escaped: str, tmp_path: Path) -> None:
    (tmp_path / "record").touch()
    for name in ("transform/64", "transform/64?space=lanes&cost=measured"):
        assert kind_of(name).is_shared(name)
    for file in ("record", "missing"):
        name = f"transform/64?cost=replay&{escaped}={tmp_path}/{file}"
        assert not kind_of(name).is_shared(name)
