"""What environments of schedules, single and in vectors, have in common: an object that rates schedules."""

from __future__ import annotations

from halidegym.envs.rewards.base import Reward
from halidegym.native.checks import check_given


class Rewarded:
    """An environment whose reward can be replaced at any time: by a wrapper, or by `set_attr` of a vector."""

    _reward: Reward

    @property
    def reward(self) -> Reward:
        """What the end of an episode is worth; the wrappers of `halidegym.rewards` replace it."""
        return self._reward

    @reward.setter
    def reward(self, reward: Reward) -> None:
        check_given(Reward, reward=reward)
        self._reward = reward
