"""What the surrogate reads of a schedule."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.proposals import Proposal
from halidegym.envs.timing.measured_schedule import features_of
from halidegym.native._core import Network, Weights


class Features:
    """Reads schedules of one pipeline.

    Args:
        guide: weights of the cost model that tells beforehand which of them are fast.
    """

    def __init__(self, guide: Weights) -> None:
        self._network = Network(guide)

    def __call__(self, proposal: Proposal) -> NDArray[np.float64]:
        """What each stage has, [F] in all, the log cost last: costs for several numbers of cores differ by these."""
        cores = proposal.parallelism
        stages, pipeline_features, schedule_features = features_of(proposal.state)
        cost = float(self._network.predict(pipeline_features, schedule_features, cores)[0])
        table = np.zeros((proposal.state.space.problem.num_stages, schedule_features.shape[1]))
        table[stages] = np.log1p(np.maximum(schedule_features, 0))
        return np.concatenate([table.ravel(), [math.log(cores), math.log(max(cost, 1e-9) * cores)]])
