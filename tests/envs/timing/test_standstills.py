"""A machine that stands still for a while: what is measured then does not count."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from halidegym.envs.timing import kernel
from halidegym.envs.timing.kernel import RunningKernel, Sample
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.turns import Entrant, ratio_of

SETTINGS = TimingSettings(time_limit_s=0.1, patience_s=0.1, shortest_sample_s=0.01)


class ScriptedRunner:
    """Takes as long as it is told to, by a clock of its own: for the first run, and then for each sample."""

    def __init__(self, seconds: list[float], waited: float = 0.0) -> None:
        self.now = 0.0
        self._lines = [f"ready {seconds[0]}", *(f"sample {run} {run} {waited}" for run in seconds[1:])]
        self._seconds = seconds[:]

    def send(self, data: bytes, timeout_s: float) -> None:
        assert data.startswith(b"sample 1 "), "a sample is one run, in all scripts"

    def receive_line(self, timeout_s: float) -> str:
        self.now += self._seconds.pop(0)
        return self._lines.pop(0)

    def close(self) -> None:
        pass

    @property
    def samples_left(self) -> int:
        return len(self._lines)


def start(monkeypatch: pytest.MonkeyPatch, runner: ScriptedRunner) -> RunningKernel:
    def sleep(seconds: float) -> None:
        runner.now += seconds

    monkeypatch.setattr(kernel, "ConfinedProcess", lambda *_, **__: runner)
    monkeypatch.setattr(kernel, "time", SimpleNamespace(monotonic=lambda: runner.now, sleep=sleep))
    return RunningKernel(Path("runtime"), Path("library"), 1, SETTINGS)


def test_a_standstill_is_marked_and_takes_no_time_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = start(monkeypatch, ScriptedRunner([0.02, 0.02, 2.35, 0.021, 0.02, 0.02, 9.9])).samples()
    assert [sample.disturbed for sample in taken] == [False, True, False, False, False]
    timing = Timing(
        "ok", tuple(sample.run_s for sample in taken), 0.0, disturbed=tuple(sample.disturbed for sample in taken)
    )
    assert (timing.median_s, timing.min_s, timing.is_disturbed) == (0.02, 0.02, False)


def test_a_slow_kernel_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = start(monkeypatch, ScriptedRunner([1.0] * 20)).samples()
    assert [sample.run_s for sample in taken] == [1.0, 1.0]


def test_a_standstill_in_the_first_run_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = start(monkeypatch, ScriptedRunner([2.0, 0.02, 0.02, 1.0, 0.02, 0.02])).samples()
    assert [sample.disturbed for sample in taken] == [False, False, True, False, False]


def test_what_takes_longer_now_and_then_is_no_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = start(monkeypatch, ScriptedRunner([0.02, 0.02, 0.05, 0.1, 0.02, 0.03])).samples()
    assert not any(sample.disturbed for sample in taken)


def turns(monkeypatch: pytest.MonkeyPatch, *scripts: list[float]) -> Entrant:
    """What an entrant makes of processes that take as long as this; each must be used up."""
    entrant = Entrant(start=lambda: pytest.fail("not started"), check=lambda _: None)
    for script in scripts:
        runner = ScriptedRunner(script)
        entrant.start = lambda runner=runner: start(monkeypatch, runner)
        entrant.take_turn()
        assert runner.samples_left == 0
    return entrant


def test_a_standstill_leaves_a_turn_its_other_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    entrant = turns(monkeypatch, [0.02, 2.35, 0.022, 0.021], [0.02, 0.02, 2.35, 2.35])
    assert entrant.turns == [(0.021, False), (0.02, False)]
    assert [sample.disturbed for sample in entrant.samples] == [True, False, False, False, True, True]


def test_one_long_sample_is_a_turn_unless_it_was_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert turns(monkeypatch, [0.5, 0.5]).turns == [(0.5, False)]
    assert turns(monkeypatch, [0.5, 2.5, 0.5]).turns == [(0.5, False)]
    assert turns(monkeypatch, [0.5, 2.5, 2.5, 2.5]).turns == [(2.5, True)]


def test_standstills_on_both_sides_of_a_comparison_leave_its_interval_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them gave the interval [0.03, 21] to a ratio of 0.46."""
    quiet, other = [0.02, 0.02, 0.02, 0.02], [0.01, 0.01, 0.01, 0.01]
    a = turns(monkeypatch, *[quiet] * 5, [0.02, 2.35, 0.02, 0.02])
    b = turns(monkeypatch, [0.01, 0.01, 1.2, 0.01], *[other] * 5)
    assert ratio_of(a.turns, b.turns) == (0.5, 0.5, 0.5)

    def timing(entrant: Entrant) -> Timing:
        samples: Any = zip(*((sample.run_s, sample.disturbed) for sample in entrant.samples), strict=True)
        seconds, disturbed = samples
        return Timing("ok", seconds, 0.0, disturbed=disturbed)

    comparison = Comparison(0.5, 0.5, 0.5, timing(a), timing(b))
    assert (comparison.disturbed_samples, comparison.is_disturbed) == (2, False)


def test_a_turn_can_count_by_work(monkeypatch: pytest.MonkeyPatch) -> None:
    entrant = turns(monkeypatch, [0.02, 0.02, 0.02, 2.35])
    entrant.by_work, entrant.samples[0] = True, Sample(0.02, True, 0.015)
    assert entrant.counted[0].run_s == 0.015
    assert not any(sample.disturbed for sample in entrant.counted)


def test_who_is_beaten_in_an_undisturbed_turn_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = turns(monkeypatch, [0.05] * 4), turns(monkeypatch, [0.02] * 4)
    assert slow.is_beaten(fast.hopeless_s(0.5)) and not slow.is_beaten(fast.hopeless_s(0.3))
    assert fast.is_beaten(slow.hopeless_s(3.0)) and not fast.is_beaten(slow.hopeless_s(1.0))
    assert not slow.is_beaten(fast.hopeless_s(0.0))
    fast.turns[0] = (0.02, True)
    assert not slow.is_beaten(fast.hopeless_s(0.5))
    slow.turns[0], fast.turns[0] = (0.05, True), (0.02, False)
    assert not slow.is_beaten(fast.hopeless_s(0.5))
