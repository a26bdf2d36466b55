"""Intervals, where they are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from halidegym.training.statistics import bootstrap, geometric_mean


def test_the_geometric_mean_has_an_interval() -> None:
    same = geometric_mean([2.0, 2.0])
    assert (same.value, same.low, same.high) == pytest.approx((2, 2, 2))
    found = geometric_mean([1.0, 4.0, 2.0, 2.0])
    assert found.value == pytest.approx(2)
    assert 1 <= found.low < found.value < found.high <= 4
    assert str(found).startswith("2.00 [")
    assert geometric_mean([1.0, 4.0, 2.0, 2.0]) == found


def test_the_interval_is_that_of_the_normal_distribution_where_that_holds() -> None:
    values = np.random.default_rng(1).normal(size=400)
    found = bootstrap([400], lambda drawn: values[drawn].mean(axis=1))
    error = 1.96 * values.std() / 20
    assert (found.low, found.high) == pytest.approx((values.mean() - error, values.mean() + error), abs=0.2 * error)


def test_strata_are_drawn_from_by_themselves() -> None:
    low, high = np.array([0.0, 1.0]), np.array([10.0])

    def both(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        assert a.shape[1] == 2 and b.shape[1] == 1 and len(a) == len(b)
        return np.asarray(low[a].mean(axis=1) + high[b].mean(axis=1))

    found = bootstrap([2, 1], both)
    assert (found.low, found.value, found.high) == (10.0, 10.5, 11.0)


def test_two_and_a_half_per_cent_of_the_draws_are_beyond_either_end() -> None:
    """The first that is drawn of a thousand is any of them."""
    found = bootstrap([1000], lambda drawn: drawn[:, 0].astype(np.float64))
    assert (found.low, found.high) == pytest.approx((25, 975), abs=10)
