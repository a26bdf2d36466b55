"""Measured schedules as the columns of a Parquet file, and back."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from halidegym.envs.timing.machine import Machine
from halidegym.envs.timing.measured_schedule import PIPELINE_FEATURES, SCHEDULE_FEATURES, MeasuredSchedule
from halidegym.native._core import FormatError
from halidegym.native.fields import checked_fields

FEATURES = 3
"""Version of the features, as `.weights` files name it."""

_KIND, _VERSION = "halidegym measured schedules", 2
_METADATA = b"halidegym"
_MAGIC = b"PAR1"  # what Parquet files begin with

_LISTS: dict[str, Any] = {
    "actions": np.int32,
    "turns_s": np.float64,
    "stages": np.int32,
    "pipeline_features": np.int32,
    "schedule_features": np.float64,
}
_PLAIN = {
    "pipeline": pa.string(),
    "problem": pa.string(),
    "split": pa.string(),
    "kind": pa.string(),
    "parallelism": pa.int32(),
    "threads": pa.int32(),
    "cost": pa.float64(),
    "outcome": pa.string(),
    "error": pa.string(),
    "run_time_s": pa.float64(),
    "disturbed": pa.int32(),
    "compile_s": pa.float64(),
}
_SCHEMA = pa.schema(_PLAIN | {name: pa.large_list(pa.from_numpy_dtype(kind)) for name, kind in _LISTS.items()})


def to_bytes(machine: Machine, schedules: Sequence[MeasuredSchedule], skipped: Mapping[str, str]) -> bytes:
    """A Parquet file of the schedules, with what was skipped and why."""
    columns: dict[str, pa.Array] = {
        name: pa.array([getattr(schedule, name) for schedule in schedules], kind) for name, kind in _PLAIN.items()
    }
    for name, kind in _LISTS.items():
        columns[name] = _lists([np.asarray(getattr(schedule, name), kind).ravel() for schedule in schedules], kind)
    metadata = {
        "kind": _KIND,
        "version": _VERSION,
        "features": FEATURES,
        "machine": dataclasses.asdict(machine),
        "skipped": dict(skipped),
    }
    table = pa.table(columns, _SCHEMA).replace_schema_metadata({_METADATA: json.dumps(metadata, sort_keys=True)})
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def from_bytes(data: bytes) -> tuple[Machine, list[MeasuredSchedule], dict[str, str]]:
    """The machine, the schedules and what was skipped, of a file that `to_bytes` wrote.

    Raises:
        FormatError: it is cut short, damaged, of another version, of other features, or something else altogether; or a
            schedule has no run time although it ran.
    """
    if not _MAGIC.startswith(data[: len(_MAGIC)]):
        raise FormatError(
            "it is no Parquet file. Give what `halidegym collect` wrote; .sample files are gathered by "
            "`halidegym samples read`"
        )
    try:
        # In this thread alone: others of pyarrow's may let go of the bytes, an object of Python, while the process ends,
        # which then aborts. `read_table` starts one whatever it is told.
        table = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
        metadata = json.loads((table.schema.metadata or {})[_METADATA])
        if metadata["kind"] != _KIND:
            raise ValueError(f"its kind is {metadata['kind']!r}")
        _check_version(metadata)
        if not table.schema.equals(_SCHEMA):
            raise ValueError("its columns are others")
        machine, skipped = checked_fields(Machine(**metadata["machine"])), dict(metadata["skipped"])
        return machine, list(_schedules(table)), skipped
    except FormatError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise FormatError(f"it is cut short or damaged: {reason}. Restore a copy, or collect again") from error
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise FormatError(f"it holds no measured schedules: {error}. Give what `halidegym collect` wrote") from error


def _check_version(metadata: Mapping[str, Any]) -> None:
    if metadata["version"] != _VERSION:
        raise FormatError(f"it is of version {metadata['version']}, and this is version {_VERSION}. Collect again")
    if metadata["features"] != FEATURES:
        raise FormatError(
            f"its features are of version {metadata['features']}, and the cost model reads version {FEATURES}. Collect again"
        )


def _lists(arrays: Sequence[NDArray[Any]], kind: Any) -> pa.Array:
    offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
    return pa.LargeListArray.from_arrays(offsets, np.concatenate([*arrays, np.zeros(0, kind)]).astype(kind))


def _schedules(table: pa.Table) -> Iterator[MeasuredSchedule]:
    plain = {name: table.column(name).to_pylist() for name in _PLAIN}
    lists = {name: _rows(table.column(name)) for name in _LISTS}
    for row in range(table.num_rows):
        stages = lists["stages"][row]
        schedule = MeasuredSchedule(
            **{name: values[row] for name, values in plain.items()},
            actions=tuple(lists["actions"][row].tolist()),
            turns_s=tuple(lists["turns_s"][row].tolist()),
            stages=stages,
            pipeline_features=lists["pipeline_features"][row].reshape(len(stages), *PIPELINE_FEATURES),
            schedule_features=lists["schedule_features"][row].reshape(len(stages), SCHEDULE_FEATURES),
        )
        if schedule.ran and not (math.isfinite(schedule.run_time_s) and schedule.run_time_s > 0):
            raise FormatError(
                f"its schedule {row}, of {schedule.pipeline}, ran in {schedule.run_time_s} s. Remove it, or collect again"
            )
        yield schedule


def _rows(column: pa.ChunkedArray) -> list[NDArray[Any]]:
    rows = list[NDArray[Any]]()
    for chunk in column.chunks:
        offsets, values = chunk.offsets.to_numpy(), chunk.values.to_numpy()
        rows += [values[begin:end] for begin, end in itertools.pairwise(offsets)]
    return rows
