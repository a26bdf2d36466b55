"""What environments and vectors of them return, compared to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from halidegym.envs.schedules.schedule import Schedule


def check_same(left: Any, right: Any, where: str = "") -> None:
    """Check that two values, mappings or arrays of them are of equal kinds and bits."""
    assert type(left) is type(right), where
    if isinstance(left, Mapping):
        assert set(left) == set(right), where
        for key in left:
            check_same(left[key], right[key], f"{where}/{key}")
    elif isinstance(left, tuple | list):
        assert len(left) == len(right), where
        for index, (a, b) in enumerate(zip(left, right, strict=True)):
            check_same(a, b, f"{where}/{index}")
    elif isinstance(left, np.ndarray):
        assert (left.dtype, left.shape) == (right.dtype, right.shape), where
        if left.dtype == object:
            check_same(left.tolist(), right.tolist(), where)
        else:
            assert left.tobytes() == right.tobytes(), where
    elif isinstance(left, Schedule):
        assert left.nest == right.nest and left.cpp() == right.cpp(), where
    elif isinstance(left, float):
        assert np.float64(left).tobytes() == np.float64(right).tobytes(), where
    else:
        assert left == right, where
