"""Shards of plans, whole and damaged."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import FormatError
from halidegym.training.data.origin import Origin
from halidegym.training.data.shard import Shard, Skipped, TaughtPlan, TaughtProblem, digest
from pages_for_tests import ROOT, names_in, tables

ORIGIN = Origin("21.0.0", "de08", "x86-64-linux", 16, 1)
SHARD = Shard(
    ORIGIN,
    {"beam_size": 32, "within": 0.05},
    (
        TaughtProblem("random-train-v1/0", b"a problem", 2.0, 1.5, (TaughtPlan(1.0, (0, 3, 1), "tree", 1.0),)),
        TaughtProblem(
            "random-train-v1/2",
            b"\0\1\2",
            4.0,
            3.0,
            (TaughtPlan(3.0, (7,), "beam", 1.0), TaughtPlan(4.0, (), "greedy", 0.0)),
        ),
    ),
    (Skipped("random-train-v1/1", "too large"),),
)


def test_a_shard_is_what_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "plans.npz"
    SHARD.save(path)
    assert Shard.load(path) == SHARD
    assert [file.name for file in tmp_path.iterdir()] == ["plans.npz"]
    assert set(SHARD.results) == {f"random-train-v1/{number}" for number in range(3)}


def test_the_page_has_all_arrays() -> None:
    (rows,) = tables((ROOT / "docs/training/data.md").read_text(encoding="utf-8"), "array", "content")
    with np.load(io.BytesIO(SHARD.to_bytes())) as arrays:
        assert sorted(names_in([name for name, _ in rows])) == sorted(arrays.files)


@pytest.mark.parametrize("shard", [Shard(ORIGIN, {}, ()), Shard(ORIGIN, {}, (), SHARD.skipped)])
def test_shards_without_problems_are_shards(shard: Shard) -> None:
    assert Shard.from_bytes(shard.to_bytes()) == shard


def test_equal_shards_are_equal_files() -> None:
    assert SHARD.to_bytes() == dataclasses.replace(SHARD).to_bytes()


def test_a_shard_that_is_cut_short_is_refused_wherever_that_is() -> None:
    data = SHARD.to_bytes()
    for length in range(0, len(data), 97):
        with pytest.raises(FormatError, match=r"Remove it, and collect it again|no shard"):
            Shard.from_bytes(data[:length])


def test_a_damaged_shard_is_refused() -> None:
    data = bytearray(SHARD.to_bytes())
    position = data.index(b"problems.npy") + 40
    data[position] ^= 0xFF
    with pytest.raises(FormatError, match=r"cut short or damaged|no shard"):
        Shard.from_bytes(bytes(data))


@pytest.mark.parametrize(("field", "value"), [(8, 1), (10, 99)], ids=["encrypted", "packed otherwise"])
def test_a_shard_that_cannot_be_unpacked_is_refused(field: int, value: int) -> None:
    data = bytearray(SHARD.to_bytes())
    data[data.find(b"PK\x01\x02") + field] = value  # of the first entry of the archive's directory
    with pytest.raises(FormatError, match="cut short or damaged"):
        Shard.from_bytes(bytes(data))


def changed(**arrays: object) -> bytes:
    with np.load(io.BytesIO(SHARD.to_bytes())) as file:
        content = dict(file.items())
    buffer = io.BytesIO()
    np.savez(buffer, **{**content, **arrays})  # type: ignore[arg-type]
    return buffer.getvalue()


def metadata(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut short"),
        (changed(metadata=metadata('{"kind": "other"}')), "no shard of plans: its kind is 'other'"),
        (changed(metadata=metadata('{"kind": "halidegym plans", "version": 9}')), "version 9, and this is version 1"),
        (changed(metadata=metadata("[]")), "no shard"),
        (changed(num_plans=np.array([1, 1])), "numbers of plans do not fit"),
        (changed(num_plans=np.array([3, 0])), "numbers of plans do not fit"),
        (changed(action_offsets=np.array([0, 3, 2, 4])), "offsets do not fit"),
        (changed(costs=np.array([1.0])), "no shard"),
        (changed(actions=np.array([0.5, 1, 2, 3])), "no shard"),
        (changed(names=np.array([{}, {}], dtype=object)), "no shard"),
    ],
)
def test_what_is_no_shard_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Shard.from_bytes(data)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "plans.npz"
    with pytest.raises(FormatError, match=f"Cannot read the shard {path}: No such file"):
        Shard.load(path)
    path.write_bytes(SHARD.to_bytes()[:-30])
    with pytest.raises(FormatError, match=f"{path}: The shard is cut short"):
        Shard.load(path)


def test_another_origin_is_told_by_what_differs() -> None:
    other = dataclasses.replace(ORIGIN, parallelism=8, target="arm-64-linux")
    ORIGIN.check(ORIGIN, "plans.npz")
    with pytest.raises(
        FormatError, match=r"plans.npz .* target 'x86-64-linux' instead of 'arm-64-linux'; parallelism 16"
    ):
        ORIGIN.check(other, "plans.npz")


def test_names_that_a_process_numbers_are_no_part_of_the_digest() -> None:
    def taught(pipeline: str, cost: float) -> TaughtProblem:
        problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL[pipeline](), parallelism=2, name=pipeline)
        return TaughtProblem("p", problem.native.to_bytes(), 2.0, 1.0, (TaughtPlan(cost, (0,), "beam", 1.0),))

    first, again = taught("blur", 1.0), taught("blur", 1.0)
    assert first.problem != again.problem
    assert digest([first]) == digest([again])
    assert len({digest([first]), digest([taught("blur", 1.5)]), digest([taught("hist", 1.0)])}) == 3
