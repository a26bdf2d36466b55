"""How far a network is from what it shall imitate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halidegym.training.imitation.examples import Examples
from halidegym.training.imitation.trainer import Objective
from halidegym.training.networks.batches import Decisions, Problems, StateAt, States, join_present, rows_shown
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.networks.segments import segment_log_softmax, segment_max, segment_sum


@dataclass(frozen=True)
class Batch:
    """Some examples, joined.

    Attributes:
        problems, states, decisions: see there.
        taken: [N], the decision that each state's plan takes, among all D.
        targets: [D], the shares that the decisions of a state should have, with a sum of 1.
        shift: [D], what is added to logits so that the decisions shown stand for all legal ones.
        weights, value_weights, values, relative_costs: [N], see `Examples`.
    """

    problems: Problems
    states: States
    decisions: Decisions
    taken: Tensor
    targets: Tensor
    shift: Tensor
    weights: Tensor
    value_weights: Tensor
    values: Tensor
    relative_costs: Tensor

    @classmethod
    def of(cls, examples: Examples, chosen: Sequence[int] | NDArray[np.int64], device: torch.device) -> Batch:
        """The examples of these indices."""
        chosen = np.asarray(chosen)
        states = [examples.states[index] for index in chosen]
        problems, joined, decisions = join_present(examples.problems, states)
        shown = np.bincount(decisions.state.numpy(), minlength=len(states))
        taken = np.cumsum(shown) - shown + [state.replayed["taken"][state.row] for state in states]
        targets = np.concatenate([_targets(state) for state in states])
        # What has a share is shown for sure, and stands for itself alone; the others were drawn.
        sure = np.bincount(decisions.state.numpy(), targets > 0, len(states))
        hidden = np.log(np.maximum(joined.num_legal.numpy() - sure, 1) / np.maximum(shown - sure, 1))
        shift = np.where(targets > 0, 0, np.repeat(hidden, shown)).astype(np.float32)
        columns = (examples.weights, examples.value_weights, examples.values, examples.relative_costs)
        return cls(
            problems.to(device),
            joined.to(device),
            decisions.to(device),
            torch.from_numpy(taken).to(device),
            torch.from_numpy(targets).to(device),
            torch.from_numpy(shift).to(device),
            *(torch.from_numpy(column[chosen]).to(device) for column in columns),
        )


@dataclass(frozen=True)
class Losses:
    """Means over the examples of a batch, by their weights.

    Attributes:
        blind, child: cross-entropy of the targets, of the head that reads descriptors, and of that which reads children.
        value: squared error.
        blind_accuracy, child_accuracy: how often the decision taken is the favourite among those shown.
        blind_entropy, child_entropy: of the policies, estimated by the decisions shown.
        mean_value, mean_squared_value: of the values themselves, whose variance the squared error is to be compared with.
    """

    blind: Tensor
    child: Tensor
    value: Tensor
    blind_accuracy: Tensor
    child_accuracy: Tensor
    blind_entropy: Tensor
    child_entropy: Tensor
    mean_value: Tensor
    mean_squared_value: Tensor


def objective(examples: Examples, device: torch.device) -> Objective[Losses]:
    """The losses of a network on some of the examples, for a `Trainer` to minimize."""
    return lambda network, chosen: losses(network, Batch.of(examples, chosen, device))


def losses(network: PolicyNetwork, batch: Batch) -> Losses:
    """The losses of a network."""
    encoded = network.encode(batch.problems)
    context = network.context(encoded, batch.states)
    blind, blind_accuracy, blind_entropy = _of_decisions(network.blind_logits(encoded, context, batch.decisions), batch)
    child, child_accuracy, child_entropy = _of_decisions(network.child_logits(encoded, context, batch.decisions), batch)
    errors = network.value(context, batch.states, batch.relative_costs) - batch.values
    return Losses(
        blind,
        child,
        _mean(errors.square(), batch.value_weights),
        blind_accuracy,
        child_accuracy,
        blind_entropy,
        child_entropy,
        _mean(batch.values, batch.value_weights),
        _mean(batch.values.square(), batch.value_weights),
    )


def _of_decisions(logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy, accuracy and entropy."""
    state, count = batch.decisions.state, batch.states.count
    log_shares = segment_log_softmax(logits + batch.shift, state, count)
    with torch.no_grad():
        is_favourite = (logits[batch.taken] >= segment_max(logits, state, count)).to(logits.dtype)
        # A share is that of the decision and of those that it stands for, which are as likely as it is.
        entropy = segment_sum(log_shares.exp() * (batch.shift - log_shares), state, count)
    surprise = -segment_sum(batch.targets * log_shares, state, count)
    return _mean(surprise, batch.weights), _mean(is_favourite, batch.weights), _mean(entropy, batch.weights)


def _targets(state: StateAt) -> NDArray[np.float32]:
    """The shares that the decisions shown of a state should have: all is that of the one taken, unless others are told."""
    rows, row = state.replayed, state.row
    if "targets" in rows:
        return np.asarray(rows_shown(state, "targets"), np.float32)
    first, end = rows["offsets"][row : row + 2]
    return np.asarray(np.arange(end - first) == rows["taken"][row], np.float32)


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum().clamp(min=1e-6)
