"""The losses of a batch, against the same written down for one state after the other."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from halidegym.training.imitation.losses import Batch, losses
from halidegym.training.networks import PolicyNetwork, join, join_problems
from networks_for_tests import random_examples

CPU = torch.device("cpu")


@torch.no_grad()
def test_losses_are_means_over_states_by_their_weights() -> None:
    torch.manual_seed(0)
    network, examples = PolicyNetwork(), random_examples()
    chosen = [7, 2, 9, 4, 11]
    ours = losses(network, Batch.of(examples, chosen, CPU))
    surprises, squares, favourites, entropies = [], [], [], []
    for index in chosen:
        state = examples.states[index]
        problems = join_problems([examples.problems[state.problem]])
        joined, decisions = join([examples.problems[state.problem]], [state._replace(problem=0)])
        encoded = network.encode(problems)
        context = network.context(encoded, joined)
        logits = network.blind_logits(encoded, context, decisions)
        taken, shown = state.replayed["taken"][state.row], len(logits)
        legal = state.replayed["num_legal"][state.row]
        others = [i for i in range(shown) if i != taken]
        total = logits[taken].exp() + (legal - 1) / (shown - 1) * logits[others].exp().sum()
        surprises.append(float(total.log() - logits[taken]))
        shares = logits - total.log()
        stands_for = torch.full([shown], (legal - 1) / (shown - 1))
        stands_for[taken] = 1
        entropies.append(float(-(stands_for * shares.exp() * shares).sum()))
        favourites.append(float(logits.argmax() == taken))
        cost = torch.tensor([examples.relative_costs[index]])
        squares.append(float(network.value(context, joined, cost) - examples.values[index]) ** 2)
    weights, value_weights = examples.weights[chosen], examples.value_weights[chosen]
    assert float(ours.blind) == pytest.approx(np.average(surprises, weights=weights), rel=1e-4)
    assert float(ours.blind_accuracy) == pytest.approx(np.average(favourites, weights=weights))
    assert float(ours.blind_entropy) == pytest.approx(np.average(entropies, weights=weights), rel=1e-4)
    assert float(ours.value) == pytest.approx(np.average(squares, weights=value_weights), rel=1e-4)
    assert math.isfinite(float(ours.child))


@torch.no_grad()
def test_targets_share_the_loss_of_a_state() -> None:
    torch.manual_seed(0)
    network, examples = PolicyNetwork(), random_examples()
    state = next(state for state in examples.states if np.diff(state.replayed["offsets"])[state.row] > 4)
    first, end = state.replayed["offsets"][state.row : state.row + 2]
    targets = np.zeros(state.replayed["offsets"][-1], np.float32)
    targets[[first + 1, first + 3]] = 0.25, 0.75
    told = state._replace(replayed={**state.replayed, "targets": targets})
    examples = dataclasses.replace(examples, states=[told], weights=np.ones(1, np.float32))
    found = losses(network, Batch.of(examples, [0], CPU))
    problems = join_problems([examples.problems[state.problem]])
    joined, decisions = join([examples.problems[state.problem]], [state._replace(problem=0)])
    encoded = network.encode(problems)
    logits = network.blind_logits(encoded, network.context(encoded, joined), decisions)
    # The two are sure to be shown; the others were drawn from all the rest.
    stands_for = torch.full([int(end - first)], float(state.replayed["num_legal"][state.row] - 2) / (end - first - 2))
    stands_for[[1, 3]] = 1
    shares = logits - (stands_for * logits.exp()).sum().log()
    assert float(found.blind) == pytest.approx(float(-0.25 * shares[1] - 0.75 * shares[3]), rel=1e-4)


@torch.no_grad()
def test_a_batch_of_weightless_decisions_has_no_loss_but_that_of_values() -> None:
    examples = random_examples()
    examples.weights[:] = 0
    found = losses(PolicyNetwork(), Batch.of(examples, range(5), CPU))
    assert float(found.blind) == float(found.child) == 0
    assert float(found.value) > 0
