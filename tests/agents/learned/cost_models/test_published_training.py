"""The published loss, its gradients and updates against the plugin's compiled training step.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from halidegym.agents.learned.cost_models.batches import Batch
from halidegym.agents.learned.cost_models.fine_tuning import adam
from halidegym.agents.learned.cost_models.losses import throughput_loss
from halidegym.agents.learned.cost_models.network import CostNetwork
from halidegym.agents.reference.process import plugin_path
from halidegym.native._core import Weights
from measured_for_tests import measured, perturbed, random_features
from oracle.plugin_cost_model import Request
from oracle.plugin_training import Step, Trained, plugin_train

UPDATES = 3
LEARNING_RATE = 0.001


def case(seed: int, batch: int, stages: int, cores: int) -> tuple[Weights, Batch, Step]:
    """Times around what the model says, so that no throughput is far off, as after some training."""
    random = np.random.default_rng(seed)
    features, pipeline = random_features(random, batch, stages)
    weights = perturbed(seed)
    timeless = [measured(rows, pipeline, 1.0, parallelism=cores) for rows in features]
    costs = CostNetwork(weights)(Batch.of(timeless)).costs.detach().numpy()
    times = costs * np.exp(random.normal(0, 0.5, batch)).astype(np.float32)
    ours = [
        measured(rows, pipeline, 1e-3 * time, parallelism=cores) for rows, time in zip(features, times, strict=True)
    ]
    request = Request(weights.tensors(), pipeline.astype(np.float32), features.astype(np.float32), cores)
    return weights, Batch.of(ours, torch.float64), Step(request, times.astype(np.float32), LEARNING_RATE, UPDATES)


CASES = [case(0, 1, 1, 1), case(1, 8, 1, 16), case(2, 13, 4, 2), case(3, 32, 9, 16), case(4, 100, 5, 64)]


@pytest.fixture(scope="module")
def trained() -> list[Trained]:
    return plugin_train(plugin_path("Adams2019"), [step for _, _, step in CASES])


@pytest.mark.parametrize("index", range(len(CASES)))
def test_loss_gradients_and_updates_are_those_of_the_plugin(index: int, trained: list[Trained]) -> None:
    weights, batch, _ = CASES[index]
    theirs = trained[index]
    network = CostNetwork(weights).double()
    optimizer = adam(network, LEARNING_RATE)
    for update in range(UPDATES):
        optimizer.zero_grad()
        loss = throughput_loss(network(batch), batch, torch.ones(len(batch), dtype=torch.float64))
        loss.backward()  # type: ignore[no-untyped-call]
        assert loss.item() == pytest.approx(theirs.losses[update], rel=1e-5)
        for name, parameter in network.named_parameters():
            expected = theirs.gradients[update][name]
            assert parameter.grad is not None
            scale = np.abs(expected).max()
            np.testing.assert_allclose(parameter.grad.numpy(), expected, rtol=0, atol=1e-4 * scale, err_msg=name)
        optimizer.step()
    for name, tensor in network.weights().tensors().items():
        np.testing.assert_allclose(tensor, theirs.weights[name], rtol=1e-6, atol=3e-6, err_msg=name)
