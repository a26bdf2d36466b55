"""Improving schedules of problems by the search that a policy guides: on threads here, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.processes.workers import RAY
from halidegym.native._core import Error
from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.expert.settings import ImproverSettings
from halidegym.training.workers import Failed, in_processes

# Of the decisions of the search, how many read children; the others are blind, so that nothing is overlooked for good.
_SHORTLIST_SHARE = 0.5


def improved_plans(
    problems: Sequence[TaughtProblem],
    policy: Path,
    settings: ImproverSettings,
    *,
    seed: int,
    threads: int,
    workers: Literal["ray"] | None = None,
) -> Iterator[TaughtPlan]:
    """Yield the best schedules that the search finds, in the order of the problems.

    Args:
        problems: to schedule.
        policy: file of the policy that guides.
        settings: of the search.
        seed: of the search.
        threads: of this machine, to search on.
        workers: the nodes of a Ray cluster instead; the schedules are the same.

    Raises:
        Error: a worker died of a search.
    """
    if workers == RAY:
        content = policy.read_bytes()
        plans = in_processes(improve_there, [(problem, content, settings, seed) for problem in problems], workers)
        for problem, plan in zip(problems, plans, strict=True):
            if isinstance(plan, Failed):
                raise Error(f"The search for a schedule of {problem.name} failed: {plan.reason}")
            yield plan
    else:
        with ThreadPoolExecutor(threads) as executor:
            yield from executor.map(lambda problem: improve(problem, policy, settings, seed), problems)


def improve(problem: TaughtProblem, policy: Path, settings: ImproverSettings, seed: int) -> TaughtPlan:
    """The best schedule that the search finds."""
    agent = PolicyGuidedMCTS(
        policy=policy,
        free_schedules=settings.free_schedules,
        shortlist=settings.shortlist,
        shortlist_share=_SHORTLIST_SHARE,
    )
    best = agent.solve(problem.space(), evaluations=settings.evaluations, seed=seed).candidates[0]
    return TaughtPlan(best.cost, best.actions, "policy", 1.0)


def improve_there(problem: TaughtProblem, policy: bytes, settings: ImproverSettings, seed: int) -> TaughtPlan:
    """The same where the policy's file is not."""
    with ScratchFolder() as folder:
        path = folder / "policy.npz"
        path.write_bytes(policy)
        return improve(problem, path, settings, seed)
