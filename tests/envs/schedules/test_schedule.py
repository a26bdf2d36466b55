"""Tests of complete schedules as values: their texts, and their effect on pipelines."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.reference import Adams2019
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
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


def test_schedule_is_a_picklable_value() -> None:
    problem = problem_of("several_updates")
    schedule = random_schedule(problem, 0)
    copy = pickle.loads(pickle.dumps(schedule))
    assert copy == schedule
    assert hash(copy) == hash(schedule)
    assert (copy.cpp(), copy.python(), copy.loop_nest()) == (schedule.cpp(), schedule.python(), schedule.loop_nest())
    assert random_schedule(problem, 1) != schedule


def test_it_is_named_in_a_line_and_printed_as_its_loop_nest() -> None:
    schedule = random_schedule(problem_of("blur"), 0)
    assert repr(schedule) == f"Schedule({schedule.problem.name!r}, target={SSE_AVX2!r}, parallelism=16)"
    assert str(schedule) == schedule.loop_nest()
    assert repr(schedule.directives[0]) == f"StageDirectives(stage 0, {len(schedule.directives[0])} calls)"


def test_what_a_schedule_tells_does_not_depend_on_when_it_is_asked() -> None:
    problem = problem_of("blur")
    schedule = random_schedule(problem, 0)
    nest = schedule.nest
    assert Schedule(problem, schedule.directives, nest) == random_schedule(problem, 0)
    assert not hasattr(schedule, "unknown")
    with pytest.raises(dataclasses.FrozenInstanceError):
        schedule.nest = ""
    assert schedule.nest == nest


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


@pytest.mark.parametrize("actions", [["a"], [1.5], [10**30], [True], None, 3])
def test_actions_that_are_none_are_named(actions: Any) -> None:
    with pytest.raises(_core.InvalidParameter, match=r"actions=.*; give "):
        Schedule.from_actions(problem_of("blur"), Rules(), actions)


def test_what_actions_are_of_is_named() -> None:
    with pytest.raises(_core.InvalidParameter, match="problem='blur' is a str; give a SchedulingProblem"):
        Schedule.from_actions("blur", Rules(), [0])  # type: ignore[arg-type]
    with pytest.raises(_core.InvalidParameter, match="rules is None; give a Rules"):
        Schedule.from_actions(problem_of("blur"), None, [0])  # type: ignore[arg-type]


def test_a_function_is_made_of_no_source_that_an_autoscheduler_printed() -> None:
    schedule = Adams2019().plan(problem_of("several_updates")).schedule
    with pytest.raises(_core.InvalidParameter, match="function='f': the source of Adams2019 is kept as it was printed"):
        schedule.cpp(function="f")


def test_what_an_autoscheduler_printed_is_neither_translated_nor_applied() -> None:
    problem = problem_of("several_updates")
    schedule = Adams2019().plan(problem).schedule
    with pytest.raises(
        _core.InvalidParameter, match="kept as it was printed, and is not translated to Python; take cpp"
    ):
        schedule.python()
    with pytest.raises(_core.InvalidParameter, match=r"cannot be applied to another pipeline.*; take pipeline"):
        schedule.apply(problem.pipeline())
