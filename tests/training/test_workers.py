"""Calls in processes that may die."""

from __future__ import annotations

import pytest

from halidegym.training.workers import Failed, in_processes
from isolated_functions import square


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_a_death_is_one_of_them(workers: int) -> None:
    results = list(in_processes(square, [(number,) for number in range(6)], workers))
    assert results == [0, 1, 4, Failed("its process died of SIGABRT"), 16, 25]


def test_exceptions_are_raised_here() -> None:
    with pytest.raises(ValueError, match="-2 is negative"):
        list(in_processes(square, [(1,), (-2,), (4,)], 1))


def test_who_stops_asking_is_not_kept_waiting() -> None:
    results = in_processes(square, [(number,) for number in (1, *[4] * 1000)], 2)
    assert next(results) == 1
    results.close()
