"""What a network learns from: the states on the way of good plans, replayed into rows, and what was made of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.native import _core
from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.networks.batches import Rows, StateAt

MAX_LOG_RATIO = 3.0
"""Values beyond this are clipped: there schedules are so bad that it does not matter how bad they are."""


@dataclass(frozen=True)
class Examples:
    """All states of all plans.

    Attributes:
        problems: the rows of each problem.
        states: replayed, of these problems.
        weights: of the decision that a state's plan takes.
        value_weights: of what can be reached from it.
        values: the logarithm of that: least known cost below the state / cost of greedy search's schedule.
        relative_costs: cost of what was decided so far where there was a choice / cost of greedy search's schedule.
    """

    problems: Sequence[Rows]
    states: Sequence[StateAt]
    weights: NDArray[np.float32]
    value_weights: NDArray[np.float32]
    values: NDArray[np.float32]
    relative_costs: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True)
class _Replayed:
    """The states of one plan."""

    rows: Rows
    weight: float
    value_weight: float
    values: NDArray[np.float32]
    relative_costs: NDArray[np.float32]


def replay(
    taught: Sequence[TaughtProblem],
    *,
    candidates: int,
    loops: int,
    seed: int,
    threads: int | None = None,
    on_problem: Callable[[str], None] = lambda _name: None,
) -> Examples:
    """Replay all plans.

    Args:
        taught: problems with their plans.
        candidates: decisions of a state that are shown at most: the one taken, and others that are drawn; of a plan with
            more targets than half as many, twice these.
        loops: that a decision's descriptor tells of.
        seed: of the draws.
        threads: that replay; None for the usable cores.
        on_problem: called with the name of each problem.
    """

    def replayed(problem: TaughtProblem) -> tuple[Rows, list[_Replayed]]:
        space = problem.space()
        plans = [_replay(space, problem, plan, candidates, loops, seed) for plan in problem.plans]
        on_problem(problem.name)
        return _core.problem_rows(space), plans

    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as executor:
        of_problems = list(executor.map(replayed, taught))
    plans = [(index, plan) for index, (_, of_problem) in enumerate(of_problems) for plan in of_problem]
    sizes = [len(plan.values) for _, plan in plans]
    return Examples(
        problems=[rows for rows, _ in of_problems],
        states=[StateAt(index, plan.rows, row) for index, plan in plans for row in range(len(plan.values))],
        weights=np.repeat(np.array([plan.weight for _, plan in plans], np.float32), sizes),
        value_weights=np.repeat(np.array([plan.value_weight for _, plan in plans], np.float32), sizes),
        values=np.concatenate([np.empty(0, np.float32), *(plan.values for _, plan in plans)]),
        relative_costs=np.concatenate([np.empty(0, np.float32), *(plan.relative_costs for _, plan in plans)]),
    )


def _replay(
    space: _core.Space, problem: TaughtProblem, plan: TaughtPlan, candidates: int, loops: int, seed: int
) -> _Replayed:
    told = max(map(len, plan.targets), default=0)
    rows = _core.replay_rows(
        space,
        list(plan.actions),
        candidates=max(candidates, 2 * told),  # so that some are drawn that have no share, and stand for the rest
        seed=seed,
        loops=loops,
        child_features=True,
        reference_cost=problem.greedy_cost,
        shown=[[action for action, _ in targets] for targets in plan.targets],
    )
    targets = {"targets": _targets(plan, rows)} if plan.targets else {}
    return _Replayed(
        rows={name: array for name, array in rows.items() if name not in ("costs", "indices")} | targets,
        weight=plan.weight,
        value_weight=plan.weight or 1.0,
        values=_values(problem, plan, rows["decided"]),
        relative_costs=relative_costs(rows, problem),
    )


def relative_costs(rows: Rows, problem: TaughtProblem) -> NDArray[np.float32]:
    """What was decided so far where there was a choice costs, in each of the states replayed, relative to greedy search's
    schedule: that of the child that was taken last, 0 if none was. Decisions without a choice may have changed it since.
    """
    taken = rows["costs"][rows["offsets"][:-1] + rows["taken"]]
    costs: NDArray[np.float64] = np.concatenate([[0.0], taken[:-1]])[: len(taken)]
    return (costs / problem.greedy_cost).astype(np.float32)


def _depths(plan: TaughtPlan, decided: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.rint(decided * len(plan.actions)).astype(np.int64)


def _targets(plan: TaughtPlan, rows: Rows) -> NDArray[np.float32]:
    """The shares that the decisions shown should have."""
    shares = np.zeros(len(rows["indices"]), np.float32)
    for row, depth in enumerate(_depths(plan, rows["decided"])):
        first, end = rows["offsets"][row : row + 2]
        of_state = dict(plan.targets[depth]) or {plan.actions[depth]: 1.0}
        shares[first:end] = [of_state.get(index, 0.0) for index in rows["indices"][first:end].tolist()]
    return shares


def _values(problem: TaughtProblem, plan: TaughtPlan, decided: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the best known plan through each of the states comes to."""
    depths = _depths(plan, decided)
    best = [min(p.cost for p in problem.plans if p.actions[:depth] == plan.actions[:depth]) for depth in depths]
    values = [math.log(cost / problem.greedy_cost) for cost in best]
    return np.clip(np.array(values, np.float32), -MAX_LOG_RATIO, MAX_LOG_RATIO)
