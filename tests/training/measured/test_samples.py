"""`.sample` files: what Halide's own retraining program reads.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

import math
import re
import struct
import subprocess
from pathlib import Path

import halide as hl
import numpy as np
import pytest
from click.testing import CliRunner

from collections_for_tests import measured_collection, measured_schedules
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.cli import main
from halidegym.native._core import FormatError
from halidegym.native.weights import builtin_weights, save_weights
from halidegym.training.measured.collection import MeasuredCollection, file_name
from halidegym.training.measured.samples import read_sample, sample, write_samples
from measured_for_tests import measured

RETRAIN = Path(hl.__file__).parent / "bin/adams2019_retrain_cost_model"


def test_a_sample_holds_what_the_tools_of_halide_read(tmp_path: Path) -> None:
    schedule = measured_schedules()[2]
    data = sample(schedule, 7, 11)
    stages = len(schedule.stages)
    assert len(data) == 1304 * stages + 12  # section 4.3
    assert struct.unpack_from("<fii", data, 1304 * stages) == (pytest.approx(3.03), 7, 11)
    floats = np.frombuffer(data, "<f4", 326 * stages).reshape(stages, 326)
    for row, type_ in ((0, 0), (5, 3), (39, 6)):
        expected = schedule.pipeline_features[:, type_, row]
        np.testing.assert_array_equal(floats[:, 39 + 7 + 7 * row + type_], expected)
    (tmp_path / "one.sample").write_bytes(data)
    again = read_sample(tmp_path / "one.sample", threads=1)
    assert (again.pipeline, again.ran, again.run_time_s) == ("sample/7", True, pytest.approx(3.03e-3))
    np.testing.assert_array_equal(again.pipeline_features, schedule.pipeline_features)
    np.testing.assert_allclose(again.schedule_features, schedule.schedule_features, rtol=1e-7)


def test_types_in_use_are_those_of_a_stage_that_have_an_operation() -> None:
    features = np.zeros((2, 7, 40))
    features[0, 3, 5] = 2
    features[1, 2, 30] = 1  # of its accesses, which are no operations
    data = sample(measured(np.ones((2, 39)), features, 1.0), 0, 0)
    floats = np.frombuffer(data, "<f4", 2 * 326).reshape(2, 326)
    assert floats[:, 39:46].tolist() == [[0, 0, 0, 1, 0, 0, 0], [0] * 7]


@pytest.mark.parametrize("name", ["random-train-v1/3", "random-train-v1/7", "harris", "hist"])
def test_the_types_in_use_are_those_of_the_analysis(name: str) -> None:
    problem: SchedulingProblem = load_problem(name, parallelism=1)
    for stage in problem.stages:
        features = np.asarray(stage.features)
        operations = features[7:].reshape(40, 7)
        np.testing.assert_array_equal(operations[:24].any(axis=0), features[:7] != 0)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "cut short"),
        (lambda data: b"", "cut short"),
        (lambda data: data[:-12] + struct.pack("<fii", math.nan, 0, 0), "no run time: nan ms"),
        (lambda data: data[:-12] + struct.pack("<fii", 0, 0, 0), "no run time"),
        (lambda data: data[:-12] + struct.pack("<fii", math.inf, 0, 0), "no run time"),
        (lambda data: struct.pack("<f", math.nan) + data[4:], "no numbers"),
    ],
)
def test_damaged_samples_are_refused(tmp_path: Path, damage: object, message: str) -> None:
    path = tmp_path / "damaged.sample"
    assert callable(damage)
    path.write_bytes(damage(sample(measured_schedules()[0], 0, 0)))
    with pytest.raises(FormatError, match=message):
        read_sample(path, threads=1)


def test_a_sample_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="Check the path"):
        read_sample(tmp_path / "nowhere.sample", threads=1)


@pytest.mark.skipif(not RETRAIN.exists(), reason="this halide package has no retraining program")
def test_the_retraining_program_takes_samples(tmp_path: Path) -> None:
    paths = write_samples(measured_collection("a", "b", count=12), tmp_path / "samples")
    save_weights(builtin_weights(), tmp_path / "old.weights")
    command = [
        RETRAIN, "--epochs=1", "--rates=0.0001", "--num_cores=1", f"--initial_weights={tmp_path}/old.weights",
        f"--weights_out={tmp_path}/new.weights", "--best_benchmark=", "--best_schedule=",
    ]  # fmt: skip
    result = subprocess.run(command, input="\n".join(map(str, paths)), capture_output=True, text=True, check=True)
    words = result.stdout + result.stderr
    assert "Distinct pipelines: 2" in words
    assert not re.search("truncated|implausible|[Nn]egative|Zero loss", words)
    new = (tmp_path / "new.weights").read_bytes()
    assert len(new) == 17136 and new != builtin_weights().to_bytes()


def test_what_ran_on_another_number_of_threads_is_another_pipeline(tmp_path: Path) -> None:
    schedules = [*measured_schedules("a"), *measured_schedules("a", threads=2)]
    paths = write_samples(MeasuredCollection(this_machine(), tuple(schedules)), tmp_path)
    assert [read_sample(path, threads=1).pipeline for path in paths] == ["sample/0"] * 7 + ["sample/1"] * 7


def test_samples_are_written_and_read_by_command(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="an optional dependency")
    collection = measured_collection("a", "b")
    collection.save(tmp_path / file_name(collection.machine))
    written = CliRunner().invoke(main, ["samples", "write", str(tmp_path), str(tmp_path / "out")])
    assert (written.exit_code, "14 samples" in written.output) == (0, True)
    files = sorted(map(str, (tmp_path / "out").iterdir()))
    read = CliRunner().invoke(main, ["samples", "read", *files, "-o", str(tmp_path / "again.parquet")])
    assert read.exit_code == 0, read.output
    again = MeasuredCollection.load(tmp_path / "again.parquet")
    assert [s.run_time_s for s in again.ran] == pytest.approx([s.run_time_s for s in collection.ran])
    refused = CliRunner().invoke(main, ["samples", "read", __file__, "-o", str(tmp_path / "no.parquet")])
    assert (refused.exit_code, "is no sample" in refused.output) == (2, True)
