"""Whatever goes wrong with a schedule is an outcome, and the next measurement does not notice."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import halide as hl
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.confined import ConfinedProcess, Finished, ProcessEnded
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing import compile_worker
from halidegym.envs.timing.compiler import CompilationError, Compiler, CompileTimes
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.timing.kernel_store import KernelStore
from halidegym.envs.timing.one_off import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.native import _core
from processes_for_tests import all_end, descendants_of
from schedules_for_tests import random_schedule, refused_schedule

QUICK = TimingSettings(time_limit_s=0.05, patience_s=0.05, memory_bytes=1 << 30, threads=1)
FAULTS = {
    1: ("crash", "SIGSEGV"),
    2: ("timeout", "still running after 3 s"),
    3: ("out_of_memory", ""),
    4: ("wrong_output", "1 of 1000 points differ from the trusted schedule: output 0 at (17) is 52 instead of 51"),
    5: ("crash", "SIGKILL"),
    6: ("wrong_output", "at (17)"),
    7: ("run_error", "before its time"),
}


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = 3 * x
    f.set_estimates([(0, 1000)])
    return SchedulingProblem.from_pipeline(f, parallelism=1)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Kernels that fail, by the number of the fault."""
    folder = tmp_path_factory.mktemp("kernels")
    spec = importlib.util.find_spec("halide")
    assert spec is not None and spec.origin is not None
    include = Path(spec.origin).parent / "include"
    source = Path(__file__).with_name("faulty_kernel.cpp")
    for fault in FAULTS:
        subprocess.run(
            [
                "c++",
                "-std=c++17",
                "-shared",
                "-fPIC",
                f"-DFAULT={fault}",
                f"-I{include}",
                source,
                "-o",
                folder / str(fault),
            ],
            check=True,
        )
    return {fault: folder / str(fault) for fault in FAULTS}


