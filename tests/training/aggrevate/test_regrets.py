"""The regrets of a batch, against the same written down for one state after the other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.training.aggrevate.examples import ValuedExamples
from halidegym.training.aggrevate.regrets import objective, regrets
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
def test_regrets_are_means_over_states() -> None:
    torch.manual_seed(0)
    network, valued = PolicyNetwork(), examples()
    chosen = np.array([7, 2, 9, 4, 11])
    ours = regrets(network, valued, chosen, CPU)
    expected: dict[str, list[float]] = {name: [] for name in vars(ours)}
    for index in chosen:
        state = valued.states[index]
        problem = [valued.problems[state.problem]]
        joined, decisions = join(problem, [state._replace(problem=0)])
        encoded = network.encode(join_problems(problem))
        context = network.context(encoded, joined)
        first, end = state.replayed["offsets"][state.row : state.row + 2]
        lost = torch.from_numpy(state.replayed["regrets"][first:end])
        for name, logits in (
            ("blind", network.blind_logits(encoded, context, decisions)),
            ("child", network.child_logits(encoded, context, decisions)),
        ):
            expected[name].append(float((torch.softmax(logits, 0) * lost).sum()))
            expected[f"{name}_favourite"].append(float(lost[logits.argmax()]))
        value = float(network.value(context, joined, torch.tensor([valued.relative_costs[index]])))
        expected["value"].append((value - valued.values[index]) ** 2)
        expected["mean_value"].append(valued.values[index])
        expected["mean_squared_value"].append(valued.values[index] ** 2)
    for name, values in expected.items():
        assert float(getattr(ours, name)) == pytest.approx(np.mean(values), rel=1e-4), name


def test_a_network_learns_to_lose_less() -> None:
    torch.manual_seed(0)
    valued, network = examples(), PolicyNetwork(NetworkConfig(width=16, rounds=1))
    settings = OptimizerSettings(
        learning_rate=0.01, final_learning_rate=0.001, weight_decay=0.0, gradient_norm=1.0,
        blind_weight=1.0, child_weight=1.0, value_weight=0.3,
    )  # fmt: skip
    before = mean_losses(network, objective(valued, CPU), len(valued), 4)
    Trainer(
        network, valued.states, objective(valued, CPU), settings, epochs=40, batch=4, group=2, seed=0, device=CPU
    ).run(lambda: None)
    after = mean_losses(network, objective(valued, CPU), len(valued), 4)
    for name in ("blind", "child", "blind_favourite", "child_favourite", "value"):
        assert after[name] < 0.7 * before[name], name
