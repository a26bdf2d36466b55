"""What decisions are worth, found out by taking them."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import pytest

from halidegym.agents import Greedy
from halidegym.agents.learned import policies
from halidegym.agents.learned.policies import load_network
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native._core import GuidanceOptions, GuidedSpace, Policy, Space
from halidegym.training.aggrevate.examples import replay
from halidegym.training.aggrevate.labels import WAYS, ValuedSchedule, valued_schedules
from halidegym.training.aggrevate.settings import LabelSettings
from halidegym.training.data.shard import TaughtPlan, TaughtProblem

SHIPPED = Path(policies.__file__).parent / "shipped/default.npz"
SETTINGS = LabelSettings(schedules=5, blind=3, child=3, cheapest=2, random=2, shortlist=4, draws=1)


@functools.cache
def space() -> Space:
    return Rules().space(load_problem("unsharp", parallelism=16))


@functools.cache
def problem() -> TaughtProblem:
    greedy = Greedy().solve(space()).cost
    return TaughtProblem(
        "unsharp", space().problem.to_bytes(), greedy, greedy, (TaughtPlan(greedy, (), "greedy", 1.0),)
    )


@functools.cache
def found() -> tuple[ValuedSchedule, ...]:
    return valued_schedules(problem(), SHIPPED, SETTINGS, 0)


def test_schedules_are_the_policys_own_in_each_way() -> None:
    assert len(found()) == len(WAYS) and len({schedule.actions for schedule in found()}) > 1
    policy = Policy(load_network("default"), space())
    favourites = list[int]()
    state = space().initial_state()
    while not state.is_complete:
        expansion = state.expand()
        favourites.append(int(policy.blind_logits(expansion).argmax()) if len(expansion) > 1 else 0)
        state = expansion.child(favourites[-1])
    assert tuple(favourites) in [schedule.actions for schedule in found()]


def test_costs_are_of_schedules_that_begin_so_and_no_worse_than_the_favourites() -> None:
    policy = Policy(load_network("default"), space())
    favourites = GuidedSpace(space(), policy, GuidanceOptions(temperature=0.0, shortlist=SETTINGS.shortlist))
    beaten = 0
    for schedule in found():
        state = space().initial_state()
        for action, costs in zip(schedule.actions, schedule.costs, strict=True):
            expansion = state.expand()
            if len(expansion) == 1:
                assert costs == ()
            else:
                tried = dict(costs)
                assert (
                    action in tried and list(tried) == sorted(tried) and int(np.nanargmin(expansion.costs())) in tried
                )
                by_favourites = favourites.completion_costs(expansion, list(tried))
                assert all(0 < cost <= known for cost, known in zip(tried.values(), by_favourites, strict=True))
                beaten += sum(by_favourites > list(tried.values()))
            state = expansion.child(action)
        assert state.is_complete
    assert beaten > 0  # by draws


def test_examples_tell_what_each_decision_loses() -> None:
    examples = replay([(problem(), found())], loops=8, threads=1)
    told = [dict(costs) for schedule in found() for costs in schedule.costs if costs]
    assert len(examples) == len(told) > 10
    for index, costs in enumerate(told):
        state = examples.states[index]
        first, end = state.replayed["offsets"][state.row : state.row + 2]
        least = min(costs.values())
        expected = [min(math.log(cost / least), 3.0) for cost in costs.values()]
        assert state.replayed["regrets"][first:end] == pytest.approx(expected, abs=1e-6)
        assert examples.values[index] == pytest.approx(math.log(least / problem().greedy_cost), abs=1e-6)
    assert examples.relative_costs.min() == 0.0 < examples.relative_costs.max()


def test_schedules_that_end_in_a_dead_end_are_learned_up_to_there() -> None:
    first = next(depth for depth, costs in enumerate(found()[0].costs) if costs)
    cut = ValuedSchedule(found()[0].actions[: first + 1], found()[0].costs[: first + 1])
    examples = replay([(problem(), (cut, ValuedSchedule((), ())))], loops=8, threads=1)
    assert len(examples) == 1 and len(examples.states[0].replayed["regrets"]) == len(cut.costs[first])
