"""How far a policy is from one that it can become: itself, but less inclined to decisions that lose much."""

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
from halidegym.training.networks.segments import segment_log_softmax, segment_max, segment_softmax, segment_sum


@dataclass(frozen=True)
class Losses:
    """Means over states.

    Attributes:
        blind, child: cross-entropy of the targets, of the head that reads descriptors, and of that which reads children.
        value: squared error.
        blind_regret, child_regret: regret of a decision that the head draws among those that were tried: the logarithm of
            the cost that it leads to / the least one.
        blind_favourite, child_favourite: regret of the decision that the head likes most among these.
        mean_value, mean_squared_value: of the values themselves, whose variance the squared error is to be compared with.
    """

    blind: Tensor
    child: Tensor
    value: Tensor
    blind_regret: Tensor
    child_regret: Tensor
    blind_favourite: Tensor
    child_favourite: Tensor
    mean_value: Tensor
    mean_squared_value: Tensor


def objective(
    examples: ValuedExamples, before: PolicyNetwork, temperature: float, device: torch.device
) -> Objective[Losses]:
    """The losses of a network at some of the examples, for a `Trainer` to minimize.

    The target of a decision that was tried is in proportion to its share before, times exp(-regret / temperature): of all
    policies, that loses the least which is so much like the one before, by the Kullback-Leibler divergence (Abdolmaleki et
    al. 2018, "Maximum a Posteriori Policy Optimisation").

    Args:
        examples: to learn from.
        before: the policy to improve on, a copy that does not learn.
        temperature: of the targets; the higher, the more they are like the policy before.
        device: of the networks.
    """
    return lambda network, chosen: losses(network, before, temperature, examples, chosen, device)


def losses(
    network: PolicyNetwork,
    before: PolicyNetwork,
    temperature: float,
    examples: ValuedExamples,
    chosen: NDArray[np.int64],
    device: torch.device,
) -> Losses:
    """The losses of a network at the examples of these indices."""
    states = [examples.states[index] for index in chosen]
    problems, joined, decisions = join_present(examples.problems, states)
    problems, joined, decisions = problems.to(device), joined.to(device), decisions.to(device)
    regrets = torch.from_numpy(np.concatenate([rows_shown(state, "regrets") for state in states])).to(device)
    values, relative_costs = (
        torch.from_numpy(column[chosen]).to(device) for column in (examples.values, examples.relative_costs)
    )
    state, count = decisions.state, joined.count

    def logits_of(policy: PolicyNetwork) -> tuple[Tensor, Tensor, Tensor]:
        encoded = policy.encode(problems)
        context = policy.context(encoded, joined)
        return (
            context,
            policy.blind_logits(encoded, context, decisions),
            policy.child_logits(encoded, context, decisions),
        )

    with torch.no_grad():
        _, *logits_before = logits_of(before)

    def of_head(logits: Tensor, logits_before: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        targets = segment_softmax(logits_before - regrets / temperature, state, count)
        log_shares = segment_log_softmax(logits, state, count)
        is_favourite = logits >= segment_max(logits, state, count)[state]
        favourite = segment_max(torch.where(is_favourite, regrets, 0.0), state, count)
        drawn = segment_sum(log_shares.exp() * regrets, state, count)
        return -segment_sum(targets * log_shares, state, count).mean(), drawn.detach().mean(), favourite.detach().mean()

    context, *logits = logits_of(network)
    (blind, blind_regret, blind_favourite), (child, child_regret, child_favourite) = map(of_head, logits, logits_before)
    errors = network.value(context, joined, relative_costs) - values
    return Losses(
        blind,
        child,
        errors.square().mean(),
        blind_regret,
        child_regret,
        blind_favourite,
        child_favourite,
        values.mean(),
        values.square().mean(),
    )
