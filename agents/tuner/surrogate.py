"""What the schedules measured so far tell about others of the same pipeline: a Gaussian process on their features.

Twenty measurements of the pipeline at hand order its schedules better than a cost model of all others does, and a kernel on
the features learns as much of them as the network when it is trained on, in milliseconds (Rasmussen and Williams, Gaussian
Processes for Machine Learning, 2006, chapters 2 and 5). Half of the kernel is linear in the features, half knows similarity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_LENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
_NOISES = (0.003, 0.02, 0.1)  # variance, of that of the run times
_SLOPES = (0.0, 0.3, 1.0)  # of the prior that log times go with log costs


@dataclass(frozen=True)
class Prediction:
    """Of log times: what those measured are without the noise, and a joint normal distribution of the others."""

    known: Vector
    mean: Vector
    covariance: Matrix

    def draws(self, count: int, rng: np.random.Generator) -> Matrix:
        """So many samples of the log times of the others [count, schedules]."""
        return rng.multivariate_normal(self.mean, self.covariance, count, method="cholesky", check_valid="ignore")


def predict(known: Matrix, log_times: Vector, unknown: Matrix) -> Prediction:
    """Predict log times.

    Args:
        known: features of the schedules measured, a row each, the log cost last.
        log_times: of these.
        unknown: features of the others.
    """
    rows, count = _standardized(np.vstack([known, unknown])), len(known)
    shift, scale = float(np.mean(log_times)), max(float(np.std(log_times)), 1e-3)
    targets = (log_times - shift) / scale
    products, costs = rows[:, :-1] @ rows[:, :-1].T / max(rows.shape[1] - 1, 1), rows[:, -1]
    distances, by_cost = _squared_distances(products), np.outer(costs, costs)
    best, kernel, noise = -math.inf, products, 0.0
    for length in _LENGTHS:
        likeness = 0.5 * np.exp(-0.5 * distances / length**2) + 0.5 * products
        for slope in _SLOPES:
            candidate = likeness + slope * by_cost
            for variance in _NOISES:
                evidence = _log_evidence(candidate[:count, :count], variance, targets)
                if evidence > best:
                    best, kernel, noise = evidence, candidate, variance
    solved = np.linalg.solve(
        kernel[:count, :count] + noise * np.eye(count), np.column_stack([targets, kernel[:count, count:]])
    )
    across = kernel[count:, :count]
    spread = kernel[count:, count:] - across @ solved[:, 1:]
    jitter = 1e-6 * np.eye(len(unknown))
    means = shift + scale * (kernel[:, :count] @ solved[:, 0])
    return Prediction(means[:count], means[count:], scale**2 * ((spread + spread.T) / 2 + jitter))


def _log_evidence(kernel: Matrix, noise: float, targets: Vector) -> float:
    """How well a kernel explains the targets, at its best scale; up to a constant.

    With the targets t as another row and column, whose last entry is c, the last pivot of the one factorization is
    c - t' K^-1 t; no eigenvalue of K is below the noise, which tells how large c must be.
    """
    count, enough = len(targets), 2 * float(targets @ targets) / noise + 1
    bordered = np.empty((count + 1, count + 1))
    bordered[:count, :count] = kernel
    bordered[count, :count] = bordered[:count, count] = targets
    bordered[count, count] = enough - noise
    np.fill_diagonal(bordered, np.diag(bordered) + noise)
    pivots = np.diag(np.linalg.cholesky(bordered))
    explained = max((enough - float(pivots[-1]) ** 2) / count, 1e-9)
    return -0.5 * count * math.log(explained) - float(np.log(pivots[:-1]).sum())


def _standardized(rows: Matrix) -> Matrix:
    """Columns with mean 0 and deviation 1; those that are constant are left out, but not the last."""
    deviations = rows.std(axis=0)
    kept = deviations > 1e-9
    kept[-1], deviations[-1] = True, max(deviations[-1], 1e-9)
    return np.asarray((rows[:, kept] - rows[:, kept].mean(axis=0)) / deviations[kept])


def _squared_distances(products: Matrix) -> Matrix:
    """Of all pairs of rows with these scalar products."""
    squares = np.diag(products)
    return np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0)
