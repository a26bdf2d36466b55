"""Costs of measured schedules by any weights, in the core."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import Network, Weights


def predicted_costs(weights: Weights, schedules: Sequence[MeasuredSchedule]) -> NDArray[np.float64]:
    """The costs [N] that searches with these weights see, of schedules of any pipelines; see `MeasuredSchedule.cost`."""
    network = Network(weights)
    alike = dict[tuple[bytes, int], list[int]]()
    for index, measured in enumerate(schedules):
        alike.setdefault((measured.pipeline_features.tobytes(), measured.parallelism), []).append(index)
    costs = np.empty(len(schedules))
    for (_, parallelism), indices in alike.items():
        features = np.stack([schedules[index].schedule_features for index in indices])
        costs[indices] = network.predict(schedules[indices[0]].pipeline_features, features, parallelism)
    return costs
