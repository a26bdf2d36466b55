"""The observations of schedules: their space, and their tables in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from halidegym.native._core import ObservationShape

Observation = dict[str, Any]
"""Arrays by their names; `HalideSchedule` describes them."""

# Features are log(1 + x) of numbers up to 2^63, trip counts log2(1 + x); stages and depths are small integers. Tasks per
# core can be less than one, and costs are natural logarithms of ratios.
_MAX_SCALED = 64.0
_MAX_LOG_RATIO = 20.0

# Of the tables in an observation, except for `decisions`, which depends on the problem.
_COLUMNS = {
    "algorithm_features": 280,
    "stage_features": 24,
    "schedule_features": 39,
    "edges": 2,
    "edge_features": 8,
    "decision_features": 43,
}


def observation_space(shape: ObservationShape) -> spaces.Dict:
    """The space of observations of this shape."""
    stages, edges, decisions = shape.stages, shape.edges, shape.decisions

    def scaled(key: str, rows: int, low: float = 0) -> spaces.Box:
        return spaces.Box(low, _MAX_SCALED, (rows * _COLUMNS[key],), np.float32)

    parts = {
        "algorithm_features": scaled("algorithm_features", stages),
        "stage_features": scaled("stage_features", stages),
        "schedule_features": scaled("schedule_features", stages),
        "stage_costs": spaces.Box(-_MAX_LOG_RATIO, _MAX_LOG_RATIO, (stages,), np.float32),
        "stage_mask": spaces.MultiBinary(stages),
        "scheduled": spaces.MultiBinary(stages),
        "deciding": spaces.MultiBinary(stages),
        "phase": spaces.MultiBinary(2),
        "edges": spaces.Box(-1, stages - 1, (edges * _COLUMNS["edges"],), np.int32),
        "edge_features": scaled("edge_features", edges),
        "decisions": spaces.Box(
            -_MAX_SCALED, _MAX_SCALED + 4 * stages, (decisions * shape.descriptor_size,), np.float32
        ),
        "decision_stage": spaces.Box(-1, stages - 1, (decisions,), np.int32),
        "action_mask": spaces.MultiBinary(decisions),
    }
    if shape.child_features:
        parts["decision_features"] = scaled("decision_features", decisions, -_MAX_LOG_RATIO)
    return spaces.Dict(parts)


def tables(observation: Observation, shape: ObservationShape) -> Observation:
    """The observation with its tables in two dimensions: one row a stage, edge or decision. Views, no copies.

    Takes batches, too: any dimensions before the last one stay.
    """
    columns = {**_COLUMNS, "decisions": shape.descriptor_size}
    return {
        key: value.reshape(*value.shape[:-1], -1, columns[key]) if key in columns else value
        for key, value in observation.items()
    }
