"""The network on ragged batches: each state as if it were alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.training.networks import (
    PolicyNetwork,
    Rows,
    StateAt,
    join,
    join_problems,
    network_from,
    policy_file,
    segment_log_softmax,
    segment_mean,
    segment_softmax,
)
from networks_for_tests import random_problem, random_replay

CONFIGS = [
    NetworkConfig(),
    NetworkConfig(width=32, rounds=0),
    NetworkConfig(use_stage_features=False),
    NetworkConfig(use_edge_features=False),
    NetworkConfig(use_demands=False),
]


def network(config: NetworkConfig, seed: int = 0) -> PolicyNetwork:
    torch.manual_seed(seed)
    return PolicyNetwork(config)


def outputs(net: PolicyNetwork, problems: list[Rows], states: list[StateAt]) -> list[torch.Tensor]:
    """Blind logits, child logits and values."""
    encoded = net.encode(join_problems(problems))
    joined, decisions = join(problems, states)
    context = net.context(encoded, joined)
    costs = torch.linspace(0, 2, joined.count)
    heads = [head(encoded, context, decisions) for head in (net.blind_logits, net.child_logits)]
    return [*heads, net.value(context, joined, costs)]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_states_do_not_see_each_other(config: NetworkConfig) -> None:
    rng = np.random.default_rng(0)
    problems = [random_problem(rng, stages) for stages in (1, 7, 4, 12)]
    replays = [random_replay(rng, len(rows["stage_features"]), 3) for rows in problems]
    states = [StateAt(p, replays[p], row) for p, row in ((3, 0), (0, 1), (3, 2), (1, 1), (2, 0))]
    net = network(config)
    joined = outputs(net, problems, states)
    alone = [outputs(net, [problems[s.problem]], [s._replace(problem=0)]) for s in states]
    for name, ours, theirs in zip(("blind", "child"), joined, zip(*alone, strict=True), strict=False):
        torch.testing.assert_close(ours, torch.cat(theirs), rtol=1e-5, atol=1e-5, msg=name)


def test_without_a_cost_the_value_is_finite() -> None:
    rng = np.random.default_rng(1)
    problem, replay = random_problem(rng, 5), random_replay(rng, 5, 4)
    values = outputs(network(NetworkConfig()), [problem], [StateAt(0, replay, row) for row in range(4)])[2]
    assert torch.isfinite(values).all()
    assert values.shape == (4,)


def test_the_first_child_feature_is_not_read() -> None:
    rng = np.random.default_rng(2)
    problem, replay = random_problem(rng, 5), random_replay(rng, 5, 1)
    others = dict(replay, decision_features=replay["decision_features"].copy())
    others["decision_features"][:, 0] = 7
    net = network(NetworkConfig())
    with torch.no_grad():
        one, two = (outputs(net, [problem], [StateAt(0, rows, 0)])[1] for rows in (replay, others))
    assert torch.equal(one, two)


def test_child_logits_need_child_features() -> None:
    rng = np.random.default_rng(3)
    problem, replay = random_problem(rng, 5), random_replay(rng, 5, 1)
    del replay["decision_features"]
    with pytest.raises(ValueError, match="child_features=True"):
        outputs(network(NetworkConfig()), [problem], [StateAt(0, replay, 0)])


def test_all_parameters_learn() -> None:
    rng = np.random.default_rng(4)
    problem, replay = random_problem(rng, 9), random_replay(rng, 9, 6)
    net = network(NetworkConfig())
    sum(
        output.square().sum() for output in outputs(net, [problem], [StateAt(0, replay, row) for row in range(6)])
    ).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_segments() -> None:
    values, segment = torch.tensor([1.0, 2.0, 4.0, -100.0]), torch.tensor([2, 0, 2, 3])
    assert segment_mean(values, segment, 5).tolist() == [2, 0, 2.5, -100, 0]
    expected = torch.cat([torch.tensor([1.0, 4.0]).softmax(0), torch.ones(2)])
    torch.testing.assert_close(segment_softmax(values, segment, 5)[[0, 2, 1, 3]], expected)
    torch.testing.assert_close(segment_log_softmax(values + 1e4, segment, 5).exp()[[0, 2, 1, 3]], expected)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_weights_survive_a_file(config: NetworkConfig) -> None:
    net = network(config, 1)
    again = network_from(policy_file(net, {"seed": 1}))
    assert again.config == config
    ours, theirs = net.state_dict(), again.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours.keys() | theirs.keys())


def test_without_torch_the_extra_is_named() -> None:
    code = "import sys; sys.modules['torch'] = None; import halidegym.training.networks"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].endswith(
        "Training needs torch, which is not installed: pip install halidegym[train]"
    )
