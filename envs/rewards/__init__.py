"""Rewards: what a complete schedule is worth, by the cost model or by its run time; shared by planners and policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halidegym.envs.rewards.base import (
    DEAD_END_SPEEDUP,
    Baseline,
    Rating,
    Reward,
    RewardForm,
    ScheduledPlan,
    check_form,
    reward_of,
)
from halidegym.envs.rewards.cost_model import CostModelReward, RewardByCost
from halidegym.envs.rewards.wrapper import ScheduleReward

if TYPE_CHECKING:
    from halidegym.envs.rewards.hardware import HardwareTimingReward, RewardByRunTime
else:

    def __getattr__(name):
        # Measuring takes compiler and clock: imported when it is first asked for.
        if name not in ("HardwareTimingReward", "RewardByRunTime"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from halidegym.envs.rewards import hardware

        globals()[name] = getattr(hardware, name)
        return globals()[name]

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "DEAD_END_SPEEDUP",
    "Baseline",
    "CostModelReward",
    "HardwareTimingReward",
    "Rating",
    "Reward",
    "RewardByCost",
    "RewardByRunTime",
    "RewardForm",
    "ScheduleReward",
    "ScheduledPlan",
    "check_form",
    "reward_of",
]
