"""What the last step of an episode reports."""

from __future__ import annotations

from collections.abc import Sequence
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
    problems: Sequence[PreparedProblem], reward: Reward, states: Sequence[State], costs: Sequence[float | None]
) -> tuple[list[float], dict[str, tuple[list[int], Sequence[Any]]]]:
    """The same of several episodes at once: the rewards; and by key, which episodes tell it, and what each tells.

    It takes no call for each episode: in vectors of small problems, half of the episodes end in a step.
    """
    rewards, infos = reward.rate_all(problems, states, costs)
    everyone = list(range(len(states)))
    told: dict[str, tuple[list[int], Sequence[Any]]] = {"dead_end": (everyone, [cost is None for cost in costs])}
    complete = everyone if None not in costs else [index for index in everyone if costs[index] is not None]
    if complete:
        found = [problems[index] for index in complete]
        known = [cost for cost in costs if cost is not None]
        greedy = {problem: problem.speedup(1.0) for problem in set(found)}
        ended = zip(found, (states[index] for index in complete), strict=True)
        told["cost"] = (complete, known)
        told["speedup"] = (complete, [greedy[problem] / cost for problem, cost in zip(found, known, strict=True)])
        told["schedule"] = (complete, [Schedule.from_state(problem.problem, state) for problem, state in ended])
        told["fingerprint"] = (complete, [problem.fingerprint for problem in found])
    for key in {key: None for info in infos for key in info}:
        values = dict(zip(*told.get(key, ((), ())), strict=True))  # a reward may tell one of the above in its own way
        values.update({index: info[key] for index, info in enumerate(infos) if key in info})
        told[key] = (list(values), list(values.values()))
    return rewards, told
