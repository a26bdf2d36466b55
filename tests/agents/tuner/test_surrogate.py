"""What a few measurements tell about others."""

from __future__ import annotations

import numpy as np
import pytest

from halidegym.agents.tuner.surrogate import Matrix, Vector, predict


def truth(rows: Matrix) -> Vector:
    return np.asarray(0.5 * np.sin(2 * rows[:, 0]) + 0.2 * rows[:, 1])


def rows_of(count: int, seed: int) -> Matrix:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-2, 2, (count, 2)), np.full(count, 7.0), rng.normal(size=count)])


def test_others_are_predicted() -> None:
    known, unknown = rows_of(60, 0), rows_of(40, 1)
    prediction = predict(known, truth(known) - 3, unknown)
    assert np.corrcoef(prediction.mean, truth(unknown))[0, 1] > 0.95
    assert np.abs(prediction.mean - (truth(unknown) - 3)).mean() < 0.1


def test_noise_is_smoothed_away() -> None:
    known = rows_of(120, 0)
    measured = truth(known) + np.random.default_rng(2).normal(scale=0.3, size=120)
    smoothed = predict(known, measured, known[:1]).known
    assert np.abs(smoothed - truth(known)).mean() < 0.6 * np.abs(measured - truth(known)).mean()


def test_what_is_far_from_all_that_was_measured_is_uncertain() -> None:
    known = rows_of(40, 0)
    far = known[0] + np.array([20.0, 20.0, 0.0, 0.0])
    spread = np.diag(predict(known, truth(known), np.array([known[0], far])).covariance)
    assert spread[1] > 10 * spread[0]


def test_similar_ones_go_together() -> None:
    known = rows_of(10, 0)
    unknown = np.array([known[0] + 5, known[0] + 5.01, known[0] - 5])
    draws = predict(known, truth(known), unknown).draws(2000, np.random.default_rng(0))
    correlation = np.corrcoef(draws.T)
    assert correlation[0, 1] > 0.95 > correlation[0, 2]


@pytest.mark.parametrize("log_times", [np.zeros(12), np.linspace(-1, 1, 12)])
def test_equal_rows_and_equal_times_are_no_reason_to_fail(log_times: Vector) -> None:
    known = np.ones((12, 5))
    prediction = predict(known, log_times, np.ones((3, 5)))
    assert np.isfinite(prediction.draws(4, np.random.default_rng(0))).all()
