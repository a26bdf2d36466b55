"""The losses of a batch, against the same written down for one state after the other."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.training.aggrevate.examples import ValuedExamples
from halidegym.training.aggrevate.losses import losses, objective
from halidegym.training.imitation.settings import OptimizerSettings
from halidegym.training.imitation.trainer import Trainer, mean_losses
from halidegym.training.networks import PolicyNetwork, join, join_problems
from networks_for_tests import random_examples

CPU = torch.device("cpu")


def examples() -> ValuedExamples:
    random, taught = np.random.default_rng(0), random_examples(states=5)
    states = [
        state._replace(
            replayed={**state.replayed, "regrets": random.exponential(0.3, state.replayed["offsets"][-1]).astype(np.float32)}
        )
        for state in taught.states
    ]  # fmt: skip
    return ValuedExamples(taught.problems, states, taught.values, taught.relative_costs)


@torch.no_grad()
def test_losses_are_means_over_states() -> None:
    torch.manual_seed(0)
    network, before, valued = PolicyNetwork(), PolicyNetwork(), examples()
    chosen = np.array([7, 2, 9, 4, 11])
    ours = losses(network, before, 0.2, valued, chosen, CPU)
    expected: dict[str, list[float]] = {name: [] for name in vars(ours)}
    for index in chosen:
        state = valued.states[index]
        problem = [valued.problems[state.problem]]
        joined, decisions = join(problem, [state._replace(problem=0)])
        first, end = state.replayed["offsets"][state.row : state.row + 2]
        lost = torch.from_numpy(state.replayed["regrets"][first:end])
        logits = []
        for policy in (before, network):
            encoded = policy.encode(join_problems(problem))
            context = policy.context(encoded, joined)
            logits.append(
                (policy.blind_logits(encoded, context, decisions), policy.child_logits(encoded, context, decisions))
            )
        for name, logits_before, logits_now in zip(("blind", "child"), *logits, strict=True):
            shares = torch.softmax(logits_now, 0)
            wanted = torch.softmax(logits_before, 0) * torch.exp(-lost / 0.2)
            expected[name].append(float(-(wanted / wanted.sum() * shares.log()).sum()))
            expected[f"{name}_regret"].append(float((shares * lost).sum()))
            expected[f"{name}_favourite"].append(float(lost[logits_now.argmax()]))
        value = float(network.value(context, joined, torch.tensor([valued.relative_costs[index]])))
        expected["value"].append((value - valued.values[index]) ** 2)
        expected["mean_value"].append(valued.values[index])
        expected["mean_squared_value"].append(valued.values[index] ** 2)
    for name, values in expected.items():
        assert float(getattr(ours, name)) == pytest.approx(np.mean(values), rel=1e-4), name


@pytest.mark.parametrize(("temperature", "loses_less"), [(0.01, True), (1e6, False)])
def test_a_network_learns_to_lose_less_unless_it_is_to_stay_as_it_is(temperature: float, loses_less: bool) -> None:
    torch.manual_seed(0)
    valued, network = examples(), PolicyNetwork(NetworkConfig(width=16, rounds=1))
    goal = objective(valued, copy.deepcopy(network), temperature, CPU)
    settings = OptimizerSettings(
        learning_rate=0.01, final_learning_rate=0.001, weight_decay=0.0, gradient_norm=1.0,
        blind_weight=1.0, child_weight=1.0, value_weight=0.3,
    )  # fmt: skip
    before = mean_losses(network, goal, len(valued), 4)
    Trainer(network, valued.states, goal, settings, epochs=40, batch=4, group=2, seed=0, device=CPU).run(lambda: None)
    after = mean_losses(network, goal, len(valued), 4)
    for name in ("blind_regret", "child_regret", "blind_favourite", "child_favourite"):
        assert (after[name] < 0.7 * before[name]) == loses_less, name
    assert after["value"] < 0.7 * before["value"]
