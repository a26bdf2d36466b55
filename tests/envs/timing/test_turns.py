"""Schedules that take turns: what all feel is taken out, and what differs between them stays."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.kernel import KernelFailed, RunningKernel, Sample
from halidegym.envs.timing.kernel_store import KernelStore
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.turns import Entrant, are_precise, without_drift
from halidegym.native._core import InvalidParameter


def test_what_makes_a_round_slower_for_all_is_taken_out() -> None:
    generator = random.Random(0)
    true = [1e-3 * 1.1**number for number in range(12)]
    paces = [1.0, 1.3, 0.9, 1.05, 1.6, 1.0, 0.8]
    turns = [[(seconds * pace * generator.lognormvariate(0, 0.003), False) for pace in paces] for seconds in true]
    even = without_drift(turns)
    errors = [abs(s / statistics.median(seconds for seconds, _ in own) - 1) for own in even for s, _ in own]
    assert max(errors) < 0.02
    assert statistics.median(own[0][0] / seconds for own, seconds in zip(even, true, strict=True)) == pytest.approx(
        1, rel=0.1
    )


def test_fewer_turns_and_none_pass() -> None:
    even = without_drift([[(1.0, False), (2.0, True)], [(3.0, False)], []])
    assert [len(own) for own in even] == [2, 1, 0]
    assert even[0][1][1]
    assert all(math.isfinite(seconds) for own in even for seconds, _ in own)
    assert without_drift([]) == []


def test_who_is_alone_in_a_round_keeps_its_noise() -> None:
    alone = [(1.0, False), (2.0, False), (9.0, False)]
    assert without_drift([alone]) == [alone]
    assert without_drift([alone, [(3.0, False)]])[0][1:] == alone[1:]


def entrant(*seconds: float) -> Entrant:
    turns = [(each, False) for each in seconds]
    return Entrant(start=lambda: pytest.fail("not started"), check=lambda _: "", turns=turns)


class Steady:
    """A kernel whose runs all take as long."""

    def __init__(self, seconds: float, disturbed: bool = False) -> None:
        self.shortest_s, self._disturbed = seconds, disturbed

    def sample(self) -> Sample:
        return Sample(self.shortest_s, self._disturbed, self.shortest_s)


@pytest.mark.parametrize(("seconds", "samples"), [(0.4, 1), (0.05, 3), (0.0065, 5), (0.001, 12)])
def test_a_turn_has_the_more_samples_the_shorter_they_are(seconds: float, samples: int) -> None:
    """Thirty milliseconds of them, but three at least, unless one is long enough, and twelve at most."""
    running: Any = nullcontext(Steady(seconds))
    taking = Entrant(start=lambda: running, check=lambda _: "")
    taking.take_turn()
    assert (taking.turns, len(taking.samples)) == ([(seconds, False)], samples)


@pytest.mark.parametrize(
    ("seconds", "disturbed", "hopeless_s", "samples"),
    [(0.1, False, 0.09, 1), (0.1, False, 0.11, 3), (0.1, True, 0.09, 3), (0.04, False, 0.01, 3)],
)
def test_one_long_undisturbed_sample_tells_who_is_hopeless(
    seconds: float, disturbed: bool, hopeless_s: float, samples: int
) -> None:
    running: Any = nullcontext(Steady(seconds, disturbed))
    taking = Entrant(start=lambda: running, check=lambda _: "")
    taking.take_turn(hopeless_s)
    assert len(taking.samples) == samples


def test_who_has_failed_has_no_turns_and_takes_none() -> None:
    """Or a later turn of its own would be compared with an earlier one of the others."""
    started: list[None] = []

    def start() -> RunningKernel:
        started.append(None)
        raise KernelFailed("run_error", "an input is missing")

    failing = entrant(1.0, 2.0)
    failing.start = start
    failing.take_turn()
    failing.take_turn()
    assert failing.failure is not None and (failing.turns, len(started)) == ([], 1)


@pytest.mark.parametrize("odd", [2.0, 0.5])
def test_turns_are_precise_when_no_interval_goes_further_than_wanted(odd: float) -> None:
    """The interval of six ratios is their range: one of them is half of the others, or twice as much."""
    base, even, wide = entrant(*[1.0] * 6), entrant(*[3.0] * 6), entrant(*[1.0] * 5, odd)
    assert are_precise([base, even], 1e-6)
    assert not are_precise([base, wide, even], 0.9) and not are_precise([base, even, wide], 0.9)
    assert are_precise([base, even, wide], 1.1)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.01, 1.2, "faster"), (0.8, 0.99, "slower"), (0.9, 1.1, "undecided"), (1.0, 1.2, "undecided"),
        (0.8, 1.0, "undecided"), (math.nan, math.nan, "undecided"),
    ],
)  # fmt: skip
def test_a_comparison_is_decided_where_its_interval_does_not_hold_1(low: float, high: float, verdict: str) -> None:
    timing = Timing("ok", (1.0,), 0.0)
    assert Comparison(1.0, low, high, timing, timing).verdict == verdict


def test_a_steady_drift_is_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who had every turn after the baseline's was slower than itself, with an interval of no width."""
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["mm"](), parallelism=1)
    taken = itertools.count()

    def drifting(entrant: Entrant, *_: float) -> None:
        entrant.turns.append((1.01 ** next(taken), False))

    monkeypatch.setattr(Entrant, "take_turn", drifting)
    trusted = TrustedSchedule(problem)
    with Stopwatch(TimingSettings(verify=False), compilers=1, kernels=tmp_path) as stopwatch:
        (same,) = stopwatch.compare_all(problem, [trusted], trusted, rounds=12, precision=0.0)
        assert same.low < 1 < same.high
        first, _, last = stopwatch.time_in_turns(problem, [trusted] * 3, rounds=12)
        assert first.median_s == pytest.approx(last.median_s, rel=0.002)


def test_schedules_take_turns_and_failures_none(tmp_path: Path) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["mm"](), parallelism=1)
    schedules = [Greedy().plan(problem).schedule, TrustedSchedule(problem), None]
    with Stopwatch(TimingSettings(time_limit_s=5.0), compilers=1, kernels=tmp_path) as stopwatch:
        worked = stopwatch.compile(problem, schedules)
        assert len(worked) == 4 and all(0 < seconds < 60 for seconds in worked)
        timings = stopwatch.time_in_turns(problem, schedules, rounds=3)
        with pytest.raises(InvalidParameter, match="rounds=0"):
            stopwatch.time_in_turns(problem, schedules, rounds=0)
    assert [(timing.outcome, len(timing.samples_s), sum(timing.disturbed)) for timing in timings] == [("ok", 3, 0)] * 3
    with Stopwatch(TimingSettings(timeout_s=1e-4, verify=False), compilers=1, kernels=tmp_path) as hasty:
        (late,) = hasty.time_in_turns(problem, schedules[:1], rounds=2)
    assert (late.outcome, late.samples_s) == ("timeout", ())
    KernelStore(tmp_path).forget(problem, [*schedules, TrustedSchedule(problem)])
    assert list(tmp_path.iterdir()) == []


def test_slow_schedules_take_fewer_turns() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["mm"](), parallelism=1)
    with Stopwatch(TimingSettings(time_limit_s=1e-6), compilers=1) as stopwatch:
        (timing,) = stopwatch.time_in_turns(problem, [TrustedSchedule(problem)], rounds=5)
    assert len(timing.samples_s) == 1
