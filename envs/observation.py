"""The observations of schedules: their space, and their tables in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from halidegym.native._core import ObservationShape

Observation = dict[str, Any]
"""Arrays by their names; `HalideSchedule` describes them."""

# Features are log(1 + x) of numbers up to 2^63, trip counts log2(1 + x); stages and depths are small integers.
_MAX_SCALED = 64.0

# Of the tables in an observation, except for `decisions`, which depends on the problem.
_COLUMNS = {"algorithm_features": 280, "schedule_features": 39, "edges": 2}


def observation_space(shape: ObservationShape) -> spaces.Dict:
    """The space of observations of this shape."""
    stages, decisions = shape.stages, shape.decisions
    return spaces.Dict(
        {
            "algorithm_features": spaces.Box(0, _MAX_SCALED, (stages * _COLUMNS["algorithm_features"],), np.float32),
            "schedule_features": spaces.Box(0, _MAX_SCALED, (stages * _COLUMNS["schedule_features"],), np.float32),
            "stage_mask": spaces.MultiBinary(stages),
            "scheduled": spaces.MultiBinary(stages),
            "deciding": spaces.MultiBinary(stages),
            "phase": spaces.MultiBinary(2),
            "edges": spaces.Box(-1, stages - 1, (shape.edges * _COLUMNS["edges"],), np.int32),
            "decisions": spaces.Box(0, _MAX_SCALED + 4 * stages, (decisions * shape.descriptor_size,), np.float32),
            "action_mask": spaces.MultiBinary(decisions),
        }
    )


def tables(observation: Observation, shape: ObservationShape) -> Observation:
    """The observation with its tables in two dimensions: one row a stage, edge or decision. Views, no copies.

    Takes batches, too: any dimensions before the last one stay.
    """
    columns = {**_COLUMNS, "decisions": shape.descriptor_size}
    return {
        key: value.reshape(*value.shape[:-1], -1, columns[key]) if key in columns else value
        for key, value in observation.items()
    }
