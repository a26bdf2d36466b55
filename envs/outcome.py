"""What steps report, and what the last step of an episode does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards.base import Reward
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import State


def information(action_mask: NDArray[np.int8], num_legal_decisions: int, evaluations: int) -> dict[str, Any]:
    """The part of a step's or a reset's information that all have."""
    return {
        "action_mask": action_mask,
        "num_legal_decisions": num_legal_decisions,
        "decisions_truncated": num_legal_decisions > len(action_mask),
        "evaluations": evaluations,
    }


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
