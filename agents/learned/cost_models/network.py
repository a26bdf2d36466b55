"""The published network in torch, on batches of schedules; `halidegym.native._core.Network` is the same for inference.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from halidegym.agents.learned.cost_models.batches import Batch
from halidegym.native._core import Weights
from halidegym.native.weights import builtin_weights, make_weights

HEAD1_CHANNELS = 8


class Prediction(NamedTuple):
    """What the network says of a batch."""

    costs: Tensor
    """[N], milliseconds as trained."""
    pre_activations: Tensor
    """[R, 32], the coefficients before those below 0 become 0."""


class CostNetwork(nn.Module):
    """The network of sections 3.2 to 3.4; its parameters have the names and shapes of `Weights.tensors()`."""

    head1_filter: Tensor
    head1_bias: Tensor
    head2_filter: Tensor
    head2_bias: Tensor
    conv1_filter: Tensor
    conv1_bias: Tensor

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        for name, tensor in weights.tensors().items():
            self.register_parameter(name, nn.Parameter(torch.tensor(tensor)))

    def weights(self) -> Weights:
        """The parameters as they are now."""
        return make_weights({name: tensor.detach().cpu().numpy() for name, tensor in self.named_parameters()})

    def forward(self, batch: Batch) -> Prediction:
        """Rate schedules."""
        # The logistic function is applied to the weights, and to no activation (quirk C2).
        head1 = batch.algorithm_features @ torch.sigmoid(self.head1_filter).flatten(0, 1) + self.head1_bias
        # Unlike relu, clamp lets the gradient pass at 0, as the reference does (section 4.2).
        head2 = (batch.log_features @ self.head2_filter + self.head2_bias).clamp(min=0)
        of_algorithm = head1 @ self.conv1_filter[:HEAD1_CHANNELS] + self.conv1_bias
        z = of_algorithm[batch.algorithm] + head2 @ self.conv1_filter[HEAD1_CHANNELS:]
        of_stages = (z.clamp(min=0) * batch.terms).sum(1)
        return Prediction(of_stages.new_zeros(len(batch)).index_add(0, batch.schedule, of_stages), z)


def scaled(weights: Weights, factor: float) -> Weights:
    """Weights whose costs are so many times those of others: coefficients are proportional to the last layer."""
    tensors = weights.tensors()
    for name in ("conv1_filter", "conv1_bias"):
        tensors[name] = (factor * tensors[name]).astype(np.float32)
    return make_weights(tensors)


def random_weights(random: np.random.Generator) -> Weights:
    """Weights from -0.5 to 0.5, as the reference makes them where it has none (section 4.4)."""
    tensors = builtin_weights().tensors().items()
    return make_weights({name: random.uniform(-0.5, 0.5, tensor.shape).astype(np.float32) for name, tensor in tensors})
