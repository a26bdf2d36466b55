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

    Of several favourites with equal costs, the geometric mean: which comes first says nothing about the costs. The
    fastest by times that scatter is one that was lucky, too, so that this says too much rather than too little.
    """
    taken = np.asarray(times)
    return _favourites_over(costs, taken, taken.min())


def regret_by_halves(
    costs: Sequence[float] | NDArray[np.float64], even: NDArray[np.float64], odd: NDArray[np.float64]
) -> float:
    """The same without luck: the fastest by one half of the turns, as the other half has it.

    The geometric mean over both ways round, of [N] times each. What one half finds the fastest need not be it, so that
    this says too little rather than too much.
    """
    by_odd = _favourites_over(costs, odd, odd[even.argmin()])
    by_even = _favourites_over(costs, even, even[odd.argmin()])
    return math.sqrt(by_odd * by_even)


def _favourites_over(costs: Sequence[float] | NDArray[np.float64], times: NDArray[np.float64], fastest: float) -> float:
    given = np.asarray(costs)
    favourites = times[given == given.min()] / fastest
    return float(favourites[0] if len(favourites) == 1 else np.exp(np.log(favourites).mean()))
