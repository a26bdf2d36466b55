"""What the last step of an episode reports."""

from __future__ import annotations

from typing import Any

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards.base import Reward
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import Environment


def outcome(native: Environment, problem: PreparedProblem, reward: Reward) -> tuple[float, dict[str, Any]]:
    """The reward of an episode that is over, and the part of its information that only the last step has."""
    state = native.state
    if not state.is_complete:
        rating = reward.rate(problem, state)
        return rating.reward, {"dead_end": True, **rating.info}
    cost = native.cost()
    rating = reward.rate(problem, state, cost)
    return rating.reward, {
        "dead_end": False,
        "cost": cost,
        "speedup": problem.speedup(cost),
        "schedule": Schedule.from_state(problem.problem, state),
        "fingerprint": problem.fingerprint,
        **rating.info,
    }
