"""The information of a vector of environments, in Gymnasium's form."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from operator import itemgetter
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
    everyone = np.fromiter(rows, np.intp, len(rows))
    for key in dict.fromkeys(chain.from_iterable(rows.values())):
        told = everyone
        try:
            values = list(map(itemgetter(key), rows.values()))
        except KeyError:
            told = np.array([index for index, row in rows.items() if key in row], np.intp)
            values = [row[key] for row in rows.values() if key in row]
        if isinstance(values[0], dict):
            result[key] = columns(dict(zip(told.tolist(), values, strict=True)), num_envs)
        else:
            result[key] = column = _empty(values[0], num_envs)
            # NumPy would look into objects that it is given in a list.
            column[told] = np.fromiter(values, object, len(values)) if column.dtype == object else values
        result[f"_{key}"] = mask = np.zeros(num_envs, np.bool_)
        mask[told] = True
    return result


def _empty(value: Any, num_envs: int) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return np.zeros((num_envs, *value.shape), value.dtype)
    if type(value) in (int, float, bool) or isinstance(value, np.number):
        return np.zeros(num_envs, type(value))
    return np.empty(num_envs, object)  # None