def swap_kernel(monkeypatch: pytest.MonkeyPatch, kernel: Path) -> None:
    """Let everything but the trusted schedule compile to this kernel."""
    compile_ = Compiler.compile

    def swapped(
        self: Compiler, problem: SchedulingProblem, schedule: ScheduleLike, library: Path, **options: Any
    ) -> CompileTimes:
        if isinstance(schedule, TrustedSchedule):
            return compile_(self, problem, schedule, library, **options)
        shutil.copy(kernel, library)
        return CompileTimes()

    monkeypatch.setattr(Compiler, "compile", swapped)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_kernels_are_outcomes(
    fault: int, problem: SchedulingProblem, faulty: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, words = FAULTS[fault]
    with Stopwatch(QUICK, compilers=1) as stopwatch:
        stopwatch.compare(problem, None, None, rounds=1)  # has the trusted outputs
        with monkeypatch.context() as patch:
            swap_kernel(patch, faulty[fault])
            if outcome == "timeout":  # on a busy machine the others may take as long
                patch.setattr(stopwatch, "settings", dataclasses.replace(QUICK, timeout_s=3.0))
            timing = stopwatch.time(problem, None)
        assert timing.outcome == outcome
        assert words in timing.error
        assert timing.samples_s == ()
        assert stopwatch.time(problem, None).outcome == "ok"


def test_a_fault_in_a_comparison_leaves_the_other_side(
    problem: SchedulingProblem, faulty: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Stopwatch(QUICK, compilers=1) as stopwatch:
        swap_kernel(monkeypatch, faulty[1])
        comparison = stopwatch.compare(problem, None, TrustedSchedule(problem), rounds=2)
    assert (comparison.a.outcome, comparison.b.outcome) == ("crash", "ok")
    assert comparison.ratio != comparison.ratio
    assert comparison.verdict == "undecided"
    assert len(comparison.b.samples_s) >= 6  # two turns of three or more


def test_a_pipeline_that_needs_too_much_memory_is_an_outcome() -> None:
    f, g, x, y = hl.Func("f"), hl.Func("g"), hl.Var("x"), hl.Var("y")
    g[x, y] = hl.cast(hl.Int(32), hl.sqrt(hl.cast(hl.Float(32), x * y)))
    f[x] = g[x, 20000 - x] + g[x, 0]
    f.set_estimates([(0, 10000)])
    problem = SchedulingProblem.from_pipeline(f, parallelism=1)
    settings = TimingSettings(verify=False, memory_bytes=400 << 20, threads=1, time_limit_s=0.05)
    with Stopwatch(settings, compilers=1) as stopwatch:
        assert stopwatch.time(problem, TrustedSchedule(problem)).outcome == "out_of_memory"


def test_what_a_pipeline_prints_is_no_answer_of_the_runner() -> None:
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = hl.print(3 * x, "sample 0 0 0\n")
    f.set_estimates([(0, 100)])
    problem = SchedulingProblem.from_pipeline(f, parallelism=1)
    with Stopwatch(QUICK, compilers=1) as stopwatch:
        timing = stopwatch.time(problem, random_schedule(problem, 0))
        assert (timing.outcome, timing.error) == ("ok", "")
        assert timing.min_s > 0
        (output,) = stopwatch.run(problem, None)
    assert list(output) == list(range(0, 300, 3))


FORK = """
import os
import halide as hl
from halidegym import SchedulingProblem, Stopwatch, TimingSettings
f, x = hl.Func("f"), hl.Var("x")
f[x] = 3 * x
f.set_estimates([(0, 1000)])
problem = SchedulingProblem.from_pipeline(f, parallelism=1)
with Stopwatch(TimingSettings(time_limit_s=0.05, patience_s=0.05, threads=1), compilers=1) as stopwatch:
    print(stopwatch.time(problem, None).outcome, flush=True)
    child = os.fork()
    print(stopwatch.time(problem, None).outcome, flush=True)
    if child:
        assert os.waitpid(child, 0)[1] == 0
        print(stopwatch.time(problem, None).outcome, flush=True)
"""


def test_a_fork_measures_and_leaves_its_parent_alone(tmp_path: Path) -> None:
    # From 3.12 on, Python warns of forks where there are threads.
    program = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK]
    variables = {**os.environ, "TMPDIR": str(tmp_path)}
    result = subprocess.run(program, capture_output=True, text=True, env=variables, check=True)
    assert result.stdout.split() == ["ok"] * 4
    # On a busy machine one of the two waits long enough to say so.
    assert [line for line in result.stderr.splitlines() if "to end measuring" not in line] == []
    assert list(tmp_path.iterdir()) == []


def test_without_the_trusted_outputs_nothing_is_timed(problem: SchedulingProblem) -> None:
    settings, message = TimingSettings(compile_timeout_s=1e-3), r"trusted schedule.*timeout.*verify=False"
    with Stopwatch(settings, compilers=1) as stopwatch, pytest.raises(_core.Error, match=message):
        stopwatch.time(problem, None)


def test_a_refusal_without_a_reason_is_told_as_such(
    problem: SchedulingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_request: compile_worker.KernelRequest) -> float:
        raise hl.HalideError("Error: \n")

    monkeypatch.setattr(compile_worker, "_compile_kernel", refuse)
    reply = compile_worker.carry_out(compile_worker.KernelRequest(problem, None, "kernel.o"))
    assert (reply.outcome, reply.error) == ("error", "Halide gives no reason")


def test_a_compiler_that_is_killed_is_an_outcome_and_replaced(problem: SchedulingProblem) -> None:
    with Stopwatch(QUICK, compilers=1) as stopwatch:
        assert stopwatch.time(problem, None).outcome == "ok"
        compilers = descendants_of(os.getpid())
        for compiler in compilers:
            os.kill(compiler, signal.SIGKILL)
        assert all_end(compilers)
        assert stopwatch.time(problem, None).outcome == "ok"


def test_compilers_are_kept_from_one_batch_to_the_next(problem: SchedulingProblem) -> None:
    run_isolated(os.getpid)  # the server of all that are forked is there
    others = descendants_of(os.getpid())
    with Stopwatch(QUICK, compilers=2) as stopwatch:
        compilers = set()
        for _ in range(3):
            assert [timing.outcome for timing in stopwatch.time_all(problem, [None, None])] == ["ok", "ok"]
            compilers.update(descendants_of(os.getpid()) - others)
    assert len(compilers) == 2


def test_kernels_are_kept_and_refusals_of_the_compiler_are_too(
    problem: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, x, y = hl.Func("f"), hl.Var("x"), hl.Var("y")
    f[x, y] = x + y
    f.set_estimates([(0, 256), (0, 256)])
    refused = SchedulingProblem.from_pipeline(f)
    schedule = refused_schedule(refused)
    with Stopwatch(QUICK, kernels=tmp_path) as stopwatch:
        stopwatch.compile(problem, [None])
        stopwatch.compile(refused, [schedule])
        stopwatch.compile(problem, [None])

    def no_compiler(*_: object, **__: object) -> CompileTimes:
        raise CompilationError(Finished("timeout", "it was asked again"))

    monkeypatch.setattr(Compiler, "compile", no_compiler)
    with Stopwatch(QUICK, kernels=tmp_path) as stopwatch:
        known, again = stopwatch.time(problem, None), stopwatch.time(refused, schedule)
        assert (known.outcome, again.outcome) == ("ok", "compile_error")
        assert 0 < known.halide_s < known.compile_s
        assert "already used" in again.error
        other = SchedulingProblem.from_pipeline(f, target="x86-64-linux-sse41")
        with pytest.raises(_core.Error, match="asked again"):
            stopwatch.time(other, None)


def test_damage_to_the_kept_kernels_is_told(problem: SchedulingProblem, tmp_path: Path) -> None:
    with Stopwatch(QUICK, kernels=tmp_path) as stopwatch:
        stopwatch.compile(problem, [None])
        report = next(tmp_path.glob("*.json"))
        whole = report.read_bytes()
        for content in (b"", b"\xff", b"[]", b"{}", b'{"outcome": "error"}', b'{"message": "refused"}'):
            report.write_bytes(content)
            with pytest.raises(_core.FormatError, match=rf"{report.name} .*Delete it"):
                stopwatch.compile(problem, [None])
        report.write_bytes(whole)
        report.with_suffix(".so").write_bytes(report.with_suffix(".so").read_bytes()[:1000])
        with pytest.raises(_core.FormatError, match=rf"{report.stem}.so is damaged.*Delete"):
            stopwatch.compile(problem, [None])
        report.with_suffix(".so").unlink()
        with pytest.raises(_core.FormatError, match=rf"{report.stem}.so is missing.*Delete"):
            stopwatch.compile(problem, [None])
        report.unlink()
        stopwatch.compile(problem, [None])
        assert report.with_suffix(".so").exists()


def test_a_late_compilation_is_tried_again_with_more_time_only(
    problem: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def late(*_: object, timeout_s: float) -> CompileTimes:
        asked.append(timeout_s)
        raise CompilationError(Finished("timeout", f"still running after {timeout_s:g} s"), would_repeat=True)

    monkeypatch.setattr(Compiler, "compile", late)
    store = KernelStore(tmp_path)
    for timeout_s in (10.0, 5.0, 10.0, 20.0, 10.0):
        with Compiler() as compiler, pytest.raises(CompilationError, match="still running") as raised:
            store.compile(compiler, problem, None, tmp_path / "kernel.so", timeout_s=timeout_s)
        assert raised.value.finished.outcome == "timeout"
    assert asked == [10.0, 20.0]


def test_what_is_no_fault_of_the_schedule_is_not_kept(
    problem: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a linker that is missing today."""
    kernels, library = tmp_path / "kernels", tmp_path / "kernel.so"
    with Compiler() as compiler:
        compiler.runtime_library(problem.target)
        with monkeypatch.context() as patched:
            patched.setattr(shutil, "which", lambda _: None)
            with pytest.raises(CompilationError, match="no linker found"):
                KernelStore(kernels).compile(compiler, problem, None, library, timeout_s=60.0)
        KernelStore(kernels).compile(compiler, problem, None, library, timeout_s=60.0)
    assert library.exists()


def test_a_full_disk_is_named_as_the_reason(problem: SchedulingProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1 << 30, 1 << 30, 0))
    with Compiler() as compiler, pytest.raises(CompilationError, match=r"no space left in /proc; .* TMPDIR"):
        compiler.compile(problem, TrustedSchedule(problem), Path("/proc/kernel.so"))


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        (("which", lambda _: None), "no linker found; install binutils or a C\\+\\+ compiler$"),
        (("disk_usage", lambda _: shutil._ntuple_diskusage(1 << 30, 1 << 30, 0)), "no space left"),
    ],
)
def test_what_this_machine_lacks_is_an_error_and_not_recorded_of_a_schedule(
    problem: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: Any, reason: str
) -> None:
    settings = dataclasses.replace(QUICK, verify=False)
    schedule = refused_schedule(problem) if "space" in reason else None  # with no space, a compiler fails anyhow
    with Compiler() as compiler:
        compiler.runtime_library(problem.target)
    with contextlib.closing(RecordingTimer(tmp_path / "timings.db", settings)) as timer:
        with monkeypatch.context() as patched:
            patched.setattr(shutil, *missing)
            with pytest.raises(_core.Error, match=reason):
                timer.time(problem, schedule)
        assert timer.time(problem, schedule).outcome == ("ok" if schedule is None else "compile_error")


def test_last_words_of_a_crash() -> None:
    program = "import os, sys; print('farewell', file=sys.stderr, flush=True); os.abort()"
    with ConfinedProcess([sys.executable, "-c", program]) as process, pytest.raises(ProcessEnded) as ended:
        process.receive_line(60.0)
    assert ended.value.finished.outcome == "crash"
    assert ended.value.finished.error == "died of SIGABRT: farewell"


def test_processes_have_no_more_memory_than_allowed() -> None:
    with ConfinedProcess([sys.executable, "-c", "x = bytearray(1 << 30)"], memory_bytes=500 << 20) as process:
        assert process.finish(60.0).outcome == "out_of_memory"


def test_processes_run_where_they_are_told_to() -> None:
    cpu = max(os.sched_getaffinity(0))
    with ConfinedProcess([sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], cpus=[cpu]) as process:
        assert process.receive_line(60.0) == f"{{{cpu}}}"


MEASURE = """
import sys
import halide as hl
from halidegym import SchedulingProblem
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.envs.timing.one_off import TimingSettings
from halidegym.envs.timing.database import TimingDatabase
f, x = hl.Func("f"), hl.Var("x")
f[x] = 3 * x
f.set_estimates([(0, 1000)])
problem = SchedulingProblem.from_pipeline(f, parallelism=1)
settings = TimingSettings(time_limit_s=0.1, patience_s=0.1, threads=1, agreement=0.0)
with TimingDatabase(sys.argv[1]) as database:
    timer = RecordingTimer(database, settings, remeasure=True)
    print("start", flush=True)
    for _ in range(int(sys.argv[2])):
        assert timer.time(problem, None).outcome == "ok"
        print("measured", flush=True)
    timer.close()
"""


def start(database: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", MEASURE, database, str(count)], stdout=subprocess.PIPE, text=True)


def test_two_processes_measure_at_once(tmp_path: Path) -> None:
    database = tmp_path / "timings.db"
    processes = [start(database, 3) for _ in range(2)]
    assert [process.communicate(timeout=120)[0].count("measured") for process in processes] == [3, 3]
    with TimingDatabase(database) as timings:
        assert len(timings) == 6


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_an_end_in_the_middle_leaves_a_sound_database_and_no_process(how: signal.Signals, tmp_path: Path) -> None:
    database = tmp_path / "timings.db"
    with start(database, 10000) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "start\n"
        assert process.stdout.readline() == "measured\n"
        descendants = descendants_of(process.pid)
        assert descendants
        process.send_signal(how)
        process.communicate(timeout=60)
    assert process.returncode != 0
    assert all_end(descendants)
    with TimingDatabase(database) as timings:
        assert len(timings) >= 1
        assert len(list(timings.records())) == len(timings)
