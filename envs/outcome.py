"""What the last step of an episode reports."""

from __future__ import annotations

from typing import Any

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards.base import Reward
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import State


def outcome(problem: PreparedProblem, reward: Reward, state: State, cost: float | None) -> tuple[float, dict[str, Any]]:
    """The reward of an episode that ended in this state, and the part of its information that only the last step has.

    The `cost` is that of a complete schedule; None in a dead end.
    """
    rating = reward.rate(problem, state, cost)
    if cost is None:
        return rating.reward, {"dead_end": True, **rating.info}
    return rating.reward, {
        "dead_end": False,
        "cost": cost,
        "speedup": problem.speedup(cost),
        "schedule": Schedule.from_state(problem.problem, state),
        "fingerprint": problem.fingerprint,
        **rating.info,
    }
