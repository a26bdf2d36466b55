"""Judging a policy by what it schedules: rollouts on problems that it has not learned from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.training.data.shard import TaughtProblem
from halidegym.training.imitation.settings import RolloutSettings

SCORE = "rollouts/log_ratio_to_greedy"
"""The figure that chooses between policies: lower is better."""


def roll_out(policy: Path, taught: Sequence[TaughtProblem], settings: RolloutSettings) -> Mapping[str, float]:
    """Cost ratios of a policy's schedules, geometric means over the problems.

    Returns:
        Of each way to draw schedules, their cost / that of greedy search and of the teacher's beam; and `SCORE`, the mean
        logarithm of the ratios to greedy search over the two ways that draw several.
    """
    drawn = {
        "blind_argmax": PolicyAgent(policy=policy, samples=1, temperature=0.0),
        "shortlist_argmax": PolicyAgent(policy=policy, samples=1, temperature=0.0, shortlist=settings.shortlist),
        "blind_best": PolicyAgent(policy=policy, samples=settings.samples),
        "shortlist_best": PolicyAgent(policy=policy, samples=settings.samples, shortlist=settings.shortlist),
    }
    logs: dict[str, list[float]] = {name: [] for name in drawn}
    for problem in taught:
        space = problem.space()
        for name, agent in drawn.items():
            logs[name].append(math.log(agent.solve(space).cost / problem.greedy_cost))
    beam = statistics.fmean(math.log(problem.beam_cost / problem.greedy_cost) for problem in taught)
    means = {name: statistics.fmean(values) for name, values in logs.items()}
    return {
        **{f"rollouts/{name}_of_greedy": math.exp(mean) for name, mean in means.items()},
        **{f"rollouts/{name}_of_beam": math.exp(mean - beam) for name, mean in means.items()},
        SCORE: (means["blind_best"] + means["shortlist_best"]) / 2,
    }
