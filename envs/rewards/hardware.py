"""Rewards by the run time of schedules, measured or replayed."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.rewards.base import DEAD_END_SPEEDUP, Baseline, RewardForm, ScheduledPlan, ScheduleReward
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.measurements import Timing
from halidegym.envs.timing.timers import RecordingTimer, Timer
from halidegym.native._core import Error, InvalidParameter, State


class HardwareTimingReward(ScheduleReward):
    """Rewards schedules by their run time in seconds.

    Against a baseline that is a schedule, both are run in turns, and the reward is made of the ratio of their times: a
    machine that is slower today than yesterday does not change it. A schedule that fails (it does not compile, crashes,
    takes too long, needs too much memory, or computes something else) counts as `failure_speedup` times the speed of the
    baseline, and the episode ends like any other.

    At the end of an episode, `info` has also: `timing`, the `Timing` of the schedule, with the machine and the outcome;
    `comparison`, the `Comparison` with the baseline, None if that is a number; `measured_speedup`, 1 / its time relative to
    the baseline.

    Args:
        env: an environment around `HalideSchedule`.
        form: see `ScheduleReward`; for "inverse_time", the baseline only rates failures.
        baseline: see `ScheduleReward`; a number is a time in seconds.
        timer: where run times come from; by default they are measured here, with the default settings, and not recorded. A
            `Replay` makes the environment deterministic. `close()` closes it.
        failure_speedup: what a failed schedule counts.

    Raises:
        InvalidParameter: as for `ScheduleReward`, or `failure_speedup` is not between 0 and 1.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        form: RewardForm = "log_speedup",
        baseline: Baseline = "greedy",
        *,
        timer: Timer | None = None,
        failure_speedup: float = DEAD_END_SPEEDUP,
    ) -> None:
        if not 0 < failure_speedup <= 1:
            raise InvalidParameter(f"failure_speedup={failure_speedup}: give a number above 0, up to 1")
        super().__init__(env, form, baseline)
        self.timer: Timer = RecordingTimer() if timer is None else timer
        self.failure_speedup = failure_speedup
        self._last: dict[str, Any] = {}

    def time_of_state(self, state: State) -> float:
        """Seconds that the complete schedule of a state takes; if it fails, the baseline's over `failure_speedup`."""
        problem = self._schedule_env.problem
        schedule, cost = Schedule.from_state(problem, state), state.cost()
        baseline_s = self.baseline_time()
        other = self._baseline_schedule(problem)
        if other is None:
            comparison, timing = None, self.timer.time(problem, schedule, cost=cost)
            time_s = timing.median_s
        else:
            comparison = self.timer.compare(problem, schedule, other[0], costs=(cost, other[1]))
            timing, time_s = comparison.a, baseline_s / comparison.ratio
        if timing.outcome != "ok" or not math.isfinite(time_s):
            time_s = baseline_s / self.failure_speedup
        self._last = {"timing": timing, "comparison": comparison, "measured_speedup": baseline_s / time_s}
        return time_s

    def time_of_plan(self, plan: ScheduledPlan) -> float:
        """Seconds that the schedule of a plan takes.

        Raises:
            Error: it fails.
        """
        return self._baseline_seconds(plan.schedule, plan.cost)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step the environment; the last step compiles the schedule and measures it."""
        self._last = {}
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, info | self._last

    def close(self) -> None:
        """Close the environment and the timer."""
        self.timer.close()
        super().close()

    def _measure_baseline(self, problem: SchedulingProblem) -> float:
        if isinstance(self.baseline, str):
            state = self._schedule_env.greedy_state
            return self._baseline_seconds(Schedule.from_state(problem, state), state.cost())
        return super()._measure_baseline(problem)

    def _baseline_seconds(self, schedule: Any, cost: float | None) -> float:
        problem = self._schedule_env.problem
        timing: Timing = self.timer.time(problem, schedule, cost=cost)
        if timing.outcome != "ok":
            raise Error(
                f"{problem.name}: the baseline cannot be timed: {timing.outcome}: {timing.error}. Choose another "
                "baseline, or give it more time or memory."
            )
        return timing.median_s

    def _baseline_schedule(self, problem: SchedulingProblem) -> tuple[Any, float | None] | None:
        """The schedule to run in turns with, and its cost."""
        if isinstance(self.baseline, int | float) or self.form == "inverse_time":
            return None
        if isinstance(self.baseline, str):
            state = self._schedule_env.greedy_state
            return Schedule.from_state(problem, state), state.cost()
        return self.baseline.schedule, self.baseline.cost
