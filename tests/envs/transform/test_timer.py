"""Times of plans: measured in turns, recorded and replayed."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import os
import signal
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halidegym.agents import DynamicProgramming
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs.processes.isolated import ProcessFailed
from halidegym.envs.timing.database import DatabaseError, TimingDatabase
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import median_interval
from halidegym.envs.timing.timers import Unrecorded
from halidegym.envs.transform import measuring
from halidegym.envs.transform.measuring import TimedPlan
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.records import TransformReplay, comparison_of
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.envs.transform.timer import TransformTimer
from halidegym.native._core import FormatError, InternalError, InvalidParameter, TransformSpace, available_lanes
from isolated_functions import die
from processes_for_tests import children_of

GOOD = TransformPlan(256, "split 4 inplace (codelet 1) (codelet 1)")
SLOW = (
    "split 2 inplace (split 2 along (split 2 along (split 2 along (codelet 1) (codelet 1)) (codelet 1)) (codelet 1)) "
    "(codelet 1)"
)


def test_a_slow_plan_takes_longer_than_the_reference() -> None:
    with TransformTimer(GOOD) as timer:
        slow, good = timer.costs([SLOW, GOOD.text])
        assert 1.2 * good < slow < 100 * good
        assert timer.cost(SLOW) == slow
        assert timer.evaluations >= 2 and timer.executed_s > 0
        best, other = timer.race([SLOW, GOOD.text])
        assert best.plan == GOOD.text and best.ratio == 1 < other.ratio
        space = TransformSpace(256)
        problem = space.problem(space.num_problems - 1)
        samples = timer.race_ways(problem, [SLOW, GOOD.text], rounds=3, sample_s=1e-4)
        assert [len(row) for row in samples] == [3, 3] and min(samples[0]) > min(samples[1])


def test_what_is_recorded_is_replayed_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "times.db"
    with TransformTimer(GOOD, database=path) as timer:
        costs = timer.costs([SLOW, GOOD.text])
    with TransformTimer(GOOD, database=path) as again:
        assert again.costs([SLOW, GOOD.text]) == costs and again.evaluations == 0
    with TransformTimer(GOOD, TransformTimingSettings(turns=2), database=path) as other:
        other.cost(SLOW)
        assert other.evaluations >= 1
        compared = other.comparison(SLOW)
    assert len(compared.a.samples_s) >= 2 and compared.a.min_s * 1e6 == other.cost(SLOW)
    ratios = [b / a for a, b in zip(compared.a.samples_s, compared.b.samples_s, strict=True)]
    assert (compared.ratio, compared.low, compared.high) == (statistics.median(ratios), *median_interval(ratios))
    assert compared.a.relative_error is not None and compared.a.relative_error <= 2e-15
    replay = TransformReplay(256, path)
    assert replay.comparison(SLOW) == compared
    assert replay.costs([SLOW, GOOD.text]) == [other.cost(SLOW), costs[1]]
    with pytest.raises(Unrecorded, match="codelet 1"):
        replay.cost("codelet 1")
    assert TransformReplay(256, path, missing="cost_model", model=lambda plan: 7.0).cost("codelet 1") == 7
    assert not TransformReplay(256, path, space="wide").recorded
    assert not TransformReplay(256, path, lanes=(1,)).recorded


def test_dynamic_programming_is_replayed_bit_for_bit(tmp_path: Path) -> None:
    path, lanes = tmp_path / "times.db", available_lanes()
    agent = functools.partial(DynamicProgramming, rounds=2, samples_s=1e-5)

    def solve(costs: TransformTimer | TransformReplay, seed: int) -> SpaceSolution:
        space = TransformSpace(64, lanes=lanes, cost=costs.cost)
        return agent(timer=costs).solve(space, seed=seed)

    with TransformTimer(TransformPlan(64, "codelet 1"), database=path) as timer:
        found = [solve(timer, seed) for seed in range(3)]
        evaluations = timer.evaluations
        recorded = [solve(timer, seed) for seed in range(3)]
        assert timer.evaluations == evaluations
    for measured, known in zip(found, recorded, strict=True):
        assert known.actions == measured.actions
        assert known.cost >= measured.cost  # the best so far are timed again later, and the longest time counts
    alone = tmp_path / "ways.db"
    with TransformTimer(TransformPlan(64, "codelet 1"), database=alone) as timer:
        ways_only = solve(timer, 7)
    assert solve(TransformReplay(64, alone), 7).actions == ways_only.actions
    replay = TransformReplay(64, path)
    for seed, known in enumerate(recorded):
        replayed = solve(replay, seed)
        assert (replayed.cost, replayed.actions) == (known.cost, known.actions)
    space = TransformSpace(64, lanes=lanes)
    problem = next(p for p in map(space.problem, range(space.num_problems)) if p.n == 16)
    ways = ["codelet 1", "split 4 inplace (codelet 1) (codelet 1)"]
    with TransformTimer(TransformPlan(64, "codelet 1"), database=path) as timer:
        times = [timer.race_ways(problem, ways, rounds=2, sample_s=2e-5, seed=seed) for seed in (0, 1, 0)]
        assert times[0] == times[2] != times[1]
    assert TransformReplay(64, path).race_ways(problem, ways, rounds=2, sample_s=2e-5, seed=1) == times[1]
    for wrong in ({"rounds": 3}, {"sample_s": 3e-5}, {"seed": 7}):
        with pytest.raises(Unrecorded, match="no time of 'codelet 1' for the problem n=16"):
            TransformReplay(64, path).race_ways(problem, ways, **{"rounds": 2, "sample_s": 2e-5, **wrong})  # type: ignore[arg-type]


def test_a_plan_is_compared_with_the_reference_turn_by_turn() -> None:
    """On times that nobody measured: on a busy machine a few turns may leave any comparison undecided."""
    drifting = tuple(1e-6 * turn for turn in range(1, 9))
    slow = comparison_of(TimedPlan(tuple(2 * seconds for seconds in drifting), drifting, 1e-16, 0.0))
    assert (slow.ratio, slow.low, slow.high, slow.verdict) == (0.5, 0.5, 0.5, "slower")
    mixed = comparison_of(TimedPlan((1e-6, 1e-6, 4e-6), (2e-6, 1e-6, 2e-6), 1e-16, 0.0))
    assert (mixed.ratio, mixed.verdict) == (1, "undecided")
    assert mixed.a.samples_s == (1e-6, 1e-6, 4e-6) and mixed.b.samples_s == (2e-6, 1e-6, 2e-6)


def timer_with_times(monkeypatch: pytest.MonkeyPatch, times: dict[str, list[float]], **settings: int) -> TransformTimer:
    """A timer that reads times off a list, the next one each time that a plan is timed."""
    timer = TransformTimer(GOOD, TransformTimingSettings(**settings))  # type: ignore[arg-type]

    def call(function: object, texts: list[str], settings: object, turns: int) -> list[TimedPlan]:
        return [TimedPlan((times[text].pop(0) * 1e-6,), (1e-6,), 1e-16, 0.0) for text in texts]

    monkeypatch.setattr(timer, "_call", call)
    return timer


def test_the_best_so_far_is_timed_again_and_the_longest_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"a": [3.0, 4.0, 5.0], "b": [4.5], "c": [6.0], "d": [1.0, 2.0, 1.5], "e": [7.0]}
    with timer_with_times(monkeypatch, times, again_after=3) as timer:
        assert timer.cost("a") == pytest.approx(4)  # at once
        assert timer.cost("b") == pytest.approx(4.5)
        assert timer.cost("a") == pytest.approx(4)
        assert timer.cost("c") == pytest.approx(6)
        assert timer.cost("d") == pytest.approx(2)
        assert timer.cost("a") == pytest.approx(5)  # some evaluations later
        timer.costs(["e"])
        assert timer.evaluations == 8


def test_a_wrong_output_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with TransformTimer(GOOD) as timer:
        monkeypatch.setattr(timer, "_call", lambda *_: [TimedPlan((), (), 0.5, 0.0)])
        with pytest.raises(InternalError, match="wrong: relative error"):
            timer.cost(SLOW)


def test_a_process_that_died_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    others = set(children_of(os.getpid()))
    with TransformTimer(GOOD) as timer:
        timer.cost(GOOD.text)
        (process,) = set(children_of(os.getpid())) - others
        os.kill(process, signal.SIGKILL)
        assert timer.cost(SLOW) > 0
        monkeypatch.setattr(measuring, "time_plans", die)
        with pytest.raises(ProcessFailed, match="times plans of 256 elements ended: died of SIGKILL"):
            timer.cost("split 16 inplace (codelet 1) (codelet 1)")


def test_timers_are_not_copied() -> None:
    with TransformTimer(GOOD) as timer, pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(timer)


def test_bad_input_is_refused(tmp_path: Path) -> None:
    for wrong in ({"turns": 0}, {"sample_s": 0.0}, {"sample_s": math.nan}, {"seed": -1}, {"again_after": 0}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            dataclasses.replace(TransformTimingSettings(), **wrong)  # type: ignore[arg-type]
    with TransformTimer(GOOD) as timer, pytest.raises(InvalidParameter, match="does not apply"):
        timer.cost("split 5 inplace (codelet 1) (codelet 1)")
    (tmp_path / "foreign").write_bytes(b"something else")
    with pytest.raises((FormatError, DatabaseError)):
        TransformReplay(256, tmp_path / "foreign")
    with TransformTimer(GOOD, database=tmp_path / "whole.db") as timer:
        timer.costs([SLOW, GOOD.text])
    whole = (tmp_path / "whole.db").read_bytes()
    for share in (0.1, 0.5):  # what lies behind the rows, an index, is not missed
        (tmp_path / "truncated.db").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises((FormatError, DatabaseError), match=r"truncated\.db.*(damaged|no timing database)"):
            TransformReplay(256, tmp_path / "truncated.db")
    with TimingDatabase(tmp_path / "empty.db") as empty:
        with pytest.raises(InvalidParameter, match="missing"):
            TransformReplay(256, empty, missing="guess")  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="model"):
            TransformReplay(256, empty, missing="cost_model")


def test_arguments_that_mean_nothing_are_refused_in_words(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"reference": GOOD.text}, "reference='split 4 .* is a str; give a TransformPlan"),
        ({"settings": 3}, "settings=3 is a int; give a TransformTimingSettings"),
        ({"database": 3}, "database=3 is a int; give a TimingDatabase"),
        ({"space": "x"}, "space='x' is unknown"),
        ({"lanes": [3]}, "lanes must be some of 1, 2 and 4"),
    ]
    for arguments, message in wrong:
        with pytest.raises(InvalidParameter, match=message):
            TransformTimer(**{"reference": GOOD, **arguments})
    with TransformTimer(GOOD, database=tmp_path / "times.db") as timer:
        for ask in (timer.cost, lambda plan: timer.race([plan])):
            with pytest.raises(InvalidParameter, match=r"plan=TransformPlan\(.* is a TransformPlan; give a str"):
                ask(GOOD)  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="none to race; give at least one"):
            timer.race([])
        timer.cost(GOOD.text)
    for changes, message in [({"n": "a"}, "n='a'"), ({"database": 3}, "database=3"), ({"machine": 3}, "machine=3")]:
        with pytest.raises(InvalidParameter, match=message):
            TransformReplay(**{"n": 256, "database": tmp_path / "times.db", **changes})
    with pytest.raises(
        InvalidParameter, match=r"machine='elsewhere' measured nothing in .*times\.db: give one that did, of"
    ):
        TransformReplay(256, tmp_path / "times.db", machine="elsewhere")
    machine = this_machine().fingerprint
    with pytest.raises(Unrecorded, match=f"of 128 elements on the machine {machine}"):
        TransformReplay(128, tmp_path / "times.db", machine=machine).cost(GOOD.text)
    with pytest.raises(InvalidParameter, match="model=3 is none; give a function of a plan's text"):
        TransformReplay(256, tmp_path / "times.db", missing="cost_model", model=3)  # type: ignore[arg-type]


def test_plans_that_are_no_texts_are_refused_by_name(tmp_path: Path) -> None:
    problem = TransformSpace(256).problem(0)
    ways: dict[str, Any] = {"problem": problem, "ways": ["codelet 1"], "rounds": 2, "sample_s": 1e-5}
    wrong_ways = [
        ({"problem": 3}, "problem=3 is a int; give a TransformProblem"),
        ({"ways": "codelet 1"}, "plans='codelet 1' is no list"),
        ({"ways": [[]]}, r"plan=\[\] is a list; give a str"),
        ({"rounds": "a"}, "rounds='a' is out of range"),
        ({"sample_s": None}, "sample_s is None"),
        ({"seed": "x"}, "seed='x' is no seed"),
    ]
    with TransformTimer(GOOD, database=tmp_path / "times.db") as timer:
        timer.cost(GOOD.text)
        timer.flush()
        replay = TransformReplay(256, tmp_path / "times.db")
        for one in (timer.cost, timer.comparison, replay.cost, replay.comparison):
            with pytest.raises(InvalidParameter, match=r"plan=\[\] is a list; give a str"):
                one([])  # type: ignore[arg-type]
        for several in (timer.costs, timer.race, timer.turns, replay.costs):
            for plans in (GOOD.text, 3):
                with pytest.raises(InvalidParameter, match=r"plans=.* is no list; give a list of plans"):
                    several(plans)  # type: ignore[operator]
        for race in (timer.race_ways, replay.race_ways):
            for changes, message in wrong_ways:
                with pytest.raises(InvalidParameter, match=message):
                    race(**{**ways, **changes})


def test_a_timer_that_was_closed_measures_no_more(tmp_path: Path) -> None:
    """It would start another process, and what it measured would be on no record."""
    with TransformTimer(GOOD, database=tmp_path / "times.db") as timer:
        cost = timer.cost(GOOD.text)
    assert timer.cost(GOOD.text) == cost
    for ask in (timer.cost, lambda plan: timer.race([plan])):
        with pytest.raises(InvalidParameter, match=r"timer of plans of 256 elements was closed.*make another"):
            ask(SLOW)  # type: ignore[operator]
    timer.close()


def test_settings_take_the_numbers_of_other_libraries_and_no_none(tmp_path: Path) -> None:
    own, numpys = TransformTimingSettings(turns=3, seed=1), TransformTimingSettings(turns=np.int64(3), seed=np.uint8(1))
    assert numpys.to_json() == own.to_json()
    with TransformTimer(GOOD, numpys, database=tmp_path / "times.db") as timer:
        cost = timer.cost(GOOD.text)
    with TransformTimer(GOOD, own, database=tmp_path / "times.db") as timer:
        assert timer.cost(GOOD.text) == cost and timer.evaluations == 0
    with pytest.raises(InvalidParameter, match="turns is None, which means nothing here"):
        TransformTimingSettings(turns=None)  # type: ignore[arg-type]
