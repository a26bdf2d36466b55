"""Collecting plans: each once, whatever happens in between."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.pipelines import generated
from halidegym.native._core import FormatError
from halidegym.training.data import collect as collecting
from halidegym.training.data.collect import DataSettings, collect
from halidegym.training.data.collection import load_split
from halidegym.training.data.journal import Journal
from halidegym.training.data.shard import Shard, Skipped, TaughtProblem
from halidegym.training.data.teacher import TeacherSettings, teach
from halidegym.training.settings import load_settings, parse_settings

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
TEACHER = {
    "beam_size": 2, "beam_evaluations": 300, "tree_evaluations": 200, "greedy_evaluations": 200,
    "within": 0.05, "plans": 3, "weight": 0.3, "seed": 0,
}  # fmt: skip
CONTENT = {
    "pipelines": {"random-validation-v1": 2, "random-train-v1": 5},
    "target": TARGET,
    "parallelism": 16,
    "per_shard": 4,
    "teacher": TEACHER,
}
SETTINGS = parse_settings(DataSettings, CONTENT, "a test")


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


def content(folder: Path) -> dict[str, Shard]:
    """All shards, without the names of Funcs, which depend on what else a process has built."""

    def bare(problem: TaughtProblem) -> TaughtProblem:
        return dataclasses.replace(problem, problem=problem.space().problem.identity_bytes())

    shards = {path.relative_to(folder).as_posix(): Shard.load(path) for path in folder.rglob("*.*")}
    return {
        name: dataclasses.replace(shard, problems=tuple(map(bare, shard.problems))) for name, shard in shards.items()
    }


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collected")
    list(collect(SETTINGS, folder, workers=2))
    return folder


def test_each_pipeline_of_each_split_is_there_once(collected: Path) -> None:
    assert set(files(collected)) == {"validation/plans-00000.npz", "train/plans-00000.npz", "train/plans-00001.npz"}
    shards = [Shard.load(collected / "train" / f"plans-0000{index}.npz") for index in range(2)]
    assert [sorted(shard.results) for shard in shards] == [
        [generated.name_of("train", number) for number in range(4)], [generated.name_of("train", 4)]
    ]  # fmt: skip
    assert any(shard.skipped for shard in shards)


def test_plans_lead_to_schedules_of_their_costs(collected: Path) -> None:
    for taught in Shard.load(collected / "train/plans-00000.npz").problems:
        space = taught.space()
        assert taught.greedy_cost == BeamSearch(beam_size=1).solve(space).cost
        assert taught.cost == min(plan.cost for plan in taught.plans) <= min(taught.greedy_cost, taught.beam_cost)
        assert len({plan.actions for plan in taught.plans}) == len(taught.plans) <= TEACHER["plans"] + 1
        for plan in taught.plans:
            state = space.initial_state()
            for action in plan.actions:
                state = state.apply(action)
            assert state.is_complete and state.cost() == plan.cost
            assert plan.weight == (1 if plan is taught.plans[0] else 0.3 if plan.cost <= 1.05 * taught.cost else 0)


def test_large_pipelines_are_skipped_with_a_reason() -> None:
    settings = TeacherSettings(**{**TEACHER, "greedy_evaluations": 5})
    assert teach("random-train-v1/0", settings, TARGET, 16) == Skipped(
        "random-train-v1/0", "greedy search needs more than 5 evaluations"
    )


def test_what_is_there_is_not_made_again(collected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, data in files(collected).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)

    def never(*arguments: object) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr(collecting, "teach", never)
    splits = list(collect(SETTINGS, tmp_path, workers=1))
    assert files(tmp_path) == files(collected)
    assert [split.folder.name for split in splits] == ["validation", "train"]
    assert all(split.problems + split.skipped == count for split, count in zip(splits, (2, 5), strict=True))


def test_more_pipelines_are_added_to_those_there_are(collected: Path, tmp_path: Path) -> None:
    fewer = parse_settings(DataSettings, {**CONTENT, "pipelines": {"random-train-v1": 2}}, "a test")
    list(collect(fewer, tmp_path, workers=1))
    done = list[str]()
    list(collect(SETTINGS, tmp_path, workers=1, on_pipeline=done.append))
    assert content(tmp_path) == content(collected)
    assert len(done) == 7


def test_suites_of_a_split_stand_beside_each_other(collected: Path, tmp_path: Path) -> None:
    shutil.copytree(collected, tmp_path, dirs_exist_ok=True)
    both = {"random-train-v1": 5, "random-train-v2": 3}
    settings = parse_settings(DataSettings, {**CONTENT, "pipelines": both}, "a test")
    (split,) = collect(settings, tmp_path, workers=1)
    assert split.problems == len(load_split(tmp_path, "train"))
    assert split.problems + split.skipped == 8
    after = files(tmp_path)
    added = set(after) - set(files(collected))
    assert added == {"train/plans-v2-00000.npz"} and files(collected).items() <= after.items()
    assert sorted(Shard.load(tmp_path / added.pop()).results) == [f"random-train-v2/{number}" for number in range(3)]
    list(collect(settings, tmp_path, workers=1))
    assert files(tmp_path) == after


def test_all_that_is_there_is_told_if_fewer_are_asked_for(collected: Path, tmp_path: Path) -> None:
    shutil.copytree(collected, tmp_path, dirs_exist_ok=True)
    fewer = parse_settings(DataSettings, {**CONTENT, "pipelines": {"random-train-v1": 2}}, "a test")
    (split,) = collect(fewer, tmp_path, workers=1)
    assert split.problems == len(load_split(tmp_path, "train"))
    assert split.problems + split.skipped == 5
    assert files(tmp_path) == files(collected)


SCRIPT = """
import sys
from pathlib import Path
from halidegym.training.data.collect import DataSettings, collect
settings = DataSettings.model_validate_json(sys.argv[1])
list(collect(settings, Path(sys.argv[2]), workers=1))
"""


def test_a_kill_loses_no_more_than_a_pipeline(collected: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, SETTINGS.model_dump_json(), str(tmp_path)])
    journal = tmp_path / "train/plans-00000.journal"
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.stat().st_size > 0):
        assert process.poll() is None and time.monotonic() < deadline
    process.kill()
    process.wait()
    assert not (tmp_path / "train/plans-00000.npz").exists()
    with journal.open("ab") as file:
        file.write(b"cut short")
    list(collect(SETTINGS, tmp_path, workers=1))
    assert content(tmp_path) == content(collected)


def test_files_of_other_settings_or_cut_short_are_refused(collected: Path, tmp_path: Path) -> None:
    path = tmp_path / "validation/plans-00000.npz"
    path.parent.mkdir()
    path.write_bytes((collected / "validation/plans-00000.npz").read_bytes())
    others = [
        ({"parallelism": 8}, "parallelism 16 instead of 8"),
        ({"teacher": {**TEACHER, "seed": 1, "plans": 9}}, "other settings: plans=3, seed=0 instead of plans=9, seed=1"),
    ]
    for change, message in others:
        with pytest.raises(FormatError, match=message):
            list(collect(parse_settings(DataSettings, {**CONTENT, **change}, "a test"), tmp_path, workers=1))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FormatError, match=f"{path}: The shard is cut short"):
        list(collect(SETTINGS, tmp_path, workers=1))


@pytest.mark.parametrize("per_shard", [3, 5])
def test_no_pipeline_comes_into_two_files(collected: Path, tmp_path: Path, per_shard: int) -> None:
    shutil.copytree(collected, tmp_path / "data")
    before = files(tmp_path / "data")
    others = parse_settings(DataSettings, {**CONTENT, "per_shard": per_shard}, "a test")
    with pytest.raises(
        FormatError, match=f"holds random-train-v1/[34], which another file would with per_shard={per_shard}"
    ):
        list(collect(others, tmp_path / "data", workers=1))
    assert files(tmp_path / "data") == before


def test_a_journal_of_another_per_shard_is_refused_too(collected: Path, tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    Journal(tmp_path / "train/plans-00000.journal").append((collected / "train/plans-00000.npz").read_bytes())
    others = parse_settings(DataSettings, {**CONTENT, "pipelines": {"random-train-v1": 5}, "per_shard": 2}, "a test")
    with pytest.raises(FormatError, match=r"plans-00000.journal holds random-train-v1/[23]"):
        list(collect(others, tmp_path, workers=1))


def test_shipped_settings_are_in_order() -> None:
    assert load_settings(DataSettings, "data").pipelines == {"random-validation-v1": 300, "random-train-v1": 10000}
    assert load_settings(DataSettings, "data-smoke").teacher.beam_size == 32
