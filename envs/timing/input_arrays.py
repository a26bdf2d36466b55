"""Arrays that a user gives for the inputs of a pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.snapshot import PipelineSnapshot
from halidegym.native._core import InvalidParameter, ParameterData

# NumPy has names for all types of Halide but these; a bfloat is given as the bits that it consists of.
_DTYPES = {"uint1": "bool", "bfloat16": "uint16"}


def digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hexadecimal digest of names, types, shapes and contents; empty if there are none."""
    if not arrays:
        return ""
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.dtype} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def write(problem: SchedulingProblem, arrays: Mapping[str, NDArray[Any]], directory: Path) -> list[str]:
    """Write each array to a raw file in the directory.

    Returns:
        "NAME=FILE" of each.

    Raises:
        InvalidParameter: the problem has no such input, or it has another type or shape.
    """
    parameters = PipelineSnapshot.take(problem.pipeline()).parameters
    inputs = {parameter.name: parameter for parameter in parameters if parameter.is_buffer}
    assignments: list[str] = []
    for name, array in arrays.items():
        if name not in inputs:
            raise InvalidParameter(
                f"inputs: {problem.name} has no input {name!r}. It has {', '.join(inputs) or 'none'}."
            )
        _check(name, array, inputs[name])
        path = directory / f"{len(assignments)}.bin"
        np.ascontiguousarray(array).tofile(path)
        assignments.append(f"{name}={path}")
    return assignments


def _check(name: str, array: NDArray[Any], parameter: ParameterData) -> None:
    names = [f"extent_estimate.{d}" for d in reversed(range(parameter.dimensions))]
    if not parameter.values.keys() >= set(names):
        raise InvalidParameter(
            f"inputs: {name!r} has no estimates of all its dimensions, which tell the shape of its array. Set them by "
            f"set_estimates, or by SchedulingProblem.from_pipeline(..., estimates={{{name!r}: [(min, extent), ...]}})."
        )
    shape = tuple(int(parameter.values[each][1]) for each in names)
    dtype = np.dtype(_DTYPES.get(parameter.type, parameter.type))
    if array.dtype != dtype or array.shape != shape:
        raise InvalidParameter(
            f"inputs: {name!r} is an array of {array.dtype} with shape {array.shape}, but the pipeline wants {dtype} with "
            f"shape {shape}: the estimated extents, dimension 0 last."
        )
