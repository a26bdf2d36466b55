"""Tests of compiled schedules: what they compute, how long they take, and how failures are told."""

from __future__ import annotations

import fcntl
import json
import math
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import halide as hl
import numpy as np
import pytest

import pipelines_for_tests
from halidegym.agents.reference import Li2018, Mullapudi2016
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.confined import ConfinedProcess
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing import bench, machine
from halidegym.envs.timing.compiler import Compiler
from halidegym.envs.timing.kernel import RunningKernel
from halidegym.envs.timing.machine import measuring, this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, median_interval
from halidegym.envs.timing.one_off import TimingSettings, compare_schedules, run_schedule, time_schedule
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.turns import ratio_of
from halidegym.native import _core
from schedules_for_tests import random_schedule, refused_schedule

NAMES = ["blur", "hist", "odd_sizes", "scan", "several_updates", "tuple_of_types", "two_outputs", "triangular"]


def problem_of(name: str) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.ALL[name](), parallelism=2, name=name)


def assert_same_outputs(actual: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def stopwatch() -> Iterator[Stopwatch]:
    with Stopwatch(TimingSettings(time_limit_s=0.05, patience_s=0.05)) as stopwatch:
        yield stopwatch


@pytest.mark.parametrize("name", NAMES)
def test_random_schedules_keep_the_outputs(stopwatch: Stopwatch, name: str) -> None:
    problem = problem_of(name)
    expected = stopwatch.run(problem, TrustedSchedule(problem))
    assert_same_outputs(stopwatch.run(problem, random_schedule(problem, 1)), expected)


def test_folders_may_have_blanks_and_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / 'a "temporary" \\ földer'
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    problem = problem_of("odd_sizes")
    with Stopwatch(TimingSettings(time_limit_s=0.05, patience_s=0.05)) as stopwatch:
        assert stopwatch.time(problem, random_schedule(problem, 1)).outcome == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(pipelines_for_tests.ALL))
def test_many_random_schedules_keep_the_outputs(stopwatch: Stopwatch, name: str) -> None:
    problem = problem_of(name)
    expected = stopwatch.run(problem, TrustedSchedule(problem))
    for seed in range(10):
        assert_same_outputs(stopwatch.run(problem, random_schedule(problem, seed)), expected)


@pytest.mark.parametrize("autoscheduler", [Mullapudi2016(), Li2018()], ids=["Mullapudi2016", "Li2018"])
def test_schedules_of_the_other_autoschedulers(stopwatch: Stopwatch, autoscheduler: Mullapudi2016 | Li2018) -> None:
    problem = problem_of("blur")
    timing = stopwatch.time(problem, autoscheduler.plan(problem).schedule)
    assert (timing.outcome, timing.error) == ("ok", "")


@pytest.mark.alone
def test_timing_of_a_schedule() -> None:
    problem = problem_of("odd_sizes")
    timing = time_schedule(problem, random_schedule(problem, 0), time_limit_s=0.2, patience_s=0.2, threads=1)
    assert timing.outcome == "ok"
    assert timing.error == ""
    assert 0 < timing.min_s <= timing.median_s
    assert min(timing.samples_s) == timing.min_s
    assert len(timing.disturbed) == len(timing.samples_s) >= 5
    assert 0 < timing.halide_s < timing.compile_s
    assert 0 < timing.link_s < timing.compile_s
    assert (timing.threads, timing.target) == (1, problem.target)
    assert timing.machine is not None and timing.machine.fingerprint


@pytest.mark.slow
@pytest.mark.alone
def test_flushed_caches_make_single_runs_slower() -> None:
    f, x, image = hl.Func("f"), hl.Var("x"), hl.ImageParam(hl.Float(32), 1, "image")
    f[x] = image[x] + 1
    f.set_estimates([(0, 1 << 16)])
    image.set_estimates([(0, 1 << 16)])
    problem = SchedulingProblem.from_pipeline(f, parallelism=1)
    warm, cold = (
        time_schedule(problem, TrustedSchedule(problem), time_limit_s=0.2, patience_s=0.2, flush_bytes=flush_bytes)
        for flush_bytes in (0, 256 << 20)
    )
    assert cold.min_s > 1.2 * warm.min_s


