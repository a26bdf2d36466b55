"""Trees of one search that are held elsewhere find what they find in the process that decides."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from halidegym.agents import MCTS
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native._core import (
    Error,
    InvalidParameter,
    MctsOptions,
    Space,
    SyntheticTree,
    TreeOrder,
    TreeReport,
    TreeShare,
    mcts,
)


class Shares:
    """Shares of the trees, which hear and tell what comes over a wire; some are lost after some orders, and replaced."""

    def __init__(self, space: Space, options: MctsOptions, parts: int, loses: Callable[[int], bool]) -> None:
        self._make = lambda part: TreeShare(space, options, part, parts)
        self._shares = [self._make(part) for part in range(parts)]
        self._loses = loses
        self.repeated: list[bytes] = []

    def __call__(self, order: TreeOrder, keep_searching: Callable[[int], bool]) -> list[TreeReport]:
        assert keep_searching(0)
        if self._loses(len(self.repeated)):
            self._shares[-1] = self._make(len(self._shares) - 1)
            for earlier in self.repeated:
                self._shares[-1].search(pickle.loads(earlier))
        reports = [report for share in self._shares for report in pickle.loads(pickle.dumps(share.search(order)))]
        self.repeated.append(pickle.dumps(order.repeated()))
        return sorted(reports, key=lambda report: report.tree)


@pytest.fixture(scope="module")
def harris() -> SchedulingProblem:
    return load_problem("harris", target="x86-64-linux-sse41", parallelism=4)


def found(problem: SchedulingProblem, agent: MCTS, trees: Any = None, **limits: Any) -> Sequence[Any]:
    result = mcts(Rules().space(problem), agent.options(3), None, trees, **limits)
    states = [[(state.cost, state.actions) for state in states] for states in (result.solutions, result.pass_solutions)]
    history = [(step.evaluations, step.expansions, step.cost) for step in result.history]
    return states, history, result.evaluations, result.expansions, result.deciding_trees, result.ended_by


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize(
    ("agent", "limits"),
    [
        (MCTS(trees=5, greedy_trees=2, iterations=4), {}),
        (MCTS(trees=5, winner="average", iterations=4), {}),
        (MCTS.preset("mcts_replay", trees=5), {"max_evaluations": 3000}),
    ],
)
def test_any_number_of_shares_finds_the_same(
    harris: SchedulingProblem, agent: MCTS, limits: dict[str, int], parts: int
) -> None:
    shares = Shares(Rules().space(harris), agent.options(3), parts, loses=lambda number: number in (1, 6))
    here = found(harris, agent, **limits)
    assert len(here[-2]) >= 7
    assert found(harris, agent, shares, **limits) == here


def test_what_seconds_have_limited_is_not_searched_again() -> None:
    problem = load_problem("toy_blur", target="x86-64-linux-sse41", parallelism=4)
    agent = MCTS(trees=2, greedy_trees=0, seconds_per_decision=0.2)
    shares = Shares(Rules().space(problem), agent.options(3), 2, loses=lambda number: number == 3)
    found(problem, agent, shares)
    replaced = TreeShare(Rules().space(problem), agent.options(3), 0, 2)
    assert {replaced.search(pickle.loads(order))[0].evaluations for order in shares.repeated} == {0}


def test_trees_belong_to_one_thread_at_a_time(harris: SchedulingProblem) -> None:
    space, options = Rules().space(harris), MctsOptions(trees=2, iterations=200)  # long enough for both to be at it
    orders: list[TreeOrder] = []
    mcts(space, options, None, lambda order, _keep: orders.append(order))
    share = TreeShare(space, options, 0, 1)
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def search() -> None:
        start.wait()
        try:
            share.search(orders[0])
            outcomes.append("done")
        except Error as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [
        "Another thread is searching with these trees; give each thread a TreeShare of its own",
        "done",
    ]


def test_trees_that_are_stopped_end_the_search(harris: SchedulingProblem) -> None:
    result = mcts(Rules().space(harris), MCTS(iterations=4).options(3), None, lambda _order, _keep: None)
    assert result.ended_by == "interrupt" and len(result.solutions) == 1


def test_what_does_not_fit_is_refused(harris: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match="search schedules alone"):
        mcts(SyntheticTree(seed=1), MctsOptions(iterations=1), None, lambda _order, _keep: None)
    with pytest.raises(InvalidParameter, match="divisor=3"):
        TreeShare(Rules().space(harris), MctsOptions(trees=2, iterations=1), 0, 3)
    with pytest.raises(InvalidParameter, match="give threading or ray"):
        MCTS(backend="dask")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="workers=2"):
        MCTS(workers=2)
    with pytest.raises(InvalidParameter, match="not spaces"):
        MCTS(backend="ray").solve(SyntheticTree(seed=1))
