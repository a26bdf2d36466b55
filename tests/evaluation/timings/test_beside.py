"""A schedule that takes turns with others, in programs that treat memory in either way."""

from __future__ import annotations

import dataclasses

import halide as hl
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.measurements import TimingSettings, milliseconds
from halidegym.evaluation.timings.beside import TimedBeside, memory_notes, time_beside
from oracle.builder_problem import SSE_AVX2

SETTINGS = TimingSettings(time_limit_s=0.3, patience_s=0.1, threads=1)


def images() -> hl.Func:
    """Five, each of which is four megabytes if it is stored."""
    x, y = hl.Var("x"), hl.Var("y")
    chain = [hl.Func(f"image_{number}") for number in range(5)]
    for func, producer in zip(chain, [None, *chain], strict=False):
        func[x, y] = hl.f32(x + y) if producer is None else producer[x, y] + producer[x, y + 1]
    chain[-1].set_estimates([(0, 1024), (0, 1024)])
    return chain[-1]


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(images, target=SSE_AVX2, parallelism=1)


def all_stored(problem: SchedulingProblem) -> Schedule:
    """Every image at the root."""
    state, actions = Rules().space(problem).initial_state(), []
    while not state.is_complete:
        expansion = state.expand()
        words = [expansion.describe(index) for index in range(len(expansion))]
        stored = [i for i, each in enumerate(words) if each["kind"] != "inline" and each.get("level", "root") == "root"]
        actions.append(min(stored, key=lambda index: float(expansion.costs()[index])))
        state = expansion.child(actions[-1])
    return Schedule.from_actions(problem, Rules(), actions)


@pytest.fixture(scope="module")
def timed(problem: SchedulingProblem) -> TimedBeside:
    return time_beside(problem, all_stored(problem), None, ["greedy"], SETTINGS)


def test_where_memory_goes_back_what_is_stored_takes_longer(timed: TimedBeside) -> None:
    assert [row.contender.name for row in timed.rows] == ["greedy", "this one"]
    kept, other = timed.rows[-1].timing, timed.other_memory
    assert kept is not None and other is not None
    assert other.a.median_s > 1.5 * kept.median_s
    (note,) = memory_notes(timed, SETTINGS)
    assert f"goes back to the system, this one takes {milliseconds(other.a.median_s)} ms" in note
    assert f"{other.ratio:.2f} [{other.low:.2f}, {other.high:.2f}] times as fast as greedy; programs that" in note


def test_what_is_unknown_of_the_other_way_is_not_told(timed: TimedBeside) -> None:
    returned = dataclasses.replace(SETTINGS, keep_memory=False)
    for unknown in (None, dataclasses.replace(timed, other_memory=None)):
        assert "may take much longer; --measure tells" in memory_notes(unknown, SETTINGS)[0]
        assert memory_notes(unknown, returned) == []
    assert "Where it is kept, this one takes" in memory_notes(timed, returned)[0]


def test_one_that_fails_is_not_timed_in_the_other_way(problem: SchedulingProblem) -> None:
    late = dataclasses.replace(SETTINGS, compile_timeout_s=0.01, verify=False)
    assert time_beside(problem, all_stored(problem), None, ["greedy"], late).other_memory is None
