"""Screening on the real clock: turns are spent on schedules that might win."""

from __future__ import annotations

import itertools
import math

import pipelines_for_tests
from halidegym.agents.proposals import beam_winners, random_walks
from halidegym.agents.tuner.racing import screen, tuning_timer
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from oracle.builder_problem import SSE_AVX2


def test_a_slow_schedule_is_given_up_after_its_first_turn() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=1)
    space = Rules().space(problem)
    fast = next(beam_winners(space))
    slow = max(itertools.islice(random_walks(space), 50), key=lambda walk: walk.cost)
    with tuning_timer() as timer:
        same, slower = screen(timer, problem, [fast, slow], Schedule.from_state(problem, fast.state), math.inf)
    assert 0.6 < same.ratio < 1.6 and slower.ratio < 0.5
    assert same.low < same.high, "which two turns leave open"
    assert slower.low == slower.high, "of one turn"
