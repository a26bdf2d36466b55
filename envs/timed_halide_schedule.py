"""The environments whose rewards are run times: measured on this machine, or replayed from a record."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.halide_schedule_vector import HalideScheduleVector
from halidegym.envs.rewards.base import DEAD_END_SPEEDUP, Baseline, RewardForm
from halidegym.envs.rewards.hardware import RewardByRunTime
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer, Replay
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import shown

Environment = TypeVar("Environment", HalideSchedule, HalideScheduleVector)


def make_measured(**arguments: Any) -> HalideSchedule:
    """Schedule a Halide pipeline, and learn how long it runs on this machine.

    ## Description

    `HalideSchedule` with run times for rewards: the same states, actions, observations, episodes and information, and
    its arguments beside those below. At the end of an episode there are also the `timing`, `comparison` and
    `measured_speedup` of `halidegym.rewards.HardwareTimingReward`. Gymnasium knows this environment as nondeterministic,
    since clocks are.

    ## Rewards

    0 until the schedule is complete. It is then compiled, run, compared with a trusted schedule's output and timed:
    `log(run time of the baseline / run time)`. What is on record in the `database` is not measured again.

    ## Arguments

    | Argument | Default | Meaning |
    |---|---|---|
    | `database` | none | file to record run times in |
    | `form` | `"log_speedup"` | of the reward, as of `halidegym.rewards.HardwareTimingReward` |
    | `baseline` | `"greedy"` | what run times are relative to, likewise |
    | `settings` | `TimingSettings()` | how to time |
    | `failure_speedup` | `DEAD_END_SPEEDUP` | what a schedule counts that fails: does not compile or run, or is wrong |

    ```python
    import gymnasium as gym, halidegym

    env = gym.make("HalideScheduleHardware-v0", pipeline="toy_blur", database="times.sqlite")
    observation, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
    print(reward)
    ```

    ## Version History

    - v0: initial version.
    """
    return measured(HalideSchedule, **arguments)


def make_measured_vector(num_envs: int = 1, **arguments: Any) -> HalideScheduleVector:
    """The vector of `HalideScheduleHardware-v0`: schedules are measured one after another, and nothing else meanwhile."""
    return measured(functools.partial(HalideScheduleVector, num_envs), **arguments)


def make_replayed(**arguments: Any) -> HalideSchedule:
    """Schedule a Halide pipeline, with run times out of a record.

    ## Description

    `HalideScheduleHardware-v0` without compiler and clock: run times come from a `database` that was recorded before, on
    this machine or another one. Equal seeds and actions give equal rewards, bit for bit.

    ## Rewards

    Those of `HalideScheduleHardware-v0`. A schedule that is not on record is an error, or counts with its cost.

    ## Arguments

    | Argument | Default | Meaning |
    |---|---|---|
    | `database` | | file that run times were recorded in |
    | `missing` | `"error"` | what to do about a schedule that is not on record; or `"cost_model"`: rate it by its cost |
    | `machine` | see `Replay` | fingerprint of the machine whose run times count |
    | `form`, `baseline`, `settings`, `failure_speedup` | | as of `HalideScheduleHardware-v0` |

    ```python
    import gymnasium as gym, halidegym

    env = gym.make("HalideScheduleReplay-v0", pipeline="toy_blur", database="times.sqlite", missing="cost_model")
    observation, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
    print(reward)
    ```

    ## Version History

    - v0: initial version.
    """
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

    Raises:
        InvalidParameter: there is a `reward` among them, or an argument is out of its range.
    """
    _check_no_reward(environment)
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

    Raises:
        InvalidParameter: there is a `reward` among them, or an argument is out of its range.
    """
    _check_no_reward(environment)
    env = make(**environment)
    timer = Replay(database, settings=settings, machine=machine, missing=missing)
    env.reward = RewardByRunTime(form, baseline, timer=timer, failure_speedup=failure_speedup)
    return env


def _check_no_reward(environment: Mapping[str, Any]) -> None:
    """Refuse the reward that a vector of `HalideSchedule-v0` takes: it would be replaced."""
    if "reward" in environment:
        raise InvalidParameter(
            f"reward={shown(environment['reward'])}: rewards are run times here, as form and baseline say; leave it out, "
            "or give it to HalideSchedule-v0"
        )
