"""Ways to search with a policy or several, at equal evaluations on generated pipelines: who competes, what came of it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from halidegym.agents.agent import Agent
from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.sgbs import SGBS
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mcts import MCTS
from halidegym.evaluation.papers.learned_agents import BEAM, GREEDY, Entrant, Run
from halidegym.evaluation.papers.learned_report import interval

EVALUATIONS = (256, 2_000)
OPPONENT = "guided replay"

HEADER = (
    "agent", "budget", "cost, of greedy's", "of the beam's", "of guided replay's", "95 %, over pipelines", "better on",
    "worse on", "evaluations, median", "forwards, median",
)  # fmt: skip


def guided_searches(policy: str | Path | Sequence[str | Path]) -> dict[str, Entrant]:
    """The entrants, by the names to show."""
    agents: Mapping[str, Agent] = {
        "mcts_replay": MCTS.preset("mcts_replay", threads=1),
        OPPONENT: GuidedReplay(policy=policy),
        "guided mcts": PolicyGuidedMCTS(policy=policy),
        "guided mcts, PUCT": PolicyGuidedMCTS(policy=policy, selection="puct"),
        "guided mcts, Gumbel root": PolicyGuidedMCTS(policy=policy, root="gumbel"),
        "guided mcts, PUCT and Gumbel root": PolicyGuidedMCTS(policy=policy, selection="puct", root="gumbel"),
        "SGBS": SGBS(policy=policy),
    }
    return {
        BEAM: Entrant(BeamSearch()),
        GREEDY: Entrant(Greedy()),
        **{
            _name(name, budget): Entrant(agent, evaluations=budget)
            for budget in EVALUATIONS
            for name, agent in agents.items()
        },
    }


def _name(agent: str, budget: int) -> str:
    return f"{agent}, {budget:,} evaluations"


def lines(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """The table of the runs, below `HEADER`: a line for each agent and budget, means over pipelines of those over seeds.

    Better or worse on a pipeline than guided replay with the same budget means by more than half a per cent.

    Args:
        runs: of all agents.

    Raises:
        Error: SciPy is not installed.
    """
    logs: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        logs.setdefault(run.agent, {}).setdefault(run.pipeline, []).append(math.log(run.cost))
    means = {agent: {name: statistics.fmean(costs) for name, costs in own.items()} for agent, own in logs.items()}
    found: list[tuple[str, ...]] = []
    for agent in logs:
        name, _, budget = agent.removesuffix(" evaluations").rpartition(", ")
        opponent = means.get(f"{OPPONENT}, {budget} evaluations", {})
        gains = [opponent[pipeline] - mean for pipeline, mean in means[agent].items() if pipeline in opponent]
        own = [run for run in runs if run.agent == agent]
        against = (
            (
                f"{math.exp(-statistics.fmean(gains)):.3f}",
                "{1:.3f} to {0:.3f}".format(*(1 / end for end in interval([np.array(gains)], seed=0))),
                str(sum(gain > math.log(1.005) for gain in gains)),
                str(sum(gain < -math.log(1.005) for gain in gains)),
            )
            if gains and name != OPPONENT
            else ("-",) * 4
        )
        found.append(
            (
                name if gains else agent,
                budget if gains else "-",
                _of(means[agent], means[GREEDY]),
                _of(means[agent], means[BEAM]),
                *against,
                f"{statistics.median(run.distinct_evaluations for run in own):,.0f}",
                f"{statistics.median(run.forwards for run in own):,.0f}",
            )
        )
    return found


def _of(ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    common = [pipeline for pipeline in ours if pipeline in theirs]
    return f"{math.exp(statistics.fmean(ours[p] - theirs[p] for p in common)):.3f}" if common else "-"
