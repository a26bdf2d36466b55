"""Rounds of a search within one budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halidegym.agents.budget import Budget
from halidegym.agents.plan import Improvement
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.progress import OnProgress
from halidegym.agents.rounds import Rounds
from halidegym.agents.spaces import SpaceSolution
from halidegym.native._core import SyntheticTree

HISTORIES = (
    (Improvement(1.0, 1, 1, 9.0), Improvement(4.0, 8, 8, 7.0)),
    (Improvement(2.0, 1, 1, 6.0), Improvement(3.0, 5, 5, 8.0), Improvement(5.0, 9, 9, 5.0)),
)


def test_the_history_of_rounds_at_the_same_time_goes_on_by_time_and_by_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The better cost of the second round came by the clock before that of the first, which counts before it."""
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)

    def run_round(index: int, budget: Budget, seed: int, on_progress: OnProgress) -> SpaceSolution:
        solution = RandomSearch(num_schedules=1).solve(SyntheticTree(), seed=seed)
        return replace(solution, evaluations=10, expansions=10, history=HISTORIES[index])

    rounds: Rounds[SpaceSolution] = Rounds(run_round, Budget(), seed=0, limit=2, workers=2)
    rounds.run()
    assert rounds.history(rounds.found) == (
        Improvement(1.0, 1, 1, 9.0),
        Improvement(4.0, 8, 8, 7.0),
        Improvement(4.0, 11, 11, 6.0),
        Improvement(5.0, 19, 19, 5.0),
    )


def test_each_round_at_a_time_gets_its_share_of_the_counts_that_are_left() -> None:
    budgets = []

    def run_round(index: int, budget: Budget, seed: int, on_progress: OnProgress) -> SpaceSolution:
        budgets.append(budget)
        solution = RandomSearch(num_schedules=1).solve(SyntheticTree(), seed=seed)
        return replace(solution, evaluations=30, expansions=4, history=())

    rounds: Rounds[SpaceSolution] = Rounds(
        run_round, Budget(evaluations=101, expansions=20), seed=0, limit=1, workers=2
    )
    rounds.run()
    assert budgets == 2 * [Budget(evaluations=50, expansions=10)] + 2 * [Budget(evaluations=20, expansions=6)]
    assert rounds.ended_by == "budget"


@pytest.mark.parametrize("calls", [1, 3])
def test_rounds_go_on_until_a_callback_says_stop(calls: int) -> None:
    asked, answers = [], []

    def on_progress(index: int, *state: object) -> bool:
        asked.append((index, *state))
        return len(asked) < calls

    def run_round(index: int, budget: Budget, seed: int, on_progress: OnProgress) -> SpaceSolution:
        answers.append(on_progress(0, 7, 0.5))
        return RandomSearch(num_schedules=1).solve(SyntheticTree(), seed=seed)

    rounds: Rounds[SpaceSolution] = Rounds(run_round, Budget(), seed=0, limit=5, workers=1)
    rounds.run(on_progress)
    assert asked == [(index, 7, 0.5) for index in range(calls)], "the round takes the place of the pass"
    assert answers == [True] * (calls - 1) + [False]
    assert (len(rounds.found), rounds.ended_by) == (calls, "interrupt")
