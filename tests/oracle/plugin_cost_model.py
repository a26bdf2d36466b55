"""Predictions of the Adams2019 plugin's compiled cost model (docs/specification/search-and-cost-model.md, section 5).

The compiled model aborts the process on any mistake, so it runs in a process of its own: this file is both the caller
and that process.
"""

from __future__ import annotations

import ctypes
import itertools
import operator
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Request:
    """One call of the compiled cost model."""

    weights: dict[str, NDArray[np.float32]]  # as Weights.tensors()
    pipeline_features: NDArray[np.float32]  # [S, 7, 40]
    schedule_features: NDArray[np.float32]  # [B, S, 39]
    parallelism: int


def plugin_predict(plugin: Path, requests: list[Request]) -> list[NDArray[np.float32]]:
    """Return the costs [B] that the model compiled into a plugin's library predicts for each request."""
    with tempfile.TemporaryDirectory() as folder:
        requests_file, costs_file = Path(folder) / "requests", Path(folder) / "costs"
        requests_file.write_bytes(pickle.dumps([vars(request) for request in requests]))
        command = [sys.executable, "-I", __file__, plugin, requests_file, costs_file]
        subprocess.run(command, check=True, timeout=120)
        costs: list[NDArray[np.float32]] = pickle.loads(costs_file.read_bytes())
        return costs


class _Dimension(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("min", "extent", "stride", "flags")]


class _Buffer(ctypes.Structure):
    """``halide_buffer_t`` of HalideRuntime.h."""

    _fields_ = [
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(_Dimension)),
        ("padding", ctypes.c_void_p),
    ]


def buffer(array: NDArray[np.float32]) -> _Buffer:
    """Describe a C-contiguous array; the caller keeps it alive. Axes are reversed: Halide's first one is innermost."""
    assert array.dtype == np.float32 and array.flags.c_contiguous
    # Not NumPy's strides, which are arbitrary for axes of one element.
    strides = itertools.accumulate(array.shape[::-1], operator.mul, initial=1)
    dims = [_Dimension(0, extent, stride, 0) for extent, stride in zip(array.shape[::-1], strides, strict=False)]
    return _Buffer(
        host=array.ctypes.data,
        type_code=2,
        type_bits=32,
        type_lanes=1,
        dimensions=array.ndim,
        dim=(_Dimension * max(1, len(dims)))(*dims),
    )


def _call(library: ctypes.CDLL, request: Request) -> NDArray[np.float32]:
    batch, stages, _ = request.schedule_features.shape
    costs, loss = np.zeros(batch, np.float32), np.zeros((), np.float32)
    inputs = [request.pipeline_features, np.ascontiguousarray(request.schedule_features.transpose(1, 2, 0))]
    inputs += [np.ascontiguousarray(tensor) for tensor in request.weights.values()]
    buffers = [buffer(array) for array in (*inputs, costs, loss)]
    *input_pointers, costs_pointer, loss_pointer = map(ctypes.byref, buffers)
    status = library.cost_model(
        *map(ctypes.c_int32, (stages, batch, request.parallelism)),
        *input_pointers,
        ctypes.c_float(0),
        *map(ctypes.c_int32, (0, 0)),
        None,
        costs_pointer,
        loss_pointer,
    )
    assert status == 0
    return costs


def _main(plugin: str, requests_file: str, costs_file: str) -> None:
    library = ctypes.CDLL(plugin)
    requests = [Request(**fields) for fields in pickle.loads(Path(requests_file).read_bytes())]
    Path(costs_file).write_bytes(pickle.dumps([_call(library, request) for request in requests]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
