"""Rewards by the cost model."""

from __future__ import annotations

from halidegym.envs.rewards.base import ScheduledPlan, ScheduleReward
from halidegym.native._core import InvalidParameter, State


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
