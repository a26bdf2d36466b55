"""Reading the shards of a split."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from halidegym.native._core import FormatError, InvalidParameter
from halidegym.training.data.collection import load_split
from halidegym.training.data.origin import Origin
from halidegym.training.data.shard import Shard, Skipped, TaughtPlan, TaughtProblem

ORIGIN = Origin.here("x86-64-linux", 16)


def shard(*numbers: int, split: str = "train", version: int = 1, origin: Origin = ORIGIN) -> Shard:
    plans = (TaughtPlan(1.0, (0,), "tree", 1.0),)
    problems = [TaughtProblem(f"random-{split}-v{version}/{number}", b"", 2.0, 1.5, plans) for number in numbers]
    return Shard(origin, {}, tuple(problems))


def write(folder: Path, *shards: Shard) -> Path:
    (folder / "train").mkdir()
    for index, content in enumerate(shards):
        content.save(folder / "train" / f"plans-{index:05}.npz")
    return folder


def test_problems_come_in_order_without_those_of_unfinished_shards(tmp_path: Path) -> None:
    write(tmp_path, shard(0, 1), shard(), shard(2))
    (tmp_path / "train/plans-00003.journal").write_bytes(b"unfinished")
    for folder in (tmp_path, str(tmp_path)):
        assert [problem.name for problem in load_split(folder, "train")] == [f"random-train-v1/{n}" for n in range(3)]
    with pytest.raises(InvalidParameter, match="folder=3 is no path"):
        load_split(3, "train")  # type: ignore[arg-type]


def test_problems_of_several_suites_take_turns(tmp_path: Path) -> None:
    write(tmp_path, shard(0, 1, 10), shard(0, 2, version=2))
    names = [problem.name.removeprefix("random-train-") for problem in load_split(tmp_path, "train")]
    assert names == ["v1/0", "v2/0", "v1/1", "v2/2", "v1/10"]


def test_without_plans_the_remedy_is_named(tmp_path: Path) -> None:
    write(tmp_path, shard())
    for split in ("train", "validation"):
        with pytest.raises(
            InvalidParameter, match=f"no plans in {tmp_path / split}; collect some: halidegym train data"
        ):
            load_split(tmp_path, split)  # type: ignore[arg-type]


def test_pipelines_that_were_all_skipped_are_not_to_be_collected_again(tmp_path: Path) -> None:
    skipped = tuple(Skipped(f"random-train-v1/{n}", "greedy search needs more than 600 evaluations") for n in range(2))
    write(tmp_path, dataclasses.replace(shard(), skipped=skipped))
    with pytest.raises(InvalidParameter) as raised:
        load_split(tmp_path, "train")
    assert str(raised.value) == (
        f"There are no plans in {tmp_path / 'train'}: the teacher skipped all of its 2 pipelines, such as "
        "random-train-v1/0 (greedy search needs more than 600 evaluations). Collect more pipelines, or with another "
        "teacher into another folder"
    )


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (shard(1, split="test"), "plans-00001.npz holds random-test-v1/1, which is not of the train split"),
        (shard(1, split="validation"), "holds random-validation-v1/1"),
        (shard(1, version=3), "holds random-train-v3/1, which is not of the train split"),
        (shard(1, 0), "plans-00001.npz holds random-train-v1/0, which .*plans-00000.npz holds, too"),
        (shard(1, origin=dataclasses.replace(ORIGIN, parallelism=8)), "plans-00001.npz .* parallelism 8 instead of 16"),
        (shard(1, origin=dataclasses.replace(ORIGIN, halide_version="20")), "halide_version '20' instead of"),
    ],
)
def test_what_does_not_belong_there_is_refused(tmp_path: Path, other: Shard, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        load_split(write(tmp_path, shard(0), other), "train")
