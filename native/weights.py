"""Weights of the cost model: the ones inside the ``halide`` package, and files of others."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from halidegym.native._core import FormatError, InvalidParameter, Weights
from halidegym.native.checks import checked_path
from halidegym.native.files import real_path, write_atomically

#: Where the reference keeps its shared library inside the ``halide`` package.
PLUGIN = "lib64/libautoschedule_adams2019.so"

_HEADER = struct.pack("<4I", 0x68776631, 3, 3, 6)
_FIRST_EXTENTS = struct.pack("<4I", 3, 8, 40, 7)
_FILE_SIZE = 17136
_TENSORS = ("head1_filter", "head1_bias", "head2_filter", "head2_bias", "conv1_filter", "conv1_bias")


@functools.cache
def builtin_weights() -> Weights:
    """Return the pretrained weights of the installed ``halide`` package.

    They lie inside the Adams2019 plugin in the format of a ``.weights`` file and are found by their header, which
    occurs there once (docs/specification/search-and-cost-model.md, section 4.5). The plugin is read, not loaded.

    Raises:
        FormatError: the ``halide`` package is missing, or its plugin holds no such weights.
    """
    spec = importlib.util.find_spec("halide")
    if spec is None or spec.origin is None:
        raise FormatError("Cannot read the built-in cost model weights: no package `halide`; install halide==21.0.0.")
    plugin = Path(spec.origin).parent / PLUGIN
    if not plugin.is_file():
        raise FormatError(f"Cannot read the built-in cost model weights: no file {plugin}; install halide==21.0.0.")
    data = plugin.read_bytes()
    start = data.find(_HEADER + _FIRST_EXTENTS)
    if start < 0:
        raise FormatError(f"Found no cost model weights in {plugin}; install halide==21.0.0, or load a .weights file.")
    return Weights.from_bytes(data[start : start + _FILE_SIZE], origin=str(plugin))


@functools.cache
def _load(path: Path, modified_ns: int) -> Weights:
    return Weights.from_bytes(path.read_bytes(), origin=str(path))


def load_weights(path: str | Path) -> Weights:
    """Read a ``.weights`` file, as written by :func:`save_weights` or Halide's ``adams2019_retrain_cost_model``.

    Raises:
        InvalidParameter: `path` is none.
        FormatError: the file cannot be read, is truncated, or belongs to another network or feature version.
    """
    path = checked_path("path", path)
    try:
        path = real_path(path)
        return _load(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise FormatError(f"Cannot read cost model weights from {path}: {error.strerror}. Check the path.") from error


def check_weights(weights: object, name: str = "weights") -> None:
    """Check what is to be weights, or None for those that an argument stands for by default, without reading a file.

    Args:
        weights: what was given.
        name: of the parameter.

    Raises:
        InvalidParameter: it is neither weights nor a path.
    """
    if weights is not None and not isinstance(weights, Weights | str | os.PathLike):
        raise InvalidParameter(
            f"{name}={weights!r} is a {type(weights).__name__}; give Weights or the path of a .weights file"
        )


def resolve_weights(weights: Weights | str | Path | None) -> Weights:
    """The weights that an argument stands for: themselves, those of a ``.weights`` file, or the built-in ones for None.

    Raises:
        FormatError: see :func:`load_weights` and :func:`builtin_weights`.
        InvalidParameter: it is none of these.
    """
    if weights is None:
        return builtin_weights()
    check_weights(weights)
    return weights if isinstance(weights, Weights) else load_weights(weights)


def save_weights(weights: Weights, path: str | Path) -> None:
    """Write a ``.weights`` file that Halide's Adams2019 autoscheduler and its tools read too.

    Raises:
        InvalidParameter: `path` is none.
        OSError: the file cannot be written.
    """
    write_atomically(checked_path("path", path), weights.to_bytes())


def make_weights(tensors: Mapping[str, NDArray[np.float32]]) -> Weights:
    """Build weights from the six tensors, named and shaped as in ``Weights.tensors()`` (the output channel last).

    Raises:
        FormatError: a tensor has another shape.
        KeyError: a tensor is missing.
    """
    data = bytearray(_HEADER)
    for name in _TENSORS:
        tensor = np.ascontiguousarray(tensors[name], dtype="<f4")
        data += struct.pack(f"<{tensor.ndim + 1}I", tensor.ndim, *reversed(tensor.shape))
        data += tensor.tobytes()
    return Weights.from_bytes(bytes(data), origin="the given tensors")


def weights_hash(weights: Weights) -> str:
    """Return the SHA-256 of the file that holds these weights, in hex; the built-in ones give ``de088dc7...``."""
    return hashlib.sha256(weights.to_bytes()).hexdigest()
