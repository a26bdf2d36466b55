"""The wrapper that gives an environment another reward."""

from __future__ import annotations

from typing import Any, Protocol, cast

import gymnasium as gym

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards.base import Reward
from halidegym.native._core import InvalidParameter, State
from halidegym.native.checks import check_given, shown


class RewardedEnvironment(Protocol):
    """What this wrapper needs of the environment that it wraps: `HalideSchedule` is one."""

    reward: Reward

    @property
    def prepared_problem(self) -> PreparedProblem:
        """The problem of the current episode."""

    @property
    def state(self) -> State:
        """The current state."""


class ScheduleReward(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Replaces the reward of a schedule environment: its own `reward`, too, so that nothing is rated twice.

    Of several such wrappers around one environment, the last one counts. Planners use the same object without
    stepping: `rate(state)`.

    Args:
        env: an environment around `HalideSchedule`.
        reward: what episodes are worth.
        arguments: of the wrapper that derives from this one, if one does, for `env.spec`.

    Raises:
        InvalidParameter: the environment is none of schedules, or the reward is none.
    """

    def __init__(self, env: gym.Env[Any, Any], reward: Reward, **arguments: Any) -> None:
        # Not copied: a timer that is given stays that timer.
        gym.utils.RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **(arguments or {"reward": reward}))
        gym.Wrapper.__init__(self, env)
        if not isinstance(getattr(env.unwrapped, "reward", None), Reward):
            raise InvalidParameter(
                f"env={env} has no reward of schedules to replace: wrap a HalideSchedule environment"
            )
        if not isinstance(reward, Reward):
            raise InvalidParameter(f"reward={shown(reward)} is none; give a Reward, such as RewardByCost()")
        self.reward = reward
        self._rewarded.reward = reward

    def rate(self, state: State) -> float:
        """The reward for an episode of the environment's current problem that ends in `state`.

        Raises:
            InvalidParameter: it is no state, or of another problem, or decisions can still be made; or the reward is by
                cost, and the state's is by other weights.
            Error: see `baseline_time`.
        """
        check_given(State, state=state)
        problem = self._rewarded.prepared_problem
        problem.check_has(state)
        return self.reward.rate(problem, state).reward

    def baseline_time(self) -> float:
        """How long the baseline of the environment's current problem takes, in the reward's unit.

        Raises:
            InvalidParameter: the baseline is a plan for another problem.
            SearchExhausted: greedy search finds no schedule within the environment's limits.
        """
        return self.reward.baseline_time(self._rewarded.prepared_problem)

    @property
    def _rewarded(self) -> RewardedEnvironment:
        return cast(RewardedEnvironment, self.unwrapped)
