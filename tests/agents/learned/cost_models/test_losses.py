"""Losses against the same written down schedule by schedule, and pair by pair."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from halidegym.agents.learned.cost_models.batches import Batch
from halidegym.agents.learned.cost_models.losses import log_time_loss, ranks_loss
from halidegym.agents.learned.cost_models.network import Prediction
from measured_for_tests import measured

TIMES = {"a": (3.0, 1.0, 20.0, 1.5), "b": (0.2, 0.1, 0.15)}
COSTS = {"a": (2.0, 1.2, 9.0, 1.0), "b": (0.3, 0.3, 0.2)}
WEIGHTS = {"a": (1.0, 2.0, 0.5, 1.0), "b": (1.0, 0.0, 3.0)}
BATCH = Batch.of(
    [
        measured(np.ones((1, 39)), np.ones((1, 7, 40)), 1e-3 * time, pipeline=name)
        for name in TIMES
        for time in TIMES[name]
    ]
)


def flat(values: dict[str, tuple[float, ...]]) -> torch.Tensor:
    return torch.tensor([*itertools.chain(*values.values())])


PREDICTION = Prediction(flat(COSTS), torch.zeros(len(BATCH), 32))


def test_errors_of_log_times_are_about_their_mean_and_count_less_for_slow_schedules() -> None:
    expected = 0.0
    for name, times in TIMES.items():
        weights = [w / math.sqrt(t / min(times)) for w, t in zip(WEIGHTS[name], times, strict=True)]
        errors = np.log(COSTS[name]) - np.log(times)
        mean = np.average(errors, weights=weights)
        expected += np.average((errors - mean) ** 2, weights=weights)
    assert log_time_loss(PREDICTION, BATCH, flat(WEIGHTS)).item() == pytest.approx(expected, rel=1e-5)


def test_pairs_count_by_how_far_their_times_are_apart_and_how_fast_the_faster_one_is() -> None:
    expected = 0.0
    for name, times in TIMES.items():
        losses, counted = [], []
        for fast, slow in itertools.permutations(range(len(times)), 2):
            if times[fast] < times[slow]:
                gap = min(math.log(times[slow] / times[fast]), 1)
                weight = WEIGHTS[name][fast] * WEIGHTS[name][slow]
                counted.append(weight * gap / math.sqrt(times[fast] / min(times)))
                losses.append(math.log1p((COSTS[name][fast] / COSTS[name][slow]) ** 10))
        expected += np.average(losses, weights=counted)
    assert ranks_loss(PREDICTION, BATCH, flat(WEIGHTS)).item() == pytest.approx(expected, rel=1e-5)
