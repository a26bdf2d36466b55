"""Improving schedules of problems by the search that a policy guides: on threads here, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.processes.workers import RAY
from halidegym.native._core import Error, Solution, TriedAtRoot
from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.expert.settings import ImproverSettings
from halidegym.training.workers import Failed, in_processes

# Of the decisions of the search, how many read children; the others are blind, so that nothing is overlooked for good.
_SHORTLIST_SHARE = 0.5
_LEAST_SHARE = 0.01


def improved_plans(
    problems: Sequence[TaughtProblem],
    policy: Path,
    settings: ImproverSettings,
    *,
    seed: int,
    threads: int,
    temperature: float | None = None,
    workers: Literal["ray"] | None = None,
) -> Iterator[TaughtPlan]:
    """Yield the best schedules that the search finds, in the order of the problems.

    Args:
        problems: to schedule.
        policy: file of the policy that guides.
        settings: of the search.
        seed: of the search.
        threads: of this machine, to search on.
        temperature: of the targets that the plans shall have; None for plans without any.
        workers: the nodes of a Ray cluster instead; the schedules are the same.

    Raises:
        Error: a worker died of a search.
    """
    if workers == RAY:
        content = policy.read_bytes()
        plans = in_processes(
            improve_there, [(problem, content, settings, seed, temperature) for problem in problems], workers
        )
        for problem, plan in zip(problems, plans, strict=True):
            if isinstance(plan, Failed):
                raise Error(f"The search for a schedule of {problem.name} failed: {plan.reason}")
            yield plan
    else:
        with ThreadPoolExecutor(threads) as executor:
            yield from executor.map(lambda problem: improve(problem, policy, settings, seed, temperature), problems)


def improve(
    problem: TaughtProblem, policy: Path, settings: ImproverSettings, seed: int, temperature: float | None = None
) -> TaughtPlan:
    """The best schedule that the search finds; with a temperature, what the search made of the decisions on its way, too."""
    agent = PolicyGuidedMCTS(
        policy=policy,
        free_schedules=settings.free_schedules,
        shortlist=settings.shortlist,
        shortlist_share=_SHORTLIST_SHARE,
    )
    if temperature is None:
        best = agent.solve(problem.space(), evaluations=settings.evaluations, seed=seed).candidates[0]
        return TaughtPlan(best.cost, best.actions, "policy", 1.0)
    found = agent.search_tree(problem.space(), evaluations=settings.evaluations, seed=seed)
    last = (found.pass_solutions or found.solutions)[-1]  # the best one, on whose way all roots lie
    return TaughtPlan(last.cost, tuple(last.actions), "policy", 1.0, tree_targets(last, found.roots, temperature))


def tree_targets(
    best: Solution, roots: Sequence[TriedAtRoot], temperature: float
) -> tuple[tuple[tuple[int, float], ...], ...]:
    """Shares of the decisions that were tried at each root, in proportion to (best cost below)^(-1 / temperature).

    The smallest are left out until none is below 1 % of what is left.

    Args:
        best: the best schedule of a tree search.
        roots: that the search had on the way to it.
        temperature: the higher, the more even are the shares.

    Returns:
        The `targets` of a `TaughtPlan`.
    """
    targets: list[tuple[tuple[int, float], ...]] = [()] * len(best.actions)
    for root in roots:
        # Later searches may have found something cheaper below the decision that was taken.
        costs = dict(zip(root.actions, root.costs, strict=True)) | {best.actions[root.depth]: best.cost}
        shares = {action: (cost / best.cost) ** (-1 / temperature) for action, cost in costs.items()}
        targets[root.depth] = _likely(shares, best.actions[root.depth])
    return tuple(targets)


def _likely(shares: Mapping[int, float], taken: int) -> tuple[tuple[int, float], ...]:
    """The largest shares, of equal ones that of the decision taken first, as long as each is not too small among these.

    Not too small among all would leave nothing of very many decisions that are alike.
    """
    likely, total = list[int](), 0.0
    for action in sorted(shares, key=lambda action: (-shares[action], action != taken, action)):
        if shares[action] < _LEAST_SHARE * (total + shares[action]):
            break
        likely.append(action)
        total += shares[action]
    return tuple((action, shares[action] / total) for action in sorted(likely))


def improve_there(
    problem: TaughtProblem, policy: bytes, settings: ImproverSettings, seed: int, temperature: float | None
) -> TaughtPlan:
    """The same where the policy's file is not."""
    with ScratchFolder() as folder:
        path = folder / "policy.npz"
        path.write_bytes(policy)
        return improve(problem, path, settings, seed, temperature)
