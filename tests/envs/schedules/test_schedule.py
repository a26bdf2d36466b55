"""Tests of complete schedules as values: their texts, and their effect on pipelines."""

from __future__ import annotations

import pickle

import halide as hl
import numpy as np
import pytest

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.reference import Adams2019
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native import _core
from halidegym.native.weights import builtin_weights
from schedules_for_tests import random_schedule

SSE_AVX2 = "x86-64-linux-avx-avx2-f16c-fma-sse41"


def problem_of(name: str, parallelism: int = 16) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.ALL[name](), target=SSE_AVX2, parallelism=parallelism)


@pytest.mark.parametrize(
    ("name", "parallelism"),
    [
        ("blur", 16),
        ("matmul", 16),
        ("hist", 2),
        ("several_updates", 16),
        ("two_outputs", 4),
        ("odd_sizes", 1),
        ("triangular", 16),
    ],
)
def test_texts_equal_the_plugins(name: str, parallelism: int) -> None:
    """The same random descent gives the same nest; its texts must then agree to the letter."""
    problem = problem_of(name, parallelism)
    theirs = Adams2019(beam_size=1, memoized_features=False, random_dropout=20).plan(problem, seed=1)
    ours = Greedy(random_dropout=20).plan(problem, seed=1)
    assert isinstance(ours.schedule, Schedule)
    assert ours.schedule.nest == theirs.result.loop_nest
    assert ours.schedule.cpp() == theirs.result.schedule_source
    assert str(_core.LoopNest.parse(theirs.result.loop_nest)) == theirs.result.loop_nest


@pytest.mark.parametrize("name", ["blur", "several_updates", "two_outputs", "scalar_sum", "tuple_of_types"])
def test_python_source_schedules_like_apply(name: str) -> None:
    problem = problem_of(name)
    for seed in range(3):
        schedule = random_schedule(problem, seed)
        by_source, by_apply, untouched = problem.pipeline(), problem.pipeline(), problem.pipeline()
        exec(schedule.python(), {"pipeline": by_source})
        schedule.apply(by_apply)
        serialized = hl.serialize_pipeline(by_apply)
        assert hl.serialize_pipeline(by_source) == serialized
        assert hl.serialize_pipeline(schedule.pipeline()) == serialized
        assert hl.serialize_pipeline(untouched) != serialized


def test_python_source_avoids_keywords_and_clashes() -> None:
    first, second, x = hl.Func("lambda"), hl.Func("pipeline"), hl.Var("x")
    first[x] = x
    second[x] = first[x] + first[x + 1] + first[x + 2]
    second.set_estimates([(0, 1 << 20)])
    problem = SchedulingProblem.from_pipeline(second, target=SSE_AVX2)
    pipeline = problem.pipeline()
    exec(random_schedule(problem, 0).python(), {"pipeline": pipeline})
    assert hl.serialize_pipeline(pipeline) != hl.serialize_pipeline(problem.pipeline())


def test_apply_to_a_pipeline_that_is_built_again() -> None:
    """Funcs and reduction domains then have other unique names."""

    def build() -> hl.Func:
        x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 7)], "r")
        f, g = hl.Func("f"), hl.Func("g")
        f[x, y] = x * 3 + y
        g[x, y] = 0
        g[x, y] += f[x + r, y]
        g.set_estimates([(0, 64), (0, 48)])
        return g

    schedule = random_schedule(SchedulingProblem.from_pipeline(build), 5)
    again = build()
    schedule.apply(again)
    y, x = np.mgrid[:48, :64]
    np.testing.assert_array_equal(np.asarray(again.realize([64, 48])), 7 * (3 * x + y) + 3 * 21)


def test_apply_refuses_another_pipeline() -> None:
    schedule = random_schedule(problem_of("blur"), 0)
    with pytest.raises(_core.InvalidParameter, match="apply the schedule to an unscheduled copy"):
        schedule.apply(pipelines_for_tests.ALL["several_updates"]())


def test_apply_refuses_a_scheduled_pipeline() -> None:
    problem = problem_of("blur")
    schedule = random_schedule(problem, 0)
    pipeline = problem.pipeline()
    schedule.apply(pipeline)
    before = hl.serialize_pipeline(pipeline)
    with pytest.raises(_core.InvalidParameter, match="has a schedule already"):
        schedule.apply(pipeline)
    assert hl.serialize_pipeline(pipeline) == before


def test_what_halide_refuses_is_an_exception() -> None:
    """Names of split loops are not checked against the user's own (docs/specification/search-space.md, quirk 27)."""
    f, x, xi = hl.Func("f"), hl.Var("x"), hl.Var("xi")
    f[x, xi] = x + xi
    f.set_estimates([(0, 256), (0, 256)])
    problem = SchedulingProblem.from_pipeline(f, target=SSE_AVX2)
    with pytest.raises(_core.CompileError, match="xi"):
        random_schedule(problem, 0).pipeline()


def test_schedule_is_a_picklable_value() -> None:
    problem = problem_of("several_updates")
    schedule = random_schedule(problem, 0)
    copy = pickle.loads(pickle.dumps(schedule))
    assert copy == schedule
    assert hash(copy) == hash(schedule)
    assert (copy.cpp(), copy.python(), copy.loop_nest()) == (schedule.cpp(), schedule.python(), schedule.loop_nest())
    assert random_schedule(problem, 1) != schedule


def test_incomplete_state_is_no_schedule() -> None:
    problem = problem_of("blur")
    state = _core.Space(problem.native, builtin_weights()).initial_state()
    with pytest.raises(_core.InvalidParameter, match="incomplete"):
        Schedule.from_state(problem, state)


def test_loop_nest_of_every_random_schedule_parses() -> None:
    for name in ("several_updates", "scalar_sum", "two_outputs"):
        problem = problem_of(name)
        for seed in range(5):
            schedule = random_schedule(problem, seed)
            nest = _core.LoopNest.parse(schedule.nest)
            assert str(nest) == schedule.nest
            assert nest == _core.LoopNest.parse(schedule.loop_nest())
            assert nest.func == ""
            assert {child.func for child in nest.children} == set(nest.store_at)
