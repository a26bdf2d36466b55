"""Rewards by the run time of schedules, measured or replayed."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards.base import (
    DEAD_END_SPEEDUP,
    Baseline,
    Rating,
    Reward,
    RewardForm,
    ScheduledPlan,
    cost_here,
    reward_of,
)
from halidegym.envs.rewards.wrapper import ScheduleReward
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.timers import RecordingTimer, Timer
from halidegym.native._core import Error, InvalidParameter, State
from halidegym.native.checks import check_kind, is_number, shown


class RewardByRunTime(Reward):
    """Rates schedules by their run time in seconds; `HardwareTimingReward` describes it and its arguments."""

    def __init__(
        self,
        form: RewardForm = "log_speedup",
        baseline: Baseline = "greedy",
        *,
        timer: Timer | None = None,
        failure_speedup: float = DEAD_END_SPEEDUP,
    ) -> None:
        if not is_number(failure_speedup) or not 0 < failure_speedup <= 1:
            raise InvalidParameter(f"failure_speedup={shown(failure_speedup)}: give a number above 0, up to 1")
        super().__init__(form, baseline)
        check_kind(Timer, timer=timer)
        self.timer: Timer = RecordingTimer() if timer is None else timer
        self.failure_speedup = failure_speedup
        self._baselines_s: dict[str, float] = {}

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"{type(self).__name__}(form={self.form!r}, baseline={self.baseline!r}, timer={self.timer!r})"

    def baseline_time(self, problem: PreparedProblem) -> float:
        """Seconds that the baseline takes; a schedule is measured once a problem.

        Raises:
            InvalidParameter: the baseline is a plan for another problem.
            SearchExhausted: greedy search finds no schedule within the problem's limits.
            Error: the baseline cannot be timed.
        """
        plan = self.baseline_plan(problem)
        if plan is None:
            assert isinstance(self.baseline, int | float)
            return float(self.baseline)
        key = problem.fingerprint.problem_hash
        if key not in self._baselines_s:
            self._baselines_s[key] = self._measure(problem, plan)
        return self._baselines_s[key]

    def rate_schedule(self, problem: PreparedProblem, state: State, cost: float) -> Rating:
        """Rate a schedule by its run time; if it fails, by the baseline's over `failure_speedup`."""
        schedule = Schedule.from_state(problem.problem, state)
        baseline_s = self.baseline_time(problem)
        plan = None if self.form == "inverse_time" else self.baseline_plan(problem)
        if plan is None:
            comparison, timing = None, self.timer.time(problem.problem, schedule, cost=cost)
            time_s = timing.median_s
        else:
            comparison = self.timer.compare(
                problem.problem, schedule, plan.schedule, costs=(cost, cost_here(plan, problem))
            )
            timing = comparison.a
            # A baseline that fails today, though it was timed before, says nothing of the schedule.
            time_s = baseline_s / comparison.ratio if comparison.b.outcome == "ok" else timing.median_s
        if timing.outcome != "ok" or not math.isfinite(time_s):
            time_s = baseline_s / self.failure_speedup
        info = {"timing": timing, "comparison": comparison, "measured_speedup": baseline_s / time_s}
        return Rating(reward_of(time_s, baseline_s, self.form), info)

    def close(self) -> None:
        """Close the timer."""
        self.timer.close()

    def _measure(self, problem: PreparedProblem, plan: ScheduledPlan) -> float:
        timing = self.timer.time(problem.problem, plan.schedule, cost=cost_here(plan, problem))
        if timing.outcome != "ok":
            raise Error(
                f"{problem.problem.name}: the baseline cannot be timed: {timing.outcome}: {timing.error}. Choose another "
                "baseline, or give it more time or memory."
            )
        return timing.median_s


class HardwareTimingReward(ScheduleReward):
    """Rewards schedules by their run time in seconds.

    Against a baseline that is a schedule, both are run in turns, and the reward is made of the ratio of their times: a
    machine that is slower today than yesterday does not change it. A schedule that fails (it does not compile, crashes,
    takes too long, needs too much memory, or computes something else) counts as `failure_speedup` times the speed of the
    baseline, and the episode ends like any other.

    At the end of an episode, but for a dead end, `info` has also: `timing`, the `Timing` of the schedule, with the machine
    and the outcome; `comparison`, the `Comparison` with the baseline, None if that is a number or the form "inverse_time";
    `measured_speedup`, 1 / its time relative to the baseline.

    Args:
        env: an environment around `HalideSchedule`.
        form: see `Reward`; for "inverse_time", the baseline only rates failures.
        baseline: see `Reward`; a number is a time in seconds.
        timer: where run times come from; by default they are measured here, with the default settings, and not recorded. A
            `Replay` makes the environment deterministic. The environment's `close()` closes it. `env.spec` holds the very
            timer, so that environments made of the spec share it.
        failure_speedup: what a failed schedule counts.

    Raises:
        InvalidParameter: the form or the baseline is unknown, `timer` is none, `failure_speedup` is not between 0 and 1, or
            the environment is none of schedules.
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
        reward = RewardByRunTime(form, baseline, timer=timer, failure_speedup=failure_speedup)
        super().__init__(env, reward, form=form, baseline=baseline, timer=timer, failure_speedup=failure_speedup)
