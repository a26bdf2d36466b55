"""What the last step of an episode reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def outcomes(
    problems: Sequence[PreparedProblem], reward: Reward, states: Mapping[int, State], costs: Mapping[int, float]
) -> tuple[list[float], dict[str, dict[int, Any]]]:
    """The same of several episodes at once: the rewards, and the information by key and index.

    Args:
        problems: by index, those of other episodes, too.
        reward: what rates them.
        states: that the episodes ended in, by index.
        costs: of those that are complete schedules.
    """
    ended = [problems[index] for index in states]
    rewards, infos = reward.rate_all(ended, list(states.values()), [costs.get(index) for index in states])
    told: dict[str, dict[int, Any]] = {"dead_end": {index: index not in costs for index in states}}
    if costs:
        told["cost"] = dict(costs)
        told["speedup"] = {index: problems[index].speedup(cost) for index, cost in costs.items()}
        told["schedule"] = {index: Schedule.from_state(problems[index].problem, states[index]) for index in costs}
        told["fingerprint"] = {index: problems[index].fingerprint for index in costs}
    for index, info in zip(states, infos, strict=True):
        for key, value in info.items():
            told.setdefault(key, {})[index] = value
    return rewards, told
