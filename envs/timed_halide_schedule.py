"""The environments whose rewards are run times: measured on this machine, or replayed from a record."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.halide_schedule_vector import HalideScheduleVector
from halidegym.envs.rewards.base import DEAD_END_SPEEDUP, Baseline, RewardForm
from halidegym.envs.rewards.hardware import RewardByRunTime
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer, Replay

Environment = TypeVar("Environment", HalideSchedule, HalideScheduleVector)


def make_measured(**arguments: Any) -> HalideSchedule:
    """`HalideScheduleHardware-v0`: rewards are measured on this machine. Not deterministic; arguments as of `measured`."""
    return measured(HalideSchedule, **arguments)


def make_measured_vector(num_envs: int = 1, **arguments: Any) -> HalideScheduleVector:
    """The vector of `HalideScheduleHardware-v0`: schedules are measured one after another, and nothing else meanwhile."""
    return measured(functools.partial(HalideScheduleVector, num_envs), **arguments)


def make_replayed(**arguments: Any) -> HalideSchedule:
    """`HalideScheduleReplay-v0`: rewards come from a record, without compiler and clock. Arguments as of `replayed`."""
    return replayed(HalideSchedule, **arguments)


def make_replayed_vector(num_envs: int = 1, **arguments: Any) -> HalideScheduleVector:
    """The vector of `HalideScheduleReplay-v0`."""
    return replayed(functools.partial(HalideScheduleVector, num_envs), **arguments)


def measured(
    make: Callable[..., Environment],
    *,
    form: RewardForm = "log_speedup",
    baseline: Baseline = "greedy",
    database: str | os.PathLike[str] | None = None,
    settings: TimingSettings | None = None,
    failure_speedup: float = DEAD_END_SPEEDUP,
    **environment: Any,
) -> Environment:
    """An environment whose rewards are measured on this machine.

    Args:
        make: of the environment.
        form: see `halidegym.rewards.HardwareTimingReward`.
        baseline: likewise.
        database: file to record in; what is on record is not measured again.
        settings: how to time.
        failure_speedup: see `HardwareTimingReward`.
        **environment: arguments of `make`.
    """
    env = make(**environment)
    timer = RecordingTimer(database, settings)
    env.reward = RewardByRunTime(form, baseline, timer=timer, failure_speedup=failure_speedup)
    return env


def replayed(
    make: Callable[..., Environment],
    *,
    database: str | os.PathLike[str],
    form: RewardForm = "log_speedup",
    baseline: Baseline = "greedy",
    settings: TimingSettings | None = None,
    machine: str | None = None,
    missing: Literal["error", "cost_model"] = "error",
    failure_speedup: float = DEAD_END_SPEEDUP,
    **environment: Any,
) -> Environment:
    """An environment whose rewards come from a record. Deterministic.

    Args:
        make: of the environment.
        database: file that measurements were recorded in.
        form: see `halidegym.rewards.HardwareTimingReward`.
        baseline: likewise.
        settings: see `Replay`.
        machine: likewise.
        missing: likewise.
        failure_speedup: see `HardwareTimingReward`.
        **environment: arguments of `make`.
    """
    env = make(**environment)
    timer = Replay(database, settings=settings, machine=machine, missing=missing)
    env.reward = RewardByRunTime(form, baseline, timer=timer, failure_speedup=failure_speedup)
    return env
