"""Measured schedules on the disk: the same when they are read, and refused when they are not what they should be."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collections_for_tests import measured_collection
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.training.data.journal import Journal
from halidegym.training.measured.card import data_card
from halidegym.training.measured.collection import MeasuredCollection, file_name
from halidegym.training.measured.sets import SetName

pa = pytest.importorskip("pyarrow", reason="an optional dependency")
pq = pytest.importorskip("pyarrow.parquet")

OTHER = dataclasses.replace(this_machine(), cpu="another one")


def assert_equal(a: MeasuredSchedule, b: MeasuredSchedule) -> None:
    for field in dataclasses.fields(MeasuredSchedule):
        mine, its = getattr(a, field.name), getattr(b, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == its.dtype
            np.testing.assert_array_equal(mine, its)
        else:
            assert mine == its or (math.isnan(mine) and math.isnan(its)), field.name


def test_a_collection_comes_back_as_it_was(tmp_path: Path) -> None:
    collection = dataclasses.replace(
        measured_collection("random-train-v1/1", "my blur(size=(3, 4))"), skipped={SetName("too large", 2): "too large"}
    )
    collection.save(str(tmp_path / file_name(this_machine())))
    for path in (tmp_path, tmp_path / file_name(this_machine())):
        again = MeasuredCollection.load(path)
        assert (again.machine, again.skipped) == (collection.machine, collection.skipped)
        for mine, its in zip(collection.schedules, again.schedules, strict=True):
            assert_equal(mine, its)
    assert list(again.sets) == [SetName("random-train-v1/1", 1), SetName("my blur(size=(3, 4))", 1)]
    assert [len(again.schedules), len(again.ran)] == [16, 14]


def test_reading_leaves_no_thread_behind(tmp_path: Path) -> None:
    """One of pyarrow's can end the process while it exits."""
    measured_collection("a").save(tmp_path / file_name(this_machine()))
    code = (
        "import os, sys; from halidegym.training.measured.collection import MeasuredCollection; import pyarrow.parquet; "
        "before = os.listdir('/proc/self/task'); MeasuredCollection.load(sys.argv[1]); "
        "assert os.listdir('/proc/self/task') == before"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)


def test_parts_of_a_collection() -> None:
    train, test = measured_collection("a"), measured_collection("b", split="test", threads=2)
    both = train.with_sets(test).with_sets(train)
    assert len(both.schedules) == 16
    assert both.split("test").pipelines == both.on_threads(2).pipelines == ("b",)
    assert both.at_least(7, split="test").schedules == both.split("test").schedules
    message = r"7 measured schedules of 1 pipelines of the test split; 8 of 1 are needed, and 7 of others do not count"
    with pytest.raises(InvalidParameter, match=message):
        both.at_least(8, split="test")
    with pytest.raises(InvalidParameter, match="0 measured schedules of 0 pipelines that are not generated"):
        both.at_least(1, split="")
    with pytest.raises(
        InvalidParameter, match="Collect more: halidegym collect, which takes them where it is told no names"
    ):
        both.at_least(8, split="train")
    with pytest.raises(InvalidParameter, match="split='nope' is none; give one of 'train', 'validation', 'test', ''"):
        both.at_least(1, split="nope")


def test_run_times_of_another_machine_are_refused_unless_they_are_meant(tmp_path: Path) -> None:
    other = dataclasses.replace(measured_collection("a"), machine=OTHER)
    path = tmp_path / file_name(OTHER)
    other.save(path)
    for place in (path, tmp_path):
        with pytest.raises(InvalidParameter, match=r"another machine: another one.*--allow-other-machine"):
            MeasuredCollection.load(place)
        assert MeasuredCollection.load(place, allow_other_machine=True).machine == OTHER
    other.save(tmp_path / "measured-third.parquet")
    with pytest.raises(InvalidParameter, match="several machines"):
        MeasuredCollection.load(tmp_path, allow_other_machine=True)
    measured_collection("own").save(tmp_path / file_name(this_machine()))
    assert MeasuredCollection.load(tmp_path).pipelines == ("own",)


def test_what_a_killed_collector_left_is_read(tmp_path: Path) -> None:
    path = tmp_path / file_name(this_machine())
    measured_collection("saved").save(path)
    journal = Journal(path.with_suffix(".journal"))
    for name in ("saved", "unsaved"):
        journal.append(measured_collection(name).to_bytes())
    for place in (tmp_path, path):
        assert MeasuredCollection.load(place).pipelines == ("saved", "unsaved")
        assert len(MeasuredCollection.load(place).schedules) == 16


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"no measured schedules in .*halidegym collect -o"):
        MeasuredCollection.load(tmp_path)
    with pytest.raises(FormatError, match=r"Cannot read .*nowhere.* Check the path"):
        MeasuredCollection.load(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize("keep", [0, 3, 100, -1, -50])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "cut.parquet"
    path.write_bytes(measured_collection("a").to_bytes()[:keep])
    with pytest.raises(FormatError, match=r"cut.parquet: it is cut short or damaged.*collect again"):
        MeasuredCollection.load(path)


def damaged(tmp_path: Path, change: Any, column: tuple[str, Any] | None = None) -> Path:
    """A file whose metadata are changed, or one of its columns."""
    path = tmp_path / "damaged.parquet"
    measured_collection("a").save(path)
    table = pq.read_table(path)
    metadata = json.loads(table.schema.metadata[b"halidegym"])
    metadata.update(change)
    if column is not None:
        name, values = column
        table = table.set_column(table.schema.get_field_index(name), name, values)
    pq.write_table(table.replace_schema_metadata({b"halidegym": json.dumps(metadata)}), path)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": 2}, "features are of version 2, and the cost model reads version 3"),
        ({"version": 7}, "of version 7, and this is version 2"),
        ({"kind": "plans"}, "no measured schedules"),
        ({"machine": {}}, "no measured schedules"),
        ({"skipped": {"x": "y"}}, "names no set"),
    ],
)
def test_other_versions_and_other_files_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        MeasuredCollection.load(damaged(tmp_path, change))


@pytest.mark.parametrize("seconds", [math.nan, math.inf, 0.0, -1.0])
def test_a_schedule_that_ran_without_a_run_time_is_refused(tmp_path: Path, seconds: float) -> None:
    path = damaged(tmp_path, {}, ("run_time_s", pa.array([1e-3] * 6 + [seconds, math.nan], pa.float64())))
    with pytest.raises(FormatError, match=f"schedule 6, of a, ran in {seconds} s"):
        MeasuredCollection.load(path)


def test_columns_of_other_types_are_refused(tmp_path: Path) -> None:
    path = damaged(tmp_path, {}, ("cost", pa.array(["cheap"] * 8)))
    with pytest.raises(FormatError, match="its columns are others"):
        MeasuredCollection.load(path)


def test_a_data_card_tells_what_is_there() -> None:
    collection = dataclasses.replace(measured_collection("a", "b"), skipped={SetName("c", 1): "it takes 3.2 s"})
    card = data_card(collection)
    assert "14 run times of 2 pipelines" in card
    assert "| train | 1 | 2 | 16 | 14 |" in card
    assert "| random | 16 | 14 | 4.00 | 2 |" in card
    assert "| timeout | 2 |" in card
    assert "| it takes #.# s | 1 |" in card


def test_a_card_of_nothing_is_short() -> None:
    assert "0 run times of 0 pipelines" in data_card(MeasuredCollection(this_machine()))
