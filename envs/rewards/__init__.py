"""Rewards: what a complete schedule is worth, by the cost model or by its run time; shared by planners and policies."""

from __future__ import annotations

from halidegym.envs.rewards.base import (
    DEAD_END_SPEEDUP,
    Baseline,
    RewardForm,
    ScheduledPlan,
    ScheduleReward,
    check_form,
    reward_of,
)
from halidegym.envs.rewards.cost_model import CostModelReward
from halidegym.envs.rewards.hardware import HardwareTimingReward

__all__ = [
    "DEAD_END_SPEEDUP",
    "Baseline",
    "CostModelReward",
    "HardwareTimingReward",
    "RewardForm",
    "ScheduleReward",
    "ScheduledPlan",
    "check_form",
    "reward_of",
]
