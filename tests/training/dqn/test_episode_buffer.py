"""What the replay buffer remembers is what the environments showed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.training.adapters.sb3 import ScheduleVecEnv
from halidegym.training.adapters.sb3_q_policy import PointerQNetwork
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint
from halidegym.training.dqn.buffer import EpisodeBuffer
from halidegym.training.networks.network import PolicyNetwork
from trainings_for_tests import toys

LOOPS = 3


def fill(buffer: EpisodeBuffer, envs: ScheduleVecEnv, steps: int) -> list[tuple[dict[str, Any], Any, int, float, bool]]:
    """Random steps; the observations of each, its action, and the reward and whether the episode was over."""
    envs.seed(0)
    observations = envs.reset()
    rng, seen = np.random.default_rng(0), []
    for _ in range(steps):
        buffer.see([problem.space for problem in envs.get_attr("prepared_problem")])
        actions = rng.integers(observations["action_mask"].sum(1))
        following, rewards, ends, infos = envs.step(actions)
        buffer.add(observations, following, actions, rewards, ends, infos)
        for i in range(envs.num_envs):
            row = {key: value[i] for key, value in observations.items()}
            seen.append((row, i, int(actions[i]), float(rewards[i]), bool(ends[i])))
        observations = following
    return seen


def new_buffer(envs: ScheduleVecEnv, size: int = 1000, n_steps: int | None = None) -> EpisodeBuffer:
    space: Any = envs.action_space
    return EpisodeBuffer(size, envs.observation_space, space, "cpu", envs.num_envs, n_steps=n_steps, loops=LOOPS)


@pytest.mark.parametrize(("n_steps", "skip_forced"), [(1, True), (2, True), (None, True), (1, False)])
def test_steps_look_as_the_environment_showed_them(n_steps: int | None, skip_forced: bool) -> None:
    """Values of all decisions, now and n steps later, are those of the padded observations; room is short at times."""
    envs = toys(skip_forced=skip_forced)
    buffer = new_buffer(envs, n_steps=n_steps)
    buffer.view = dataclasses.replace(buffer.view, skip_forced=skip_forced)
    seen = fill(buffer, envs, 60)
    torch.manual_seed(0)
    space: Any = envs.action_space
    observation_space: Any = envs.observation_space
    network = PointerQNetwork(observation_space, space, NetworkConfig(width=16, rounds=1, loops=LOOPS))
    with torch.no_grad():
        values = network({key: torch.from_numpy(np.stack([row[key] for row, *_ in seen])) for key in seen[0][0]})
    by_env = [[k for k, (_, env, *_) in enumerate(seen) if env == i] for i in range(envs.num_envs)]
    expected = set()
    for steps in by_env:
        last = max(position for position, k in enumerate(steps) if seen[k][4])
        for position, k in enumerate(steps[: last + 1]):
            end = next(j for j in range(position, last + 1) if seen[steps[j]][4]) + 1
            later = end if n_steps is None else min(position + n_steps, end)
            reward = sum(seen[steps[j]][3] for j in range(position, later))
            after = None if later == end else tuple(legal(values, seen, steps[later]))
            expected.add((tuple(legal(values, seen, k)), seen[k][2], round(reward, 4), after))
    assert buffer.size() >= len(expected)
    np.random.seed(0)  # noqa: NPY002
    found = set()
    for _ in range(40):
        batch = buffer.sample(32)
        found |= described(network, batch)
    assert found == expected


def legal(values: torch.Tensor, seen: list[Any], k: int) -> list[float]:
    count = int(seen[k][0]["action_mask"].sum())
    return [round(value, 4) for value in values[k, :count].tolist()]


def described(network: PointerQNetwork, batch: Any) -> set[Any]:
    with torch.no_grad():
        now = network.of_decisions(*batch.now[:3])
        later = [] if batch.later is None else network.of_decisions(*batch.later[:3])
    after: dict[int, Any] = {}
    for row, index in enumerate(batch.goes_on.tolist()):
        after[index] = tuple(round(float(v), 4) for v in later[batch.later.offsets[row] : batch.later.offsets[row + 1]])
    result = set()
    for index, reward in enumerate(batch.rewards.tolist()):
        first, end = batch.now.offsets[index : index + 2].tolist()
        of_state = tuple(round(value, 4) for value in now[first:end].tolist())
        result.add((of_state, int(batch.taken[index]) - first, round(reward, 4), after.get(index)))
    return result


def test_the_oldest_episodes_go() -> None:
    envs = toys()
    buffer = new_buffer(envs, size=20)
    fill(buffer, envs, 100)
    assert 10 < buffer.size() <= 20


def test_episodes_that_are_not_over_are_abandoned() -> None:
    envs = toys()
    buffer = new_buffer(envs)
    fill(buffer, envs, 1)
    buffer.abandon()
    fill(buffer, envs, 40)
    sizes = {len(episode) for episode in buffer._episodes}
    fresh = new_buffer(envs)
    fill(fresh, envs, 40)
    assert buffer.size() == fresh.size() and sizes == {len(episode) for episode in fresh._episodes}


def test_a_checkpoint_holds_the_episodes(tmp_path: Any) -> None:
    envs = toys()
    buffer, other = new_buffer(envs, n_steps=2), new_buffer(envs, n_steps=2)
    fill(buffer, envs, 40)
    save_checkpoint(tmp_path / "checkpoint.pt", {}, buffer.state())
    assert (tmp_path / "checkpoint.pt").stat().st_size < 50_000
    state = load_checkpoint(tmp_path / "checkpoint.pt", {})
    assert state is not None
    other.go_on(state)
    torch.manual_seed(0)
    space: Any = envs.action_space
    observation_space: Any = envs.observation_space
    network = PointerQNetwork(observation_space, space, NetworkConfig(width=16, rounds=1, loops=LOOPS))
    assert isinstance(network.network, PolicyNetwork)
    for _ in range(2):
        batches = []
        for of in (buffer, other):
            np.random.seed(1)  # noqa: NPY002
            batches.append(of.sample(64))
        assert described(network, batches[0]) == described(network, batches[1])
        assert batches[0].now.problems.count == batches[1].now.problems.count == 2
        for of in (buffer, other):  # whose problems are the same ones then, although their spaces are not
            of.abandon()
            fill(of, envs, 40)


def test_a_checkpoint_takes_the_place_of_what_is_there() -> None:
    envs = toys()
    buffer = new_buffer(envs)
    fill(buffer, envs, 40)
    state, size = buffer.state(), buffer.size()
    fill(buffer, envs, 40)
    assert buffer.size() > size
    buffer.go_on(state)
    assert (buffer.size(), buffer.state()["actions"].tolist()) == (size, state["actions"].tolist())