def test_other_memory_is_touched_before_a_sample() -> None:
    problem = problem_of("blur")
    settings: dict[str, Any] = {"verify": False, "memory_bytes": 512 << 20, "threads": 1, "time_limit_s": 0.01}
    outcomes = [
        time_schedule(problem, TrustedSchedule(problem), flush_bytes=size, **settings).outcome
        for size in (1 << 20, 1 << 30)
    ]
    assert outcomes == ["ok", "out_of_memory"]


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel does not tell who waits")
def test_samples_that_others_disturb_are_marked() -> None:
    problem = problem_of("blur")
    cpu = min(os.sched_getaffinity(0))
    settings = TimingSettings(
        cpus=(cpu,), threads=1, time_limit_s=0.3, patience_s=0.1, agreement=0.0, shortest_sample_s=0.05
    )
    burner = f"import os\nos.sched_setaffinity(0, [{cpu}])\nprint(flush=True)\nwhile True: pass"
    with Stopwatch(settings) as stopwatch, ConfinedProcess([sys.executable, "-c", burner]) as process:
        process.receive_line(60)
        timing = stopwatch.time(problem, TrustedSchedule(problem))
        assert any(timing.disturbed)


def test_a_schedule_that_halide_refuses_is_an_outcome() -> None:
    problem = problem_of("blur")
    schedule = refused_schedule(problem)
    timing = time_schedule(problem, schedule)
    assert timing.outcome == "compile_error"
    assert "already used" in timing.error
    assert timing.median_s == timing.min_s == math.inf
    with pytest.raises(_core.CompileError, match="already used"):
        run_schedule(problem, schedule)
    comparison = compare_schedules(problem, None, schedule, rounds=1, time_limit_s=0.01)
    assert math.isnan(comparison.ratio)
    assert (comparison.a.outcome, comparison.b.outcome) == ("ok", "compile_error")


def test_an_error_of_the_pipeline_is_an_outcome() -> None:
    f, x, image = hl.Func("f"), hl.Var("x"), hl.ImageParam(hl.Float(32), 1, "image")
    f[x] = image[x]
    f.set_estimates([(0, 1000)])
    image.set_estimates([(0, 10)])
    image.dim(0).set_bounds(0, 10)
    problem = SchedulingProblem.from_pipeline(f)
    timing = time_schedule(problem, None, verify=False)
    assert timing.outcome == "run_error"
    assert "image" in timing.error
    with pytest.raises(_core.Error, match="image"):
        run_schedule(problem, None)


def test_a_schedule_that_takes_too_long_is_an_outcome() -> None:
    problem = problem_of("hist")
    timing = time_schedule(problem, None, timeout_s=0.5, verify=False)  # recomputes the histogram for every point
    assert (timing.outcome, timing.samples_s) == ("timeout", ())
    timing = time_schedule(problem, None, compile_timeout_s=0.01, verify=False)
    assert (timing.outcome, timing.samples_s) == ("timeout", ())


@pytest.mark.alone
def test_comparison_tells_the_faster_schedule(stopwatch: Stopwatch) -> None:
    histogram, f, x, r = hl.Func("histogram"), hl.Func("f"), hl.Var("x"), hl.RDom([(0, 1000)], "r")
    histogram[x] = 0
    histogram[r * r % 64] += 1
    f[x] = histogram[x % 64]
    f.set_estimates([(0, 1000)])
    problem = SchedulingProblem.from_pipeline(f, parallelism=1)
    fast, slow = TrustedSchedule(problem), None  # slow: the histogram again for every point, hundreds of times slower
    comparison = stopwatch.compare(problem, fast, slow, rounds=6)
    assert comparison.verdict == "faster"
    assert 1 < comparison.low <= comparison.ratio <= comparison.high
    assert comparison.a.min_s < comparison.b.min_s
    turned, equal = stopwatch.compare_all(problem, [slow, fast], fast, rounds=6)
    assert turned.verdict == "slower"
    assert equal.low <= equal.ratio <= equal.high


def test_who_is_not_compiled_in_time_does_not_take_part(stopwatch: Stopwatch) -> None:
    problem = problem_of("blur")
    schedules = [random_schedule(problem, seed) for seed in range(4)]
    late = stopwatch.compare_all(problem, schedules, None, rounds=1, compile_within_s=1e-3)
    assert all(comparison.a.compiler_was_late and comparison.b.outcome == "ok" for comparison in late)
    assert all(comparison.a.error.startswith("the compiler: ") for comparison in late)
    in_time = stopwatch.compare_all(problem, schedules[:1], None, rounds=1, compile_within_s=60)
    assert in_time[0].a.outcome == "ok" and not in_time[0].a.compiler_was_late


