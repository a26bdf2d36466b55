"""Screening on the real clock: turns are spent on schedules that might win."""

from __future__ import annotations

import itertools
import math

import pytest

import pipelines_for_tests
from halidegym.agents.proposals import Proposal, beam_winners, random_walks
from halidegym.agents.tuner.racing import screen, tuning_timer
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=1)


@pytest.fixture(scope="module")
def fast(problem: SchedulingProblem) -> Proposal:
    return next(beam_winners(Rules().space(problem)))


def test_a_slow_schedule_is_given_up_after_its_first_turn(problem: SchedulingProblem, fast: Proposal) -> None:
    slow = max(itertools.islice(random_walks(fast.state.space), 50), key=lambda walk: walk.cost)
    with tuning_timer() as timer:
        same, slower = screen(timer, problem, [fast, slow], Schedule.from_state(problem, fast.state), 1.0, math.inf)
    assert 0.6 < same.ratio < 1.6 and slower.ratio < 0.5
    assert same.low < same.high, "which two turns leave open"
    assert slower.low == slower.high, "of one turn"


def test_beside_a_faster_one_the_baseline_is_slow_but_takes_all_turns(
    problem: SchedulingProblem, fast: Proposal
) -> None:
    with tuning_timer() as timer:
        (same,) = screen(timer, problem, [fast], Schedule.from_state(problem, fast.state), 4.0, math.inf)
    assert same.low == same.high and len(same.b.samples_s) > len(same.a.samples_s)
