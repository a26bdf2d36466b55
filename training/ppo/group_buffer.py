"""Rollouts whose episodes are compared with others of the same pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer
from torch import Tensor


class GroupBuffer(MaskableDictRolloutBuffer):
    """A buffer whose advantages are those of a group, as in POMO (Kwon et al. 2020).

    The k-th episodes of the environments of a group are about the same pipeline. The advantage of an episode is its reward
    less the mean of the others', so no value has to tell pipelines apart. Where there are no others yet, or the rollout
    ends before the episode, it is the reward less the value, as in any PPO.

    Args:
        *arguments: as `MaskableDictRolloutBuffer` takes them; every rollout begins with new episodes.
        group_size: neighbours that share the pipeline of each episode.
        **others: likewise.
    """

    def __init__(self, *arguments: Any, group_size: int, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._group_size = group_size

    def compute_returns_and_advantage(self, last_values: Tensor, dones: NDArray[np.bool_]) -> None:
        """Fill in returns, which values learn, and advantages, which actions learn."""
        super().compute_returns_and_advantage(last_values, dones)
        number = self.episode_starts.astype(int).cumsum(0) - 1
        environment = np.broadcast_to(np.arange(self.n_envs), number.shape)
        totals = np.zeros((number.max() + 1, self.n_envs), np.float32)
        np.add.at(totals, (number, environment), self.rewards)
        is_over = np.arange(len(totals))[:, None] < number[-1] + dones
        advantages, are_known = group_advantages(totals, is_over, self._group_size)
        self.advantages = np.where(
            are_known[number, environment], advantages[number, environment], self.advantages
        ).astype(np.float32)


def group_advantages(
    rewards: NDArray[np.float32], is_over: NDArray[np.bool_], group_size: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Rewards less the mean of the others in the group, and where there are others; all by episode and environment."""
    groups = len(rewards), -1, group_size
    counted = np.where(is_over, rewards, 0).reshape(groups)
    count = is_over.reshape(groups).sum(2, keepdims=True)
    others = (counted.sum(2, keepdims=True) - counted) / np.maximum(count - 1, 1)
    are_known = is_over & (np.broadcast_to(count, counted.shape) > 1).reshape(is_over.shape)
    return rewards - others.reshape(rewards.shape), are_known
