"""Advantages against others with the same pipeline."""

from __future__ import annotations

import numpy as np
import torch
from gymnasium import spaces

from halidegym.training.ppo.group_buffer import GroupBuffer, group_advantages

OBSERVATIONS = spaces.Dict({"x": spaces.Box(-1, 1, (1,))})


def filled(group_size: int) -> GroupBuffer:
    """Four environments, three steps: episodes end where there is a reward."""
    rewards = np.array([[0, 1, 0, 0], [2, 0, 0, 8], [0, 5, 0, 0]], np.float32)
    starts = np.array([[1, 1, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]], np.float32)
    buffer = GroupBuffer(
        3, OBSERVATIONS, spaces.Discrete(2), "cpu", gae_lambda=1.0, gamma=1.0, n_envs=4, group_size=group_size
    )
    for reward, start in zip(rewards, starts, strict=True):
        values = torch.full((4, 1), 0.5)
        buffer.add({"x": np.zeros((4, 1))}, np.zeros((4, 1)), reward, start, values, torch.zeros(4))
    buffer.compute_returns_and_advantage(torch.full((4, 1), 3.0), np.array([False, True, False, False]))
    return buffer


def test_rewards_are_compared_with_those_of_the_same_episode() -> None:
    buffer = filled(group_size=2)
    # The first two have ended their first episodes with 2 and 1; nobody else has ended a second one, or is with the fourth.
    expected = [[2 - 1, 1 - 2, 2.5, 7.5], [2 - 1, 4.5, 2.5, 7.5], [2.5, 4.5, 2.5, 2.5]]
    np.testing.assert_allclose(buffer.advantages, expected)
    np.testing.assert_allclose(buffer.returns, [[2, 1, 3, 8], [2, 5, 3, 8], [3, 5, 3, 3]])


def test_alone_they_are_compared_with_the_value() -> None:
    buffer = filled(group_size=1)
    np.testing.assert_allclose(buffer.advantages, buffer.returns - 0.5)


def test_the_mean_is_that_of_the_others_who_are_done() -> None:
    rewards = np.array([[1, 2, 6, 9], [1, 1, 1, 4]], np.float32)
    is_over = np.array([[True, True, True, False], [False, True, False, False]])
    advantages, are_known = group_advantages(rewards, is_over, 4)
    assert are_known.tolist() == [[True, True, True, False], [False] * 4]
    np.testing.assert_allclose(advantages[0, :3], [1 - 4, 2 - 3.5, 6 - 1.5])
