"""The information of a vector of environments, in Gymnasium's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def columns(rows: Mapping[int, Mapping[str, Any]], num_envs: int) -> dict[str, Any]:
    """What some environments tell: an array for each key, and beside it, behind an underscore, who tells it.

    The same as `VectorEnv._add_info` makes of them, column by column.

    Args:
        rows: the information of environments, by their index.
        num_envs: number of all environments.
    """
    result: dict[str, Any] = {}
    for key in dict.fromkeys(key for row in rows.values() for key in row):
        values = {index: row[key] for index, row in rows.items() if key in row}
        first = next(iter(values.values()))
        if isinstance(first, dict):
            result[key] = columns(values, num_envs)
        else:
            result[key] = column = _empty(first, num_envs)
            for index, value in values.items():
                column[index] = value
        told = np.zeros(num_envs, np.bool_)
        told[list(values)] = True
        result[f"_{key}"] = told
    return result


def _empty(value: Any, num_envs: int) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return np.zeros((num_envs, *value.shape), value.dtype)
    if type(value) in (int, float, bool) or isinstance(value, np.number):
        return np.zeros(num_envs, type(value))
    return np.full(num_envs, None, object)
