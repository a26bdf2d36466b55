"""What schedules are recorded under."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import halide as hl
import pytest

from halidegym.agents import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.manual_schedule import manual_schedule
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer, Replay, Unrecorded
from halidegym.native._core import InvalidParameter


def sums() -> hl.Func:
    x, y = hl.Var("x"), hl.Var("y")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = hl.f32(x + y)
    g[x, y] = f[x, y] + f[x + 1, y]
    g.set_estimates([hl.Range(0, 64), hl.Range(0, 64)])
    return g


def differences() -> hl.Func:
    x, y = hl.Var("x"), hl.Var("y")
    f = hl.Func("f")
    f[x, y] = hl.f32(x - y)
    f.set_estimates([hl.Range(0, 64), hl.Range(0, 64)])
    return f


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(sums, parallelism=1)


def tiled(size: int, tail: hl.TailStrategy = hl.TailStrategy.Auto) -> Callable[[Any], None]:
    """Schedules of one source: what differs is closed over."""

    def by_hand(pipeline: hl.Pipeline) -> None:
        f, g = (pipeline.get_func(index) for index in range(2))
        x, y = g.args()
        inner = hl.Var()  # by another name each time
        g.split(x, x, inner, size, tail).vectorize(inner)
        f.in_(g).compute_at(g, y)
        f.compute_at(g, y)

    return by_hand


def test_schedules_by_hand_are_told_apart_by_what_they_do(problem: SchedulingProblem) -> None:
    variants = (tiled(4), tiled(8), tiled(8, hl.TailStrategy.GuardWithIf), lambda pipeline: None)
    schedules = [manual_schedule(problem, function) for function in variants]
    assert len({schedule.source for schedule in schedules[:3]}) == 1
    keys = [schedule_key(problem, schedule) for schedule in schedules]
    assert len(set(keys)) == len(keys)
    again = [manual_schedule(problem, function) for function in variants]
    assert [schedule_key(problem, schedule) for schedule in again] == keys
    assert again[0].scheduled != schedules[0].scheduled


def test_names_that_are_given_and_used_otherwise_are_another_schedule(problem: SchedulingProblem) -> None:
    def inner_or_outer(is_inner: bool) -> Callable[[Any], None]:
        def by_hand(g: hl.Func) -> None:
            x, outer, inner = g.args()[0], hl.Var("v0"), hl.Var("v1")
            g.split(x, outer, inner, 8).vectorize(inner if is_inner else outer, 8)

        return by_hand

    inner, outer = (
        schedule_key(problem, manual_schedule(problem, inner_or_outer(is_inner))) for is_inner in (True, False)
    )
    assert inner != outer


def test_schedules_of_other_pipelines_are_refused_and_those_of_the_same_one_built_again_known(
    problem: SchedulingProblem,
) -> None:
    again = SchedulingProblem.from_pipeline(sums, parallelism=1)
    assert {node.name for node in again.nodes}.isdisjoint(node.name for node in problem.nodes)  # Halide counts them
    schedule = Greedy().plan(problem).schedule
    assert schedule_key(again, schedule) == schedule_key(problem, schedule)
    with Stopwatch(TimingSettings(time_limit_s=0.02), compilers=1) as stopwatch:
        assert stopwatch.time(again, schedule).outcome == "ok"
        other = SchedulingProblem.from_pipeline(differences, parallelism=1)
        for use in (stopwatch.time, stopwatch.run, schedule_key):
            with pytest.raises(InvalidParameter, match="computes something else than"):
                use(other, schedule)


_KEY = """
import sys, halide as hl
sys.path[:0] = sys.argv[1:2]
counted = [(hl.Var(), hl.Func("f"), hl.Func("f")) for _ in range(int(sys.argv[2]))]
import test_keys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.manual_schedule import manual_schedule
problem = SchedulingProblem.from_pipeline(test_keys.sums, parallelism=1)
print(schedule_key(problem, manual_schedule(problem, test_keys.tiled(4))))
"""


def test_other_processes_know_them_again() -> None:
    keys = [
        subprocess.run(
            [sys.executable, "-c", _KEY, str(Path(__file__).parent), str(count)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for count in (1, 1, 3)  # of Funcs called f, and of Vars without a name, that there were before
    ]
    assert len(keys[0]) == 65
    assert len(set(keys)) == 1


def test_a_schedule_that_does_something_else_now_is_not_answered_from_the_record(
    problem: SchedulingProblem, tmp_path: Path
) -> None:
    database = tmp_path / "times.db"
    with closing(RecordingTimer(database, TimingSettings(threads=1, time_limit_s=0.01, patience_s=0.01))) as timer:
        timing = timer.time(problem, manual_schedule(problem, tiled(4)))
    replay = Replay(database)
    assert replay.time(problem, manual_schedule(problem, tiled(4))) == timing
    with pytest.raises(Unrecorded):
        replay.time(problem, manual_schedule(problem, tiled(8)))
