"""The network in torch against the one in the core, which the plugin's is compared with."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from halidegym.agents.learned.cost_models.batches import Batch
from halidegym.agents.learned.cost_models.network import CostNetwork, scaled
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.envs.timing.measured_schedule import MeasuredSchedule, features_of
from halidegym.native.weights import builtin_weights
from measured_for_tests import measured, measured_by, perturbed


def mixed() -> list[MeasuredSchedule]:
    """Schedules of pipelines of several sizes, for several numbers of cores, shuffled."""
    sizes = [(5, 1, 1), (7, 4, 2), (3, 2, 16), (9, 12, 64)]
    schedules = [
        schedule
        for seed, (count, stages, cores) in enumerate(sizes)
        for schedule in measured_by(builtin_weights(), seed, count, stages, parallelism=cores)
    ]
    return [schedules[index] for index in np.random.default_rng(0).permutation(len(schedules))]


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_costs_are_those_of_the_core(noise: float) -> None:
    weights, schedules = perturbed(1, noise), mixed()
    expected = predicted_costs(weights, schedules)
    with torch.no_grad():
        single = CostNetwork(weights)(Batch.of(schedules)).costs.numpy()
        double = CostNetwork(weights).double()(Batch.of(schedules, torch.float64)).costs.numpy()
    np.testing.assert_allclose(single, expected, rtol=3e-5)
    np.testing.assert_allclose(double, expected, rtol=3e-5)


def test_costs_of_real_schedules_are_those_that_searches_see() -> None:
    space = Rules().space(toys.problem("toy_two_outputs"))
    schedules, costs = [], []
    for seed in range(20):
        state = space.initial_state()
        while not state.is_complete:
            _, state = state.random_decision(seed)
        _, pipeline_features, rows = features_of(state)
        cores = space.problem.parallelism
        schedules.append(measured(rows, pipeline_features, 1.0, parallelism=cores))
        costs.append(state.cost())
    assert list(predicted_costs(builtin_weights(), schedules)) == costs
    with torch.no_grad():
        ours = CostNetwork(builtin_weights())(Batch.of(schedules)).costs.numpy()
    np.testing.assert_allclose(ours, costs, rtol=1e-5)


def test_weights_come_out_as_they_went_in() -> None:
    weights = perturbed(2)
    assert CostNetwork(weights).weights() == weights
    assert CostNetwork(weights).double().weights() == weights


def test_scaled_weights_scale_costs() -> None:
    weights, schedules = perturbed(3), mixed()
    np.testing.assert_allclose(
        predicted_costs(scaled(weights, 0.37), schedules), 0.37 * predicted_costs(weights, schedules), rtol=1e-5
    )
