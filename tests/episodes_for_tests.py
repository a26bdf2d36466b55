"""Environments for tests, and episodes in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np

import pipelines_for_tests
from halidegym.envs.halide_schedule import HalideSchedule

TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"

Policy: TypeAlias = Callable[[dict[str, Any]], int]
"""From the information of a step to the next action."""


def make(pipeline: Any = pipelines_for_tests.blur, **options: Any) -> gym.Env[Any, Any]:
    """An environment as users make it, for a fixed machine."""
    return gym.make("HalideSchedule-v0", pipeline=pipeline, **{"parallelism": 16, "target": TARGET, **options})


def bare(pipeline: Any = pipelines_for_tests.blur, **options: Any) -> HalideSchedule:
    """The same without Gymnasium's wrappers."""
    env = make(pipeline, **options).unwrapped
    assert isinstance(env, HalideSchedule)
    return env


def random_policy(seed: int) -> Policy:
    """Draws legal actions."""
    rng = np.random.default_rng(seed)
    return lambda info: int(rng.choice(np.flatnonzero(info["action_mask"])))


def play(
    env: gym.Env[Any, Any], policy: Policy, seed: int | None = None
) -> Iterator[tuple[Any, float, bool, dict[str, Any]]]:
    """Play one episode; yields the outcome of each step."""
    _, info = env.reset(seed=seed)
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(policy(info))
        assert not truncated
        yield observation, float(reward), terminated, info


def outcome(env: gym.Env[Any, Any], policy: Policy, seed: int | None = None) -> tuple[float, dict[str, Any]]:
    """The last reward of one episode, and the information with it."""
    *_, (_, reward, _, info) = play(env, policy, seed)
    return reward, info


def finish(env: gym.Env[Any, Any], info: dict[str, Any], policy: Policy) -> tuple[float, dict[str, Any]]:
    """The same for the rest of an episode."""
    reward, terminated = 0.0, False
    while not terminated:
        _, last, terminated, _, info = env.step(policy(info))
        reward = float(last)
    return reward, info


def digest(env: gym.Env[Any, Any], episodes: int) -> str:
    """Of everything that some random episodes return."""
    result = hashlib.sha256()
    for episode in range(episodes):
        for observation, reward, _, info in play(env, random_policy(episode), seed=episode):
            for key in sorted(observation):
                result.update(observation[key].tobytes())
            result.update(np.float64(reward).tobytes())
            result.update(info["action_mask"].tobytes())
        result.update(np.float64(info["cost"]).tobytes())
        result.update(info["schedule"].problem.hash.encode())
    return result.hexdigest()
