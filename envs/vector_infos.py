"""The information of a vector of environments, in Gymnasium's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Told: TypeAlias = tuple[list[int], list[Any]]


def columns(rows: Mapping[int, Mapping[str, Any]], num_envs: int) -> dict[str, Any]:
    """What some environments tell: an array for each key, and beside it, behind an underscore, who tells it.

    The same as `VectorEnv._add_info` makes of them, column by column.

    Args:
        rows: the information of environments, by their index.
        num_envs: number of all environments.
    """
    told: dict[str, Told] = {}
    for index, row in rows.items():
        for key, value in row.items():
            indices, values = told.setdefault(key, ([], []))
            indices.append(index)
            values.append(value)
    return arrays(told, num_envs)


def arrays(told: Mapping[str, tuple[Sequence[int] | NDArray[np.intp], Sequence[Any]]], num_envs: int) -> dict[str, Any]:
    """The same of what is told by key: the indices of those who tell it, and the value of each."""
    result: dict[str, Any] = {}
    for key, (indices, values) in told.items():
        if isinstance(values[0], dict):
            result[key] = columns(dict(zip(map(int, indices), values, strict=True)), num_envs)
        else:
            result[key] = column = _empty(values[0], num_envs)
            # NumPy would look into objects that it is given in a list.
            column[indices] = np.fromiter(values, object, len(values)) if column.dtype == object else values
        result[f"_{key}"] = mask = np.zeros(num_envs, np.bool_)
        mask[indices] = True
    return result


def _empty(value: Any, num_envs: int) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return np.zeros((num_envs, *value.shape), value.dtype)
    if type(value) in (int, float, bool) or isinstance(value, np.number):
        return np.zeros(num_envs, type(value))
    return np.empty(num_envs, object)  # None
