"""What a cost model is trained to minimise. All compare the schedules of a group with each other.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from halidegym.agents.learned.cost_models.batches import Batch
from halidegym.agents.learned.cost_models.network import Prediction

LossName: TypeAlias = Literal["throughput", "log_time", "ranks"]
Loss: TypeAlias = Callable[[Prediction, Batch, Tensor], Tensor]
"""Of a prediction for a batch whose schedules have these weights [N]: the sum over its groups."""

LEAST_RELATIVE_COST = 1e-10
_REGULARIZATION = 1e-5


def throughput_loss(prediction: Prediction, batch: Batch, weights: Tensor) -> Tensor:
    """The published loss (section 4.1): squared errors of throughputs relative to that of the group's fastest schedule.

    With weights of 1 it is that of the reference, and so are its gradients.
    """
    predicted = 1 / (prediction.costs / batch.fastest).clamp(min=LEAST_RELATIVE_COST)
    errors = (predicted - batch.fastest / batch.times) ** 2
    # Of all 32 channels, those too that nothing reads (quirk T2).
    negative = (-prediction.pre_activations).clamp(min=0).sum(1)
    of_schedules = torch.zeros_like(errors).index_add(0, batch.schedule, negative)
    return (weights * (errors + _REGULARIZATION * of_schedules)).sum()


def log_time_loss(prediction: Prediction, batch: Batch, weights: Tensor) -> Tensor:
    """Squared errors of log costs as predictions of log times, up to a constant for each group; means over groups.

    A schedule that takes t times as long as the group's fastest one counts 1 / sqrt(t): a search chooses among fast ones.
    """
    weights = weights * (batch.fastest / batch.times).sqrt()
    errors = _log_costs(prediction, batch) - batch.times.log()
    total = _sums(weights, batch)
    means = _sums(weights * errors, batch) / total
    return (_sums(weights * (errors - means[batch.group]) ** 2, batch) / total).sum()


def ranks_loss(prediction: Prediction, batch: Batch, weights: Tensor) -> Tensor:
    """Logistic losses of all pairs of a group: the chance that they are the wrong way round, by their log costs.

    A pair counts as much as the logarithms of its times differ, up to 1, and the less, the slower its faster one is, as
    above; means over the group.
    """
    first, second = _pairs(batch)
    log_costs = _log_costs(prediction, batch)
    gaps = batch.times[second].log() - batch.times[first].log()  # not negative
    counted = weights[first] * weights[second] * gaps.clamp(max=1.0)
    counted = counted * (batch.fastest[first] / batch.times[first]).sqrt()
    losses = functional.softplus(_SHARPNESS * (log_costs[first] - log_costs[second]))
    group, zeros = batch.group[first], losses.new_zeros(batch.num_groups)
    total = zeros.index_add(0, group, counted).clamp(min=1e-12)
    return (zeros.index_add(0, group, counted * losses) / total).sum()


# A pair whose costs differ by a third is as good as certain.
_SHARPNESS = 10.0

LOSSES: Mapping[LossName, Loss] = {"throughput": throughput_loss, "log_time": log_time_loss, "ranks": ranks_loss}


def _log_costs(prediction: Prediction, batch: Batch) -> Tensor:
    return (prediction.costs / batch.fastest).clamp(min=LEAST_RELATIVE_COST).log()


def _sums(values: Tensor, batch: Batch) -> Tensor:
    return values.new_zeros(batch.num_groups).index_add(0, batch.group, values)


def _pairs(batch: Batch) -> tuple[Tensor, Tensor]:
    """All pairs of a group, the faster one first."""
    order = torch.argsort(batch.times)
    group = batch.group[order]
    first, second = torch.triu_indices(len(order), len(order), offset=1)
    is_pair = group[first] == group[second]
    return order[first[is_pair]], order[second[is_pair]]
