"""The `.sample` files of Halide's own tools: features and run time of a schedule.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measured_schedule import PIPELINE_FEATURES, SCHEDULE_FEATURES, MeasuredSchedule
from halidegym.native._core import FormatError
from halidegym.native.files import write_atomically
from halidegym.training.measured.collection import MeasuredCollection
from halidegym.training.measured.sets import SetName

_TYPES, _ROWS = PIPELINE_FEATURES
_OPERATIONS = (
    24  # rows of operations, which tell the types in use; accesses follow (docs/specification/function-dag.md)
)
_STAGE_FLOATS = SCHEDULE_FEATURES + _TYPES + _TYPES * _ROWS
_END = struct.Struct("<fii")  # milliseconds, pipeline id, schedule id

KIND = "sample"
"""Of the schedules that were read: how they came about is not in the file."""


def sample(schedule: MeasuredSchedule, pipeline_id: int, schedule_id: int) -> bytes:
    """A schedule as a `.sample` file (section 4.3).

    Args:
        schedule: with a run time.
        pipeline_id: schedules that are compared with each other have the same.
        schedule_id: any number.
    """
    stages = len(schedule.stages)
    operations = schedule.pipeline_features.transpose(0, 2, 1)
    types_in_use = operations[:, :_OPERATIONS].any(axis=1)
    rows = [schedule.schedule_features, types_in_use, operations.reshape(stages, -1)]
    featurization = np.concatenate(rows, axis=1).astype("<f4").tobytes()
    return featurization + _END.pack(1e3 * schedule.run_time_s, pipeline_id, schedule_id)


def read_sample(path: Path, *, threads: int) -> MeasuredSchedule:
    """The schedule of a `.sample` file. Its pipeline is named by the id, and its decisions are unknown.

    Args:
        path: of the file.
        threads: that it ran on, which the file does not tell.

    Raises:
        FormatError: it cannot be read, is cut short, or has no run time.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(f"Cannot read the sample {path}: {error.strerror}. Check the path") from error
    stages, rest = divmod(len(data) - _END.size, 4 * _STAGE_FLOATS)
    if rest or stages < 1:
        raise FormatError(f"{path} is no sample, or cut short: it has {len(data)} bytes. Measure it again")
    milliseconds, pipeline_id, _ = _END.unpack_from(data, len(data) - _END.size)
    if not (math.isfinite(milliseconds) and milliseconds > 0):
        raise FormatError(f"{path} has no run time: {milliseconds} ms. Measure it again")
    rows = np.frombuffer(data, "<f4", stages * _STAGE_FLOATS).reshape(stages, _STAGE_FLOATS)
    operations = rows[:, SCHEDULE_FEATURES + _TYPES :].reshape(stages, _ROWS, _TYPES)
    if not np.isfinite(rows).all():
        raise FormatError(f"{path} has features that are no numbers. Measure it again")
    return MeasuredSchedule(
        pipeline=f"{KIND}/{pipeline_id}",
        problem="",
        split="",
        kind=KIND,
        actions=(),
        parallelism=threads,
        threads=threads,
        cost=math.nan,
        outcome="ok",
        error="",
        run_time_s=milliseconds * 1e-3,
        turns_s=(milliseconds * 1e-3,),
        disturbed=0,
        compile_s=math.nan,
        stages=np.arange(stages, dtype=np.int32),
        pipeline_features=np.ascontiguousarray(operations.transpose(0, 2, 1).astype(np.int32)),
        schedule_features=rows[:, :SCHEDULE_FEATURES].astype(np.float64),
    )


def write_samples(collection: MeasuredCollection, folder: Path) -> list[Path]:
    """Write the schedules that have run times, a file each; sets are numbered in their order.

    A pipeline that ran on several numbers of threads has as many ids: Halide's tools compare what has the same one.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ids = {name: number for number, name in enumerate(collection.sets)}
    paths = []
    for number, schedule in enumerate(collection.ran):
        pipeline_id = ids[SetName(schedule.pipeline, schedule.threads)]
        paths.append(folder / f"{pipeline_id:05}-{number:06}.sample")
        write_atomically(paths[-1], sample(schedule, pipeline_id, number))
    return paths


def read_samples(paths: Iterable[Path], *, threads: int) -> MeasuredCollection:
    """The schedules of several files, as measured on this machine.

    Raises:
        FormatError: see `read_sample`.
    """
    return MeasuredCollection(this_machine(), tuple(read_sample(path, threads=threads) for path in paths))
