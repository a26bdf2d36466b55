"""What all rewards of schedules have in common: their forms, their baselines, and when an episode gets one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args

import gymnasium as gym

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import InvalidParameter, State

if TYPE_CHECKING:
    from halidegym.envs.halide_schedule import HalideSchedule

RewardForm = Literal["speedup", "log_speedup", "inverse_time"]
"""How a time becomes a reward: `baseline / time`, its natural logarithm, or `1 / time`."""

DEAD_END_SPEEDUP = 1e-6
"""What an episode counts that ended without a complete schedule: a millionth of the speed of the baseline."""


class ScheduledPlan(Protocol):
    """What a reward needs of a plan to take it as its baseline."""

    @property
    def cost(self) -> float | None:
        """Of the cost model; None if unknown."""

    @property
    def schedule(self) -> Schedule:
        """The schedule itself."""


Baseline = Literal["greedy"] | float | ScheduledPlan
"""The greedy schedule of each problem, a time in the reward's unit, or a plan for the environment's only problem."""


def reward_of(time: float, baseline: float, form: RewardForm) -> float:
    """The reward for a schedule that takes `time`, where the baseline takes `baseline`, in the same unit."""
    match form:
        case "speedup":
            return baseline / time
        case "log_speedup":
            return math.log(baseline / time)
        case "inverse_time":
            return 1 / time


def check_form(form: str) -> None:
    """Check the form of a reward.

    Raises:
        InvalidParameter: there is no such form.
    """
    if form not in get_args(RewardForm):
        raise InvalidParameter(f"form={form!r} is no form of a reward: use one of {', '.join(get_args(RewardForm))}")


class ScheduleReward(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs, ABC):
    """Replaces the reward of a schedule environment: 0 until the schedule is complete, then what it is worth.

    Subclasses say how long a schedule takes. Planners use the same object without stepping: `rate(state)`.

    Args:
        env: an environment around `HalideSchedule`.
        form: "speedup": baseline / time; "log_speedup": its natural logarithm; "inverse_time": 1 / time, in which the
            baseline plays no part. A dead end counts as `DEAD_END_SPEEDUP` times the speed of the baseline.
        baseline: "greedy": for each problem, the schedule that greedy search with the cost model finds; a positive
            number: a time; a `Plan`: its schedule.

    Raises:
        InvalidParameter: the form is unknown, or the baseline is none of the above.
    """

    def __init__(self, env: gym.Env[Any, Any], form: RewardForm = "log_speedup", baseline: Baseline = "greedy") -> None:
        check_form(form)
        if isinstance(baseline, int | float):
            if not (math.isfinite(baseline) and baseline > 0):
                raise InvalidParameter(f"baseline={baseline} is no time: give a positive number")
        elif isinstance(baseline, str) and baseline != "greedy":
            raise InvalidParameter(f'baseline={baseline!r} is unknown: use "greedy", a number, or a plan')
        gym.utils.RecordConstructorArgs.__init__(self, form=form, baseline=baseline)
        gym.Wrapper.__init__(self, env)
        self.form = form
        self.baseline = baseline
        self._baseline_times: dict[SchedulingProblem, float] = {}

    @abstractmethod
    def time_of_state(self, state: State) -> float:
        """How long the complete schedule of a state of the environment's problem takes."""

    @abstractmethod
    def time_of_plan(self, plan: ScheduledPlan) -> float:
        """How long the schedule of a plan for the environment's problem takes, in the same unit."""

    def baseline_time(self) -> float:
        """How long the baseline of the environment's problem takes; determined once per problem.

        Raises:
            InvalidParameter: the baseline is a plan for another problem.
            SearchExhausted: greedy search finds no schedule within the environment's limits.
        """
        problem = self._schedule_env.problem
        if problem not in self._baseline_times:
            self._baseline_times[problem] = self._measure_baseline(problem)
        return self._baseline_times[problem]

    def rate(self, state: State) -> float:
        """The reward for the complete schedule of a state of the environment's problem."""
        return reward_of(self.time_of_state(state), self.baseline_time(), self.form)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step the environment; the reward is 0 until the last decision."""
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, self._reward() if terminated else 0.0, terminated, truncated, info

    @property
    def _schedule_env(self) -> HalideSchedule:
        return cast("HalideSchedule", self.unwrapped)

    def _reward(self) -> float:
        state = self._schedule_env.state
        if state.is_complete:
            return self.rate(state)
        baseline = self.baseline_time()
        return reward_of(baseline / DEAD_END_SPEEDUP, baseline, self.form)

    def _measure_baseline(self, problem: SchedulingProblem) -> float:
        if isinstance(self.baseline, str):
            return self.time_of_state(self._schedule_env.greedy_state)
        if isinstance(self.baseline, int | float):
            return float(self.baseline)
        if self.baseline.schedule.problem != problem:
            raise InvalidParameter(
                f"The baseline is a plan for {self.baseline.schedule.problem!r}, but the environment schedules "
                f'{problem!r}: use baseline="greedy" for several problems'
            )
        return self.time_of_plan(self.baseline)
