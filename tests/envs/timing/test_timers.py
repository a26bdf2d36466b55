"""Timers that record, and that answer from a record."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.database import Key, Record, TimingDatabase
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer, Replay, Unrecorded, recorded_as
from halidegym.native import _core
from schedules_for_tests import random_schedule

QUICK = TimingSettings(time_limit_s=0.05, patience_s=0.05, threads=1)
TIMING = Timing("ok", (0.1,), 0.5)


def test_what_is_on_record_is_not_measured_again(database: TimingDatabase, problem: SchedulingProblem) -> None:
    timer = RecordingTimer(database, QUICK)
    schedule = random_schedule(problem, 0)
    timing = timer.time(problem, schedule, cost=2.0)
    comparison = timer.compare(problem, schedule, None)
    assert len(database) == 2
    assert timer.time(problem, schedule) == timing
    assert timer.compare(problem, schedule, None) == comparison
    assert timer.time(problem, random_schedule(problem, 1)).outcome == "ok"
    assert len(database) == 3
    latest = RecordingTimer(database, QUICK, remeasure=True, stopwatch=timer.stopwatch).time(problem, schedule)
    assert latest != timing
    assert [record.key.machine for record in database.records()] == [this_machine().fingerprint] * 4
    replay = Replay(database, settings=QUICK)
    assert replay.time(problem, schedule) == latest
    assert replay.compare(problem, schedule, None) == comparison
    timer.close()


class CountedTurns:
    """A stopwatch that says how many turns it was asked for, and whose baselines fail in the first comparison."""

    settings, inputs_digest, threads_for = QUICK, "", staticmethod(lambda _: 1)

    def __init__(self) -> None:
        self.asked: list[int] = []

    def compare_all(
        self, _: object, schedules: Sequence[Any], *__: object, rounds: int, **___: object
    ) -> list[Comparison]:
        self.asked.append(rounds)
        base = TIMING if len(self.asked) > 1 else Timing("crash", (), 0.0, "killed")
        return [Comparison(float(rounds), 1.0, 1.0, TIMING, base)] * len(schedules)


def test_comparisons_by_few_turns_are_no_answer_to_who_asks_for_many(
    database: TimingDatabase, problem: SchedulingProblem
) -> None:
    stopwatch, schedule = CountedTurns(), random_schedule(problem, 0)
    timer = RecordingTimer(database, stopwatch=cast(Stopwatch, stopwatch))
    for _ in range(2):  # the first time, the baseline fails, which says nothing of the schedule
        timer.compare_all(problem, [schedule], None, rounds=2)
    assert len(database) == 1
    assert timer.compare_all(problem, [schedule], None, rounds=2)[0].ratio == 2.0
    assert Replay(database, settings=QUICK).compare(problem, schedule, None).ratio == 2.0
    assert timer.compare(problem, schedule, None).ratio == 15.0
    assert stopwatch.asked == [2, 2, 15]
    assert Replay(database).compare(problem, schedule, None).ratio == 15.0
    assert timer.compare_all(problem, [schedule], None, rounds=2)[0].ratio == 2.0
    of_others = Replay(database, settings=QUICK, inputs_digest="of others")
    on_two_threads = Replay(database, settings=dataclasses.replace(QUICK, threads=2))
    for replay in (of_others, on_two_threads):
        with pytest.raises(Unrecorded):
            replay.compare(problem, schedule, None)
    any_threads = dataclasses.replace(QUICK, threads=None)
    assert Replay(database, settings=any_threads).compare(problem, schedule, None).ratio == 15.0


class Late:
    """A stopwatch whose compiler is late, whatever time it has."""

    settings, inputs_digest, threads_for = TimingSettings(compile_timeout_s=60), "", staticmethod(lambda _: 1)

    def __init__(self) -> None:
        self.asked: list[float] = []

    def compare_all(
        self, _: object, schedules: Sequence[Any], *__: object, compile_within_s: float, **___: object
    ) -> list[Comparison]:
        self.asked.append(compile_within_s)
        late = Timing("timeout", (), min(60.0, compile_within_s), "the compiler: still running")
        return [Comparison(math.nan, math.nan, math.nan, late, TIMING)] * len(schedules)


def test_who_did_not_compile_in_time_is_asked_again_with_twice_the_time(
    database: TimingDatabase, problem: SchedulingProblem
) -> None:
    stopwatch, schedule = Late(), random_schedule(problem, 0)
    timer = RecordingTimer(database, stopwatch=cast(Stopwatch, stopwatch))
    for seconds in (5, 9, 11, 11, 15, 80, math.inf):  # the settings allow 60
        timer.compare_all(problem, [schedule], None, compile_within_s=seconds)
    assert stopwatch.asked == [5, 11, 80]
    assert Replay(database).compare(problem, schedule, None).a.compiler_was_late


def test_replay_of_what_is_not_on_record(database: TimingDatabase, problem: SchedulingProblem) -> None:
    schedule = random_schedule(problem, 0)
    with pytest.raises(Unrecorded, match=r"timings\.db has no measurement of the schedule .* of 'blur'"):
        Replay(database).time(problem, schedule, cost=1.5)
    with pytest.raises(Unrecorded, match='trainings do with reward: measured, or use missing="cost_model" in Python'):
        Replay(database).compare(problem, schedule, None, costs=(1.5, 3.0))
    replay = Replay(database, missing="cost_model")
    assert replay.time(problem, schedule, cost=1.5).median_s == 1.5e-3
    assert replay.time(problem, schedule, cost=1.5).is_estimate
    assert replay.compare(problem, schedule, None, costs=(1.5, 3.0)).ratio == 2.0
    for unusable in (None, math.inf, math.nan):
        with pytest.raises(Unrecorded, match="no cost to estimate it by"):
            replay.time(problem, schedule, cost=unusable)
    with pytest.raises(_core.InvalidParameter, match="missing"):
        Replay(database, missing="guess")  # type: ignore[arg-type]


def test_replay_of_several_machines_wants_a_choice(database: TimingDatabase, problem: SchedulingProblem) -> None:
    key = Key(recorded_as(problem), "unscheduled", "", problem.target, "one", 1, QUICK.to_json())
    for machine, compile_s in (("one", 1.0), ("two", 2.0)):
        result = dataclasses.replace(TIMING, compile_s=compile_s)
        database.add(Record(dataclasses.replace(key, machine=machine), "blur", None, result))
    with pytest.raises(_core.InvalidParameter, match="one, two"):
        Replay(database)
    assert Replay(database, machine="two").time(problem, None).compile_s == 2.0
    with pytest.raises(Unrecorded):
        Replay(database, machine="two", settings=dataclasses.replace(QUICK, seed=1)).time(problem, None)
    with pytest.raises(_core.InvalidParameter, match=r"machine='three' measured nothing.*of one, two"):
        Replay(database, machine="three")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: RecordingTimer(3), "database=3 is a int; give a TimingDatabase"),  # type: ignore[arg-type]
        (lambda path: RecordingTimer(None, 3), "settings=3 is a int; give a TimingSettings"),  # type: ignore[arg-type]
        (lambda path: Stopwatch({}), "settings={} is a dict; give a TimingSettings"),  # type: ignore[arg-type]
        (lambda path: Replay(None), "database is None; give a TimingDatabase"),  # type: ignore[arg-type]
        (lambda path: Replay(path, settings=3), "settings=3 is a int; give a TimingSettings"),  # type: ignore[arg-type]
        (lambda path: Replay(path, machine=3), "machine=3 is a int; give a str"),  # type: ignore[arg-type]
    ],
)
def test_timers_refuse_what_they_cannot_use_before_anything_is_measured(
    make: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    TimingDatabase(tmp_path / "times.db").close()
    with pytest.raises(_core.InvalidParameter, match=re.escape(message)):
        make(tmp_path / "times.db")
