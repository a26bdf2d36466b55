"""Schedules to test with: random ones of our search space, and the simplest that computes every Func once."""

from __future__ import annotations

import dataclasses
import itertools
import random

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native import _core
from halidegym.native.weights import builtin_weights


def random_schedule(problem: SchedulingProblem, seed: int) -> Schedule:
    """Return the end of a random walk through the decisions."""
    generator = random.Random(seed)
    start = _core.Space(problem.native, builtin_weights()).initial_state()
    while True:
        state = start
        try:
            while not state.is_complete:
                _, state = state.random_decision(generator.randrange(2**63))
        except _core.SearchExhausted:
            continue
        return Schedule.from_state(problem, state)


def refused_schedule(problem: SchedulingProblem) -> Schedule:
    """Return one that splits a loop twice in the same way, which Halide refuses: the name of its inner half is taken."""
    schedules = (random_schedule(problem, seed) for seed in itertools.count())
    schedule = next(found for found in schedules if ".split(" in found.cpp())
    return dataclasses.replace(schedule, directives=tuple(map(_twice, schedule.directives)))


def _twice(directives: _core.StageDirectives) -> _core.StageDirectives:
    stage, loops, calls = directives.__getstate__()  # type: ignore[misc]
    result = _core.StageDirectives.__new__(_core.StageDirectives)
    result.__setstate__((stage, loops, (*calls, *calls)))  # type: ignore[attr-defined]
    return result


def num_funcs(pipeline: hl.Pipeline) -> int:
    """Count the Funcs of a pipeline."""
    count = 0
    while True:
        try:
            pipeline.get_func(count)
        except hl.HalideError:
            return count
        count += 1


def computed_at_root(pipeline: hl.Pipeline) -> hl.Pipeline:
    """Schedule every Func to be computed once, before its consumers, by scalar serial loops."""
    for index in range(num_funcs(pipeline)):
        pipeline.get_func(index).compute_root()
    return pipeline
