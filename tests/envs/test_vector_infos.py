"""Information of vectors: what Gymnasium's own vectors make of the same rows, to the type."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from hypothesis import given
from hypothesis import strategies as st

from halidegym.envs.vector_infos import columns

NUM_ENVS = 4
SEVERAL = st.tuples(st.integers(-5, 5), st.integers(-5, 5))

# Each key has values of one kind, as the information of environments has.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "flag": st.booleans(),
    "count": st.integers(-9, 9),
    "cost": st.floats(allow_nan=False, width=32),
    "reward": st.floats(-9, 9, width=32).map(np.float32),
    "index": st.integers(0, 9).map(np.int16),
    "mask": SEVERAL.map(lambda pair: np.array(pair, np.int8)),
    "path": SEVERAL,
    "name": st.text(max_size=3),
    "nothing": st.none(),
}
ROW = st.fixed_dictionaries({}, optional={**VALUES, "inner": st.fixed_dictionaries({}, optional=VALUES)})


def by_gymnasium(rows: dict[int, dict[str, Any]]) -> dict[str, Any]:
    vector: VectorEnv[Any, Any, Any] = VectorEnv()
    vector.num_envs = NUM_ENVS
    told: dict[str, Any] = {}
    for index, row in rows.items():
        told = vector._add_info(told, row, index)
    return told


def check_equal(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert ours.keys() == theirs.keys()
    for key, column in theirs.items():
        if isinstance(column, dict):
            check_equal(ours[key], column)
        else:
            assert (ours[key].dtype, ours[key].shape) == (column.dtype, column.shape)
            assert ours[key].tolist() == column.tolist()


@given(st.dictionaries(st.integers(0, NUM_ENVS - 1), ROW))
def test_columns_are_those_of_gymnasium(rows: dict[int, dict[str, Any]]) -> None:
    check_equal(columns(rows, NUM_ENVS), by_gymnasium(rows))
