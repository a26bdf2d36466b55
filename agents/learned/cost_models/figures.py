"""How well predictions order schedules by their run time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def rank_correlation(a: Sequence[float] | NDArray[np.float64], b: Sequence[float] | NDArray[np.float64]) -> float:
    """Spearman's, with mean ranks for ties; NaN for fewer than three pairs or a constant side."""
    if len(a) < 3 or len(set(a)) == 1 or len(set(b)) == 1:
        return math.nan
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def regret(costs: Sequence[float] | NDArray[np.float64], times: Sequence[float] | NDArray[np.float64]) -> float:
    """How many times longer the schedule takes that the costs favour than the fastest one.

    Of several favourites with equal costs, the geometric mean: which comes first says nothing about the costs.
    """
    given, taken = np.asarray(costs), np.asarray(times)
    favourites = taken[given == given.min()] / taken.min()
    return float(favourites[0] if len(favourites) == 1 else np.exp(np.log(favourites).mean()))
