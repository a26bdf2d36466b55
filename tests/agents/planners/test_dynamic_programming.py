"""Dynamic programming over the problems of a transform."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Sequence
from typing import Any

import pytest

from halidegym.agents import DynamicProgramming
from halidegym.agents.budget import Budget
from halidegym.native._core import InvalidParameter, SyntheticTree, TransformProblem, TransformSpace


class _Counted:
    """Times ways by the length of their text, but for one round, in which everything is disturbed."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def race_ways(
        self, problem: TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float, seed: int = 0
    ) -> list[list[float]]:
        self.asked.append((str(problem), len(ways)))
        times = [[float(len(way))] * rounds for way in ways]
        for samples in times[:1]:
            samples[0] = 1e9 if rounds > 1 else samples[0]
        return times


@pytest.mark.parametrize("n", [16, 64, 1024, 4096, 360])
@pytest.mark.parametrize("rules", ["basic", "lanes"])
def test_exact_without_context(n: int, rules: Any) -> None:
    space = TransformSpace(n, space=rules)
    found = DynamicProgramming().solve(space)
    assert found.cost == space.optimum()[0] == space.cost(found.state)
    assert found.ended_by == "finished"


@pytest.mark.parametrize(("n", "error"), [(16, 1.0), (64, 1.0), (128, 1.91), (256, 1.9), (1024, 1.94), (360, 1.69)])
def test_errs_with_context_where_parts_have_parts(n: int, error: float) -> None:
    space = TransformSpace(n, space="lanes", context=3.0)
    assert DynamicProgramming().solve(space).cost / space.optimum()[0] == pytest.approx(error, abs=0.01)


def test_actions_lead_to_the_plan() -> None:
    for order in ("first", "any"):
        space = TransformSpace(1000, order=order)
        found = DynamicProgramming().solve(space)
        state = space.root()
        for action in found.actions:
            state = space.apply(state, action)
        assert state == found.state


def test_each_pair_is_timed_once_where_there_is_a_choice() -> None:
    space, timer = TransformSpace(64), _Counted()
    found = DynamicProgramming(rounds=3, timer=timer).solve(space)
    choices = [len(space.choices(index)) for index in range(space.num_problems)]
    assert [count for _, count in timer.asked] == [count for count in choices if count > 1]
    assert len(set(timer.asked)) == len(timer.asked)
    assert found.evaluations == sum(count for count in choices if count > 1)
    assert found.state.text == "codelet 1"  # the shortest, whatever one round says


def test_problems_come_after_what_their_steps_leave() -> None:
    space = TransformSpace(360, space="lanes")
    for index in range(space.num_problems):
        assert all(sub < index for _, subs in space.choices(index) for sub in subs)
    assert space.problem(space.num_problems - 1).n == 360
    assert len({str(space.problem(index)) for index in range(space.num_problems)}) == space.num_problems


def test_a_limit_of_the_radix() -> None:
    text = DynamicProgramming(radix_limit=4).solve(TransformSpace(4096)).state.text
    radices = [int(word) for before, word in itertools.pairwise(text.split()) if before.endswith("split")]
    assert radices
    assert max(radices) <= 4


@pytest.mark.parametrize("n", [7, 9, 25, 49, 360])
def test_where_all_radices_are_beyond_the_limit_all_are_tried(n: int) -> None:
    space = TransformSpace(n)
    found = DynamicProgramming(radix_limit=2).solve(space)
    assert found.state.is_complete
    assert found.cost == space.cost(found.state)


def test_a_budget_leaves_the_rest_to_the_model() -> None:
    space = TransformSpace(256)
    found = DynamicProgramming(timer=_Counted()).solve(space, evaluations=20)
    assert found.ended_by == "budget"
    assert 20 <= found.evaluations < 40
    assert found.state.is_complete


@pytest.mark.parametrize("arguments", [{"rounds": 0}, {"samples_s": 0.0}, {"radix_limit": 1}])
def test_bad_parameters(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        DynamicProgramming(**arguments)


def test_other_spaces_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="needs a TransformSpace, not a SyntheticTree"):
        DynamicProgramming().solve(SyntheticTree())
    with pytest.raises(InvalidParameter, match="problem 99"):
        TransformSpace(2).choices(99)


@pytest.mark.parametrize("limit", ["evaluations", "expansions"])
def test_each_budget_ends_it(limit: str) -> None:
    space = TransformSpace(1024)
    whole, found = DynamicProgramming().solve(space), DynamicProgramming().solve(space, **{limit: 20})
    assert (whole.expansions, whole.ended_by, found.ended_by) == (space.num_problems, "finished", "budget")
    assert found.expansions <= 20
    assert found.evaluations < whole.evaluations


def test_a_callback_and_ctrl_c_leave_the_rest_to_the_model() -> None:
    space, budget = TransformSpace(64), Budget()
    found = DynamicProgramming().search_space(space, budget, 0, lambda _pass, depth, *_: depth < 5)
    assert (found.ended_by, found.expansions) == ("interrupt", 5)

    class Interrupted(_Counted):
        def race_ways(self, problem: Any, ways: Any, **settings: Any) -> list[list[float]]:
            os.kill(os.getpid(), signal.SIGINT)
            return super().race_ways(problem, ways, **settings)

    timer = Interrupted()
    found = DynamicProgramming(timer=timer).solve(space)
    assert (found.ended_by, len(timer.asked), found.cost) == ("interrupt", 1, space.cost(found.state))
