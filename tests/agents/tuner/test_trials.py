"""What is made of run times: which schedules count as fastest, and which are varied."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.proposals import Proposal, careless_descents, proposal_of
from halidegym.agents.tuner.trials import Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.timing.measurements import Comparison, Timing
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=2)


@pytest.fixture(scope="module")
def proposals(problem: SchedulingProblem) -> list[Proposal]:
    """Different ones."""
    return Trials().new_of(iter(careless_descents(Rules().space(problem), 1)), 60, attempts=20)


def compared(speed: float) -> Comparison:
    """With a baseline that takes a second; one of no speed has failed."""
    if speed == 0:
        return Comparison(math.nan, math.nan, math.nan, Timing("crash", (), 0.0, "boom"), Timing("ok", (1.0,), 0.0))
    return Comparison(speed, speed, speed, Timing("ok", (1 / speed,), 0.0), Timing("ok", (1.0,), 0.0))


def measured(proposals: list[Proposal], speeds: list[float]) -> Trials:
    trials = Trials()
    trials.add(proposals, [compared(speed) for speed in speeds])
    return trials


def test_before_there_is_enough_to_learn_from_the_fastest_is_what_was_measured_so(proposals: list[Proposal]) -> None:
    speeds = [1.0, 0.0, 3.0, 2.0]
    trials = measured(proposals[:4], speeds)
    assert [trial.speed for trial in trials.fastest(4)] == [3.0, 2.0, 1.0], "without the one that failed"
    assert trials.best_speed == pytest.approx(3.0)


def test_luck_does_not_make_a_slow_schedule_the_fastest(proposals: list[Proposal]) -> None:
    """Times go with costs, and one of a slow schedule came out a little better than the best."""
    costs = np.array([proposal.cost for proposal in proposals])
    speeds = list(costs.min() / costs)
    slow = int(np.argsort(costs)[len(costs) // 2])
    speeds[slow] = 1.05
    trials = measured(proposals, speeds)
    best = trials.best
    assert best is not None and best.proposal is not proposals[slow]
    assert proposals[slow] not in [trial.proposal for trial in trials.fastest(3)]


def test_what_is_known_does_not_depend_on_the_batches_it_came_in(proposals: list[Proposal]) -> None:
    """So that a run that ended with small ones repeats itself with large ones."""
    speeds = [1 + 0.1 * (number * 7 % 20) for number in range(20)]
    at_once, bit_by_bit = measured(proposals[:20], speeds), Trials()
    for first, last in itertools.pairwise([0, 8, 13, 20]):
        bit_by_bit.add(proposals[first:last], [compared(speed) for speed in speeds[first:last]])
    assert bit_by_bit.best_speed == at_once.best_speed
    assert [trial.proposal for trial in bit_by_bit.fastest(20)] == [trial.proposal for trial in at_once.fastest(20)]


def test_what_the_guide_knows_to_be_fast_is_chosen(problem: SchedulingProblem, proposals: list[Proposal]) -> None:
    """Run times are its costs here, of which twenty have been measured."""
    guide = example_weights()
    space = Rules().space(problem, guide)
    costs = np.array([proposal_of("again", space, proposal.actions).cost for proposal in proposals])
    speeds = list(costs.min() / costs)

    def mean_rank(trials: Trials) -> float:
        trials.add(proposals[:20], [compared(speed) for speed in speeds[:20]])
        order = np.argsort(np.argsort(costs[20:]))
        draws = [trials.choose(proposals[20:], 6, np.random.default_rng(seed)) for seed in range(10)]
        return float(np.mean([order[proposals[20:].index(chosen)] for chosen in itertools.chain(*draws)]))

    assert mean_rank(Trials(guide=guide)) < mean_rank(Trials())


def test_a_failure_does_not_drown_the_differences_between_those_that_ran(proposals: list[Proposal]) -> None:
    """It counts as slow, but not as so slow that all others seem alike beside it. By lot, ranks would be 19.5."""
    costs = np.array([proposal.cost for proposal in proposals])
    order, ranks = np.argsort(np.argsort(costs[20:])), list[int]()
    for failing in itertools.pairwise(range(0, 20, 3)):
        speeds = [0.0 if index in failing else costs.min() / cost for index, cost in enumerate(costs[:20])]
        trials = measured(proposals[:20], speeds)
        for seed in range(5):
            chosen = trials.choose(proposals[20:], 6, np.random.default_rng(seed))
            ranks += [int(order[proposals[20:].index(proposal)]) for proposal in chosen]
    assert float(np.mean(ranks)) < 15


def test_parents_are_fast(proposals: list[Proposal]) -> None:
    trials = measured(proposals[:4], [1.0, 0.0, 3.0, 2.9])
    drawn = [trials.parent(random.Random(seed)) for seed in range(200)]
    assert {id(parent) for parent in drawn} == {id(proposals[2]), id(proposals[3])}
    with pytest.raises(ValueError, match="zero-size array"):
        Trials().parent(random.Random(0))


def test_what_is_known_is_not_found_again(proposals: list[Proposal]) -> None:
    trials = measured(proposals[:10], [1.0] * 10)
    trials.skip(proposals[10])
    assert trials.new_of(iter(proposals), 60, attempts=1) == proposals[11:]
    assert trials.new_of(iter([None, *proposals[10:13]]), 2, attempts=2) == proposals[11:13]
    assert trials.new_of(iter([None, *proposals[10:13]]), 2, attempts=1) == []
    hurried = Trials(has_time=lambda: False)
    hurried.skip(proposals[0])
    assert hurried.new_of(itertools.cycle(proposals), 60, attempts=2) == []