@pytest.mark.alone
def test_each_turn_of_a_comparison_is_a_fresh_process(stopwatch: Stopwatch, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[object] = []
    start = RunningKernel.__init__

    def counted(self: RunningKernel, *arguments: Any) -> None:
        starts.append(self)
        start(self, *arguments)

    problem = problem_of("blur")
    trusted = TrustedSchedule(problem)
    stopwatch.time(problem, trusted)
    monkeypatch.setattr(RunningKernel, "__init__", counted)
    comparison = stopwatch.compare(problem, trusted, None, rounds=3)
    assert len(starts) == 2 * 3
    assert min(len(comparison.a.samples_s), len(comparison.b.samples_s)) >= 3
    del starts[:]
    stopwatch.compare_all(problem, [trusted], None, precision=0.0, turns_within_s=0.0)
    assert len(starts) == 2 * 6  # as many as an interval needs, although the time was over at once


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    assert median_interval([3, 1, 2]) == (1, 3)
    assert median_interval(range(6)) == (0, 5)
    assert median_interval(range(9)) == (1, 7)  # 2 * (1 + 9) / 2^9 = 3.9 % beyond
    generator = random.Random(0)
    for count in (6, 15, 40):
        draws = [[generator.expovariate(1) for _ in range(count)] for _ in range(2000)]
        covered = [low <= math.log(2) <= high for low, high in map(median_interval, draws)]
        assert 0.94 < sum(covered) / len(covered) < 0.99


def test_intervals_of_many_values() -> None:
    low, high = median_interval(range(2000))
    assert 950 <= low < 1000 <= high <= 1050 and low + high == 1999


def test_inputs_stay_as_they_were_given() -> None:
    array = np.ones((4, 4), np.float32)
    with Stopwatch(inputs={"inp": array}) as stopwatch:
        before = stopwatch.inputs_digest
        array[:] = 2.0
        assert stopwatch.inputs_digest == before


def test_files_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_MOST_PROBLEMS", 2)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def line(extent: int) -> SchedulingProblem:
        x, f = hl.Var("x"), hl.Func("line")
        f[x] = x
        f.set_estimates([(0, extent)])
        return SchedulingProblem.from_pipeline(f, parallelism=1)

    problems = [line(extent) for extent in (16, 32, 48, 64)]
    with Stopwatch(TimingSettings(time_limit_s=0.01, patience_s=0, threads=1)) as stopwatch:
        for problem in (*problems, problems[0]):
            assert stopwatch.time(problem, None).outcome == "ok"
        (scratch,) = tmp_path.iterdir()
        assert len(list(scratch.iterdir())) == 2


def test_disturbed_rounds_do_not_count_if_six_others_are_left() -> None:
    quiet, disturbed = [(1.0, False)] * 6, [(5.0, True)] * 9
    assert ratio_of(disturbed + quiet, [(2.0, False)] * 15) == (2.0, 2.0, 2.0)
    assert ratio_of(disturbed + quiet[:5], [(2.0, False)] * 14)[0] == 0.4


WAITS = """
from pathlib import Path
from halidegym.envs.timing.machine import {other}
with {other}():
    Path({mark!r}).touch()
"""


@pytest.mark.parametrize("other", ["compiling", "measuring"])
def test_nobody_else_compiles_or_measures_meanwhile_and_who_waits_says_so(other: str, tmp_path: Path) -> None:
    mark = tmp_path / "in"
    program = WAITS.format(other=other, mark=str(mark))
    with ConfinedProcess([sys.executable, "-c", program]) as process:
        with measuring():
            while process.is_running and not process.words.endswith("\n"):
                time.sleep(0.02)
            assert not mark.exists()
        assert process.finish(60).outcome == "ok"
        assert mark.exists()
        assert process.words.count("waiting for") == 1
        assert f"waiting for process {os.getpid()} (" in process.words


COMPILES = """
import time
from halidegym.envs.timing.machine import compiling
with compiling():
    print("compiling", flush=True)
    time.sleep(60)
"""


def test_who_waits_for_another_thread_says_for_whom_that_one_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def measure() -> None:
        with measuring():
            pass

    def wait_for_this_thread(seconds: float) -> threading.Thread:
        waiting = threading.Thread(target=measure)
        with machine._locked("gate", fcntl.LOCK_EX):
            waiting.start()
            waiting.join(seconds)
            assert waiting.is_alive()
        return waiting

    wait_for_this_thread(1.3).join()
    assert caplog.messages == []
    with ConfinedProcess([sys.executable, "-c", COMPILES]) as process:
        assert process.receive_line(60) == "compiling"
        waiting = wait_for_this_thread(1.3)
        (told,) = caplog.messages
    waiting.join()
    assert (f"waiting for process {process.pid} (" in told, f"process {os.getpid()} (" in told) == (True, False)
    assert "\n" not in told, "the other's command has lines of its own"


def test_the_runtime_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    target = str(hl.get_host_target())
    with Compiler() as compiler:
        library = compiler.runtime_library(target)
        built = library.stat()
        assert compiler.runtime_library(target) == library
        assert library.stat() == built
        assert [path.name for path in library.parent.iterdir()] == [library.name]
        assert compiler.runtime_library("x86-64-linux-sse41") != library


@pytest.mark.parametrize(
    "bad", [{"threads": 0}, {"timeout_s": 0.0}, {"time_limit_s": math.nan}, {"seed": -1}, {"cpus": (0, 0)}]
)
def test_parameters_out_of_range(bad: dict[str, object]) -> None:
    with pytest.raises(_core.InvalidParameter, match=next(iter(bad))):
        time_schedule(problem_of("blur"), None, **bad)  # type: ignore[arg-type]


def test_a_stopwatch_that_was_closed_measures_no_more() -> None:
    stopwatch, problem = Stopwatch(), problem_of("blur")
    stopwatch.close()
    stopwatch.close()
    with pytest.raises(_core.InvalidParameter, match=r"stopwatch was closed.*make another"):
        stopwatch.time(problem, None)


def test_comparison_needs_a_round() -> None:
    with pytest.raises(_core.InvalidParameter, match="rounds"):
        compare_schedules(problem_of("blur"), None, None, rounds=0)


def test_timings_survive_as_dicts() -> None:
    timing = Timing("ok", (1.0, 2.0, 3.0), 0.5, disturbed=(False, True, False), machine=this_machine())
    assert Timing.from_dict(json.loads(json.dumps(timing.to_dict()))) == timing
    comparison = Comparison(1.5, 1.2, 1.7, timing, Timing("crash", (), 0.1, "boom"))
    assert Comparison.from_dict(json.loads(json.dumps(comparison.to_dict()))) == comparison
    for bad in ({}, {"outcome": "ok"}, {"ratio": 1}):
        with pytest.raises(_core.FormatError):
            (Comparison if "ratio" in bad else Timing).from_dict(bad)


def test_they_are_told_in_a_line() -> None:
    assert (
        repr(Timing("ok", (2e-3, 1e-3, 3e-3), 1.5, threads=2)) == "Timing('ok', median_s=0.002, 3 samples, threads=2)"
    )
    assert repr(Timing("crash", (), 1.5, "SIGSEGV")) == "Timing('crash', error='SIGSEGV', threads=1)"


def test_the_median_is_over_undisturbed_samples() -> None:
    timing = Timing("ok", (9.0, 1.0, 8.0, 2.0, 3.0), 0.0, disturbed=(True, False, True, False, False))
    assert (timing.median_s, timing.min_s, timing.is_disturbed) == (2.0, 1.0, False)
    timing = Timing("ok", (9.0, 1.0, 8.0), 0.0, disturbed=(True, False, True))
    assert (timing.median_s, timing.is_disturbed) == (8.0, True)


def test_the_spread_is_the_range_of_the_middle_half_of_what_counts() -> None:
    samples = (2.0, 90.0, 1.0, 5.0, 4.0, 3.0)
    assert Timing("ok", samples, 0.0, disturbed=(False, True, *[False] * 4)).spread == pytest.approx((4 - 2) / 3)
    assert Timing("ok", (2.0,), 0.0, disturbed=(False,)).spread == 0.0
    assert math.isnan(Timing("crash", (), 0.0).spread)
