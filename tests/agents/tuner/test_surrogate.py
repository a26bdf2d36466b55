"""What a few measurements tell about others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from halidegym.agents.tuner.surrogate import Matrix, Vector, predict

LENGTHS, SLOPES, NOISES = (0.25, 0.5, 1, 2, 4), (0, 0.3, 1), (0.003, 0.02, 0.1)


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


def written_out(known: Matrix, log_times: Vector, unknown: Matrix) -> tuple[Vector, Matrix, tuple[float, float, float]]:
    """Means of all rows, the covariance of the unknown ones and what the kernel is of, entry by entry and by inverses."""
    count, rows = len(known), np.vstack([known, unknown])
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    targets = (log_times - log_times.mean()) / log_times.std()

    def kernel(length: float, slope: float) -> Matrix:
        def entry(a: Vector, b: Vector) -> float:
            distance = np.linalg.norm(a[:-1] - b[:-1]) / len(a[:-1]) ** 0.5
            likeness = np.exp(-0.5 * (distance / length) ** 2)
            return float(0.5 * likeness + 0.5 * np.mean(a[:-1] * b[:-1]) + slope * a[-1] * b[-1])

        return np.array([[entry(a, b) for b in rows] for a in rows])

    def log_likelihood(setting: tuple[float, float, float]) -> float:
        """Logarithm of the targets' density, at the scale of the kernel where it is highest."""
        length, slope, noise = setting
        covariance = kernel(length, slope)[:count, :count] + noise * np.eye(count)
        covariance *= targets @ np.linalg.inv(covariance) @ targets / count
        return float(
            -0.5 * (targets @ np.linalg.inv(covariance) @ targets + np.linalg.slogdet(2 * np.pi * covariance)[1])
        )

    length, slope, noise = best = max(itertools.product(LENGTHS, SLOPES, NOISES), key=log_likelihood)
    whole = kernel(length, slope)
    weights = whole[:, :count] @ np.linalg.inv(whole[:count, :count] + noise * np.eye(count))
    covariance = (whole - weights @ whole[:count])[count:, count:]
    means = log_times.mean() + log_times.std() * weights @ targets
    return means, log_times.var() * (covariance + 1e-6 * np.eye(len(unknown))), best


def test_it_is_the_process_of_the_book_with_the_likeliest_kernel() -> None:
    found = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(16, 4))
        smooth = np.sin((0.5, 1, 2)[seed % 3] * rows[:, 0]) + (0, 1.5)[seed % 2] * rows[:, 3]
        log_times = 0.3 * (smooth + (0.01, 0.3)[seed // 3] * rng.normal(size=16))[:12] - 5
        means, covariance, setting = written_out(rows[:12], log_times, rows[12:])
        prediction = predict(rows[:12], log_times, rows[12:])
        assert np.concatenate([prediction.known, prediction.mean]) == pytest.approx(means)
        assert prediction.covariance == pytest.approx(covariance)
        found.add(setting)
    assert len(found) > 3
