"""What a network learns from: the states of a policy's own schedules, and how much their decisions lose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.native import _core
from halidegym.training.aggrevate.labels import ValuedSchedule
from halidegym.training.data.shard import TaughtProblem
from halidegym.training.imitation.examples import MAX_LOG_RATIO, relative_costs
from halidegym.training.networks.batches import Rows, StateAt


@dataclass(frozen=True)
class ValuedExamples:
    """All states of all schedules.

    Attributes:
        problems: the rows of each problem.
        states: replayed, of these problems; `regrets` of their rows says, of each decision that is shown, the logarithm of
            the cost that it leads to / the least one of the state, at most `MAX_LOG_RATIO`.
        values: the logarithm of that least cost / cost of greedy search's schedule.
        relative_costs: cost of what was decided so far where there was a choice / cost of greedy search's schedule.
    """

    problems: Sequence[Rows]
    states: Sequence[StateAt]
    values: NDArray[np.float32]
    relative_costs: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.states)


def replay(
    valued: Sequence[tuple[TaughtProblem, Sequence[ValuedSchedule]]], *, loops: int, threads: int
) -> ValuedExamples:
    """Replay schedules into rows.

    Args:
        valued: problems, with schedules of which it was found out what decisions are worth.
        loops: that a decision's descriptor tells of.
        threads: that replay.
    """

    def replayed(of_problem: tuple[TaughtProblem, Sequence[ValuedSchedule]]) -> tuple[Rows, list[_Replayed]]:
        problem, schedules = of_problem
        space = problem.space()
        return _core.problem_rows(space), [_replay(space, problem, schedule, loops) for schedule in schedules]

    with ThreadPoolExecutor(threads) as executor:
        of_problems = list(executor.map(replayed, valued))
    schedules = [(index, schedule) for index, (_, of_problem) in enumerate(of_problems) for schedule in of_problem]
    nothing = [np.empty(0, np.float32)]
    return ValuedExamples(
        problems=[rows for rows, _ in of_problems],
        states=[StateAt(index, one.rows, row) for index, one in schedules for row in range(len(one.values))],
        values=np.concatenate([*nothing, *(one.values for _, one in schedules)]),
        relative_costs=np.concatenate([*nothing, *(one.relative_costs for _, one in schedules)]),
    )


@dataclass(frozen=True)
class _Replayed:
    """The states of one schedule."""

    rows: Rows
    values: NDArray[np.float32]
    relative_costs: NDArray[np.float32]


def _replay(space: _core.Space, problem: TaughtProblem, schedule: ValuedSchedule, loops: int) -> _Replayed:
    rows = _core.replay_rows(
        space,
        list(schedule.actions),
        candidates=1,  # and all that are told
        loops=loops,
        child_features=True,
        reference_cost=problem.greedy_cost,
        shown=[[action for action, _ in costs] for costs in schedule.costs],
    )
    found = [np.array([cost for _, cost in costs]) for costs in schedule.costs if costs]
    regrets = [np.log(costs / costs.min()) for costs in found]
    values = [math.log(costs.min() / problem.greedy_cost) for costs in found]
    told = {name: array for name, array in rows.items() if name not in ("costs", "indices")}
    return _Replayed(
        told | {"regrets": np.minimum(np.concatenate([np.empty(0), *regrets]), MAX_LOG_RATIO).astype(np.float32)},
        np.clip(np.array(values, np.float32), -MAX_LOG_RATIO, MAX_LOG_RATIO),
        relative_costs(rows, problem),
    )
