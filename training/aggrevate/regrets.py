"""How much a policy loses at its decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halidegym.training.aggrevate.examples import ValuedExamples
from halidegym.training.imitation.trainer import Objective
from halidegym.training.networks.batches import join_present, rows_shown
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.networks.segments import segment_max, segment_softmax, segment_sum


@dataclass(frozen=True)
class Regrets:
    """Means over states.

    Attributes:
        blind, child: regret of a decision that the blind head draws among those that were tried, or that the child-reading
            one does: the logarithm of the cost that it leads to / the least one.
        value: squared error.
        blind_favourite, child_favourite: regret of the decision that each likes most among these.
        mean_value, mean_squared_value: of the values themselves, whose variance the squared error is to be compared with.
    """

    blind: Tensor
    child: Tensor
    value: Tensor
    blind_favourite: Tensor
    child_favourite: Tensor
    mean_value: Tensor
    mean_squared_value: Tensor


def objective(examples: ValuedExamples, device: torch.device) -> Objective[Regrets]:
    """The regrets of a network at some of the examples, for a `Trainer` to minimize."""
    return lambda network, chosen: regrets(network, examples, chosen, device)


def regrets(
    network: PolicyNetwork, examples: ValuedExamples, chosen: NDArray[np.int64], device: torch.device
) -> Regrets:
    """The regrets of a network at the examples of these indices."""
    states = [examples.states[index] for index in chosen]
    problems, joined, decisions = join_present(examples.problems, states)
    problems, joined, decisions = problems.to(device), joined.to(device), decisions.to(device)
    of_decisions = torch.from_numpy(np.concatenate([rows_shown(state, "regrets") for state in states])).to(device)
    values, relative_costs = (
        torch.from_numpy(column[chosen]).to(device) for column in (examples.values, examples.relative_costs)
    )

    encoded = network.encode(problems)
    context = network.context(encoded, joined)

    def of_head(logits: Tensor) -> tuple[Tensor, Tensor]:
        state, count = decisions.state, joined.count
        drawn = segment_sum(segment_softmax(logits, state, count) * of_decisions, state, count)
        is_favourite = logits >= segment_max(logits, state, count)[state]
        favourite = segment_max(torch.where(is_favourite, of_decisions, 0.0), state, count)
        return drawn.mean(), favourite.detach().mean()

    blind, blind_favourite = of_head(network.blind_logits(encoded, context, decisions))
    child, child_favourite = of_head(network.child_logits(encoded, context, decisions))
    errors = network.value(context, joined, relative_costs) - values
    return Regrets(
        blind, child, errors.square().mean(), blind_favourite, child_favourite, values.mean(), values.square().mean()
    )
