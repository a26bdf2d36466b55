"""Measured schedules that nobody measured: features and times that are made up, or follow a secret cost model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import Weights
from halidegym.native.weights import builtin_weights, make_weights


def measured(
    features: NDArray[Any], pipeline_features: NDArray[Any], run_time_s: float, **fields: Any
) -> MeasuredSchedule:
    """A schedule with these features."""
    plain: dict[str, Any] = {
        "pipeline": "made_up", "problem": "0", "split": "train", "kind": "careless", "actions": (), "parallelism": 16,
        "threads": 1, "cost": 1.0, "outcome": "ok", "error": "", "turns_s": (run_time_s,) * 4, "disturbed": 0,
        "compile_s": 1.0,
    }  # fmt: skip
    return MeasuredSchedule(
        **{**plain, **fields},
        run_time_s=run_time_s,
        stages=np.arange(len(features), dtype=np.int32),
        pipeline_features=pipeline_features.astype(np.int32),
        schedule_features=features.astype(np.float64),
    )


def random_features(
    random: np.random.Generator, batch: int, stages: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Schedule features [B, S, 39] over many magnitudes, with the cases of the formula, and pipeline features [S, 7, 40]."""
    features = np.floor(np.exp(random.uniform(0, 12, (batch, stages, 39))))
    features[random.random(features.shape) < 0.1] = 0
    features[random.random(features.shape) < 0.1] = 1
    features[:, :, 17] *= random.random((batch, stages)) < 0.3  # mostly not inlined
    features[:, :, 9] = np.where(random.random((batch, stages)) < 0.5, 1, np.clip(features[:, :, 9], 1, 64))
    return features, np.floor(np.exp(random.uniform(-3, 3, (stages, 7, 40))))


def perturbed(seed: int, noise: float = 0.1) -> Weights:
    """Weights near the built-in ones."""
    random = np.random.default_rng(seed)
    return make_weights(
        {
            name: (tensor + random.normal(0, noise, tensor.shape)).astype(np.float32)
            for name, tensor in builtin_weights().tensors().items()
        }
    )


def measured_by(
    model: Weights, seed: int, count: int = 30, stages: int = 3, noise: float = 0.0, **fields: Any
) -> Sequence[MeasuredSchedule]:
    """Schedules of one pipeline whose times are what a model says, in milliseconds, but for an error of so much."""
    from halidegym.agents.learned.cost_models.predicted import predicted_costs

    random = np.random.default_rng(seed)
    features, pipeline = random_features(random, count, stages)
    fields = {"pipeline": f"pipeline_{seed}", "problem": str(seed), **fields}
    timeless = [measured(rows, pipeline, 1.0, **fields) for rows in features]
    times = 1e-3 * predicted_costs(model, timeless) * np.exp(random.normal(0, noise, count))
    return [measured(rows, pipeline, time, **fields) for rows, time in zip(features, times, strict=True)]


def pipelines(first: int, count: int) -> list[MeasuredSchedule]:
    """Twelve schedules each of so many pipelines, whose times follow a secret model."""
    secret = perturbed(5, 1.0)
    return [measured for seed in range(first, first + count) for measured in measured_by(secret, seed, 12, noise=0.05)]
