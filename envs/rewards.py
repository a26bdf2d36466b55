"""Rewards: what a complete schedule is worth, by the cost model or by its run time; shared by planners and policies."""

from __future__ import annotations

from halidegym.envs.hardware_reward import HardwareTimingReward
from halidegym.envs.schedule_reward import (
    DEAD_END_SPEEDUP,
    Baseline,
    RewardForm,
    ScheduledPlan,
    ScheduleReward,
    check_form,
    reward_of,
)
from halidegym.native._core import InvalidParameter, State

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


class CostModelReward(ScheduleReward):
    """Rewards schedules by the cost model: deterministic and cheap. Times are its costs (milliseconds as trained)."""

    def time_of_state(self, state: State) -> float:
        """Cost of the complete schedule."""
        return state.cost()

    def time_of_plan(self, plan: ScheduledPlan) -> float:
        """Cost that the plan states.

        Raises:
            InvalidParameter: it states none.
        """
        if plan.cost is None:
            raise InvalidParameter("The baseline is a plan without a cost: use one of an agent with a cost model")
        return plan.cost
