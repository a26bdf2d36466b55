"""Judging a policy by what it schedules: rollouts on problems that it has not learned from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.native._core import Space
from halidegym.training.imitation.settings import RolloutSettings

SCORE = "rollouts/log_ratio_to_greedy"
"""The figure that chooses between policies: lower is better."""


class Planned(Protocol):
    """A problem that others have scheduled."""

    @property
    def greedy_cost(self) -> float:
        """Cost of greedy search's schedule."""

    @property
    def beam_cost(self) -> float:
        """Cost of a beam's schedule."""

    def space(self) -> Space:
        """The space of its schedules."""


def roll_out(
    policy: Path,
    problems: Sequence[Planned],
    settings: RolloutSettings,
    *,
    judged_by: Sequence[str] = ("blind_best", "shortlist_best"),
) -> Mapping[str, float]:
    """Cost ratios of a policy's schedules, geometric means over the problems.

    Args:
        policy: file of the policy.
        problems: to schedule.
        settings: how many schedules are drawn, and of how many problems.
        judged_by: the ways to draw schedules that count: by default, those that draw several.

    Returns:
        Of each way to draw schedules, their cost / that of greedy search and of the beam; and `SCORE`, the mean logarithm of
        the ratios to greedy search over those that count.
    """
    drawn = {
        "blind_argmax": PolicyAgent(policy=policy, samples=1, temperature=0.0),
        "shortlist_argmax": PolicyAgent(policy=policy, samples=1, temperature=0.0, shortlist=settings.shortlist),
        "blind_best": PolicyAgent(policy=policy, samples=settings.samples),
        "shortlist_best": PolicyAgent(policy=policy, samples=settings.samples, shortlist=settings.shortlist),
    }
    return _ratios(problems, drawn, judged_by)


def roll_out_blind(
    policy: Path, problems: Sequence[Planned], *, samples: int, temperature: float
) -> Mapping[str, float]:
    """The same of a policy whose child-reading head has not learned: its favourites, and the best of some draws.

    Returns:
        As `roll_out`; `SCORE` is the mean over both ways.
    """
    drawn = {
        "blind_argmax": PolicyAgent(policy=policy, samples=1, temperature=0.0),
        "blind_best": PolicyAgent(policy=policy, samples=samples, temperature=temperature),
    }
    return _ratios(problems, drawn, judged_by=tuple(drawn))


def _ratios(
    problems: Sequence[Planned], drawn: Mapping[str, PolicyAgent], judged_by: Sequence[str]
) -> Mapping[str, float]:
    logs: dict[str, list[float]] = {name: [] for name in drawn}
    for problem in problems:
        space = problem.space()
        for name, agent in drawn.items():
            logs[name].append(math.log(agent.solve(space).cost / problem.greedy_cost))
    beam = statistics.fmean(math.log(problem.beam_cost / problem.greedy_cost) for problem in problems)
    means = {name: statistics.fmean(values) for name, values in logs.items()}
    return {
        **{f"rollouts/{name}_of_greedy": math.exp(mean) for name, mean in means.items()},
        **{f"rollouts/{name}_of_beam": math.exp(mean - beam) for name, mean in means.items()},
        SCORE: statistics.fmean(means[name] for name in judged_by),
    }
