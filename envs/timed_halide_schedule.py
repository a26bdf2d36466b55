"""The environments whose rewards are run times: measured on this machine, or replayed from a record."""

from __future__ import annotations

import os
from typing import Any, Literal

from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.rewards.base import DEAD_END_SPEEDUP, Baseline, Reward, RewardForm
from halidegym.envs.rewards.hardware import RewardByRunTime
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer, Replay


def make_measured(
    *,
    form: RewardForm = "log_speedup",
    baseline: Baseline = "greedy",
    database: str | os.PathLike[str] | None = None,
    settings: TimingSettings | None = None,
    failure_speedup: float = DEAD_END_SPEEDUP,
    **environment: Any,
) -> HalideSchedule:
    """`HalideScheduleHardware-v0`: rewards are measured on this machine. Not deterministic.

    Args:
        form: see `halidegym.rewards.HardwareTimingReward`.
        baseline: likewise.
        database: file to record in; what is on record is not measured again.
        settings: how to time.
        failure_speedup: see `HardwareTimingReward`.
        **environment: arguments of `HalideSchedule`.
    """
    timer = RecordingTimer(database, settings)
    return _rewarded(RewardByRunTime(form, baseline, timer=timer, failure_speedup=failure_speedup), environment)


def make_replayed(
    database: str | os.PathLike[str],
    *,
    form: RewardForm = "log_speedup",
    baseline: Baseline = "greedy",
    settings: TimingSettings | None = None,
    machine: str | None = None,
    missing: Literal["error", "cost_model"] = "error",
    failure_speedup: float = DEAD_END_SPEEDUP,
    **environment: Any,
) -> HalideSchedule:
    """`HalideScheduleReplay-v0`: rewards come from a record, without compiler and clock. Deterministic.

    Args:
        database: file that measurements were recorded in.
        form: see `halidegym.rewards.HardwareTimingReward`.
        baseline: likewise.
        settings: see `Replay`.
        machine: likewise.
        missing: likewise.
        failure_speedup: see `HardwareTimingReward`.
        **environment: arguments of `HalideSchedule`.
    """
    timer = Replay(database, settings=settings, machine=machine, missing=missing)
    return _rewarded(RewardByRunTime(form, baseline, timer=timer, failure_speedup=failure_speedup), environment)


def _rewarded(reward: Reward, environment: dict[str, Any]) -> HalideSchedule:
    env = HalideSchedule(**environment)
    env.reward = reward
    return env
