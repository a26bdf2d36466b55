"""The network in C++ against the same weights in torch, on real problems."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from halidegym.native._core import InvalidParameter, Policy, Space, State
from halidegym.training.networks import PolicyNetwork, StateAt, join, join_problems, policy_file

AVX512 = "x86-64-linux-avx512"
ALL = 1 << 20
"""More candidates than any state has decisions."""


def space_of(pipeline: str) -> Space:
    problem = SchedulingProblem.from_pipeline(pipelines.build(pipeline), target=AVX512, parallelism=16)
    return Rules().space(problem)


def random_network(config: NetworkConfig | None = None, seed: int = 0) -> PolicyNetwork:
    """With larger weights than an initial one has, so that differences show."""
    torch.manual_seed(seed)
    network = PolicyNetwork(config)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.5).add_(0.02 * torch.randn_like(parameter))
    return network


def native(network: PolicyNetwork) -> _core.PolicyNetwork:
    file = policy_file(network)
    return _core.PolicyNetwork(dict(file.arrays), **dataclasses.asdict(file.config))


def random_path(space: Space, seed: int) -> tuple[list[int], list[State]]:
    """Actions to a complete schedule, and the states on the way that leave a choice."""
    draw = random.Random(seed)
    actions, states, state = [], [], space.initial_state()
    while not state.is_complete:
        count = len(state.expand())
        if count > 1:
            states.append(state)
        actions.append(draw.randrange(count))
        state = state.apply(actions[-1])
    return actions, states


def assert_close(ours: NDArray[np.float32], theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "config", [NetworkConfig(), NetworkConfig(32, 1, 3, False, False, False)], ids=["all", "parts"]
)
@pytest.mark.parametrize("pipeline", [*pipelines.names("toy-v1"), "harris"])
def test_native_logits_and_values_are_those_of_torch(pipeline: str, config: NetworkConfig) -> None:
    space, network = space_of(pipeline), random_network(config)
    policy = Policy(native(network), space)
    actions, path = random_path(space, seed=1)
    problem = _core.problem_rows(space)
    replayed = _core.replay_rows(space, actions, candidates=ALL, child_features=True, loops=config.loops)
    states, decisions = join([problem], [StateAt(0, replayed, row) for row in range(len(path))])
    costs = np.linspace(0, 2, len(path), dtype=np.float32)
    with torch.no_grad():
        encoded = network.encode(join_problems([problem]))
        context = network.context(encoded, states)
        blind, reading = (head(encoded, context, decisions) for head in (network.blind_logits, network.child_logits))
        values = network.value(context, states, torch.from_numpy(costs))
    expansions = [state.expand() for state in path]
    assert_close(np.concatenate([policy.blind_logits(expansion) for expansion in expansions]), blind)
    assert_close(np.concatenate([policy.child_logits(expansion) for expansion in expansions]), reading)
    assert_close(np.array([policy.value(s, c) for s, c in zip(path, costs.tolist(), strict=True)]), values)
    assert blind.std() > 0.01
    assert reading.std() > 0.01
    assert values.numpy().std() > 0.001 or len(path) == 1


def test_some_actions_have_the_logits_that_they_have_among_all() -> None:
    space = space_of("harris")
    policy = Policy(native(random_network()), space)
    expansion = random_path(space, seed=2)[1][3].expand()
    chosen = [len(expansion) - 1, 0, 5, 5]
    assert np.array_equal(policy.blind_logits(expansion, chosen), policy.blind_logits(expansion)[chosen])
    with pytest.raises(InvalidParameter, match="legal decisions"):
        policy.blind_logits(expansion, [len(expansion)])


def test_a_complete_schedule_has_a_value_and_no_logits() -> None:
    space = space_of("toy_blur")
    policy = Policy(native(random_network()), space)
    state = space.initial_state()
    while not state.is_complete:
        state = state.random_decision(0)[1]
    assert np.isfinite(policy.value(state, 1))
    assert policy.blind_logits(state.expand()).shape == (0,)


def test_arrays_that_do_not_fit() -> None:
    arrays = dict(policy_file(random_network()).arrays)
    with pytest.raises(InvalidParameter, match="no array value_output"):
        _core.PolicyNetwork({name: array for name, array in arrays.items() if name != "value_output.bias"})
    with pytest.raises(InvalidParameter, match=r"needs \[32, 48\]"):
        _core.PolicyNetwork(arrays, width=32)


def cpu_seconds(call: Callable[[], object], repetitions: int) -> float:
    start = time.process_time()
    for _ in range(repetitions):
        call()
    return (time.process_time() - start) / repetitions


@pytest.mark.alone
def test_native_inference_is_at_least_ten_times_as_fast_as_torch() -> None:
    """Of one state of harris, whose decisions are listed, and for torch described, too.

    A forward of torch begins with the problem, whose encoding the core keeps; from there on it takes 12 times as long.
    """
    space, network = space_of("harris"), random_network()
    policy = Policy(native(network), space)
    problem = _core.problem_rows(space)
    actions, path = random_path(space, seed=1)
    replayed = _core.replay_rows(space, actions, candidates=ALL)
    (row,) = np.argsort(np.abs(np.diff(replayed["offsets"]) - 100))[:1]
    expansion = path[row].expand()
    assert 50 < len(expansion) < 200
    states, decisions = join([problem], [StateAt(0, replayed, row)])
    joined = join_problems([problem])

    def forward() -> torch.Tensor:
        encoded = network.encode(joined)
        return network.blind_logits(encoded, network.context(encoded, states), decisions)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            ratios = [
                cpu_seconds(forward, 20) / cpu_seconds(lambda: policy.blind_logits(expansion), 200) for _ in range(5)
            ]
    finally:
        torch.set_num_threads(threads)
    assert np.median(ratios) >= 10
