"""Compiled schedules in their runner, asked one thing at a time."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import halide as hl
import numpy as np
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.compiler import Compiler
from halidegym.envs.timing.kernel import KernelFailed, RunningKernel, once_more_if_killed
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.trusted import cannot_verify

SETTINGS = TimingSettings(threads=1)


def several_outputs() -> hl.Pipeline:
    """A large output of floats and a small one, of an input whose name is no word."""
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 2, 'my "input"; of 2')
    image.set_estimates([(0, 200), (-1, 100)])
    large, small = hl.Func("large"), hl.Func("small")
    large[x, y] = image[x, y - 1] + 1.0
    small[x] = image[x, 0] * 2.0
    large.set_estimates([(0, 200), (0, 100)])
    small.set_estimates([(0, 4)])
    return hl.Pipeline([large, small])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningKernel]:
    library = tmp_path_factory.mktemp("kernel") / "kernel.so"
    problem = SchedulingProblem.from_pipeline(several_outputs, parallelism=1)
    with Compiler() as compiler:
        compiler.compile(problem, None, library)
        runtime = compiler.runtime_library(problem.target)
    with RunningKernel(runtime, library, 1, SETTINGS) as kernel:
        yield kernel


def copied(dtype: type[np.generic]) -> hl.Func:
    """An image itself."""
    x, copy = hl.Var("x"), hl.Func("copy")
    types = {np.float32: hl.Float(32), np.float64: hl.Float(64), np.int32: hl.Int(32)}
    image = hl.ImageParam(types[dtype], 1, "image")
    image.set_estimates([(0, 20_000)])
    copy[x] = image[x]
    copy.set_estimates([(0, 20_000)])
    return copy


def changed(running: RunningKernel, folder: Path, output: int, points: int, value: float) -> None:
    """What the outputs would be if so many points of one of them had this value."""
    running.outputs(folder)
    path = folder / f"{output}.bin"
    array = np.fromfile(path, np.float32)
    array[:points] = value
    array.tofile(path)


def test_inputs_may_be_called_anything(running: RunningKernel) -> None:
    assert running.inputs() == {'my "input"; of 2': ((0, 200), (-1, 100))}


def test_equal_outputs_pass(running: RunningKernel, tmp_path: Path) -> None:
    running.outputs(tmp_path)
    running.check(tmp_path)
    running.check(tmp_path, is_exact=True)


def test_folders_may_be_called_anything(running: RunningKernel, tmp_path: Path) -> None:
    folder = tmp_path / 'two\nlines, a "quote" and a \\'
    folder.mkdir()
    running.outputs(folder)
    running.check(folder)


def test_each_output_is_judged_by_itself(running: RunningKernel, tmp_path: Path) -> None:
    """A small one may be wrong altogether, which is little of all points together."""
    changed(running, tmp_path, output=0, points=2, value=7.0)
    running.check(tmp_path)
    with pytest.raises(KernelFailed, match=r"2 of 20004 points differ.* output 0 at \(0, 0\)"):
        running.check(tmp_path, is_exact=True)
    changed(running, tmp_path, output=1, points=1, value=7.0)
    with pytest.raises(KernelFailed, match=r"1 of 20004 points differ.* output 1 at \(0\)"):
        running.check(tmp_path)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_numbers_are_not_infinities(running: RunningKernel, tmp_path: Path, value: float) -> None:
    changed(running, tmp_path, output=0, points=20_000, value=value)
    with pytest.raises(KernelFailed, match="20000 of 20004 points differ"):
        running.check(tmp_path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_points_are_compared_by_the_formula_of_the_settings(dtype: type[np.generic], tmp_path: Path) -> None:
    """Numbers about as far apart as they may be, infinities and what is no number; before them, a long equal stretch."""
    random, library, tolerance = np.random.default_rng(0), tmp_path / "kernel.so", SETTINGS.tolerance
    expected = random.normal(0, 100, 20_000).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        expected[15_000:] = np.abs(expected[15_000:]) + 2  # whose bits would be those of tiny floats
        actual = expected + random.integers(-2, 3, expected.size, dtype)
        right = np.abs(actual.astype(int) - expected) <= 1
    else:
        limit = tolerance + tolerance * np.abs(expected.astype(np.float64))
        actual = (expected + limit * random.uniform(-2, 2, expected.size)).astype(dtype)
        for side in (expected, actual):
            side[random.integers(expected.size, size=200)] = random.choice([np.inf, -np.inf, np.nan], 200)
        expected[-3:] = actual[-3:] = np.inf, -np.inf, np.nan
        with np.errstate(invalid="ignore"):
            near = np.abs(actual.astype(np.float64) - expected) <= limit
        right = np.where(np.isfinite(expected), near, (expected == actual) | np.isnan(expected) & np.isnan(actual))
    actual[:9_000], right[:9_000] = expected[:9_000], True
    assert 0.2 < np.mean(right[9_000:]) < 0.8
    problem = SchedulingProblem.from_pipeline(lambda: copied(dtype), parallelism=1)
    actual.tofile(tmp_path / "image.raw")
    with Compiler() as compiler:
        compiler.compile(problem, None, library)
        runtime = compiler.runtime_library(problem.target)
    with RunningKernel(runtime, library, 1, SETTINGS, [f"image={tmp_path / 'image.raw'}"]) as running:
        running.outputs(tmp_path)
        expected.tofile(tmp_path / "0.bin")
        with pytest.raises(
            KernelFailed, match=f"^{np.sum(~right)} of {right.size} points.* at .{np.argmin(right)}. is"
        ):
            running.check(tmp_path)


def test_what_somebody_kills_runs_once_more() -> None:
    endings = iter([KernelFailed("crash", "killed", was_killed=True), "result"])

    def run() -> str:
        ending = next(endings)
        if isinstance(ending, KernelFailed):
            raise ending
        return str(ending)

    assert once_more_if_killed(run) == "result"
    endings = iter([KernelFailed("crash", "killed", was_killed=True)] * 2)
    with pytest.raises(KernelFailed, match="killed"):
        once_more_if_killed(run)
    endings = iter([KernelFailed("crash", "by itself"), "result"])
    with pytest.raises(KernelFailed, match="by itself"):
        once_more_if_killed(run)


def test_instructions_that_the_processor_lacks_are_those_of_the_target() -> None:
    problem = SchedulingProblem.from_pipeline(several_outputs, target="x86-64-linux-avx512_zen5", parallelism=1)
    said = str(cannot_verify(problem, KernelFailed("crash", "died of SIGILL")))
    assert said.endswith(
        f"SIGILL. This processor lacks an instruction of the target {problem.target}: leave out its feature."
    )
    assert "lacks" not in str(cannot_verify(problem, KernelFailed("crash", "died of SIGSEGV")))


def chain_of_images() -> hl.Func:
    """Three of a megabyte each between the input and the output."""
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    image.set_estimates([(0, 512), (0, 515)])
    last = image
    for number in range(4):
        func = hl.Func(f"image_{number}")
        func[x, y] = last[x, y] + last[x, y + 1]
        last = func
    last.set_estimates([(0, 512), (0, 511)])
    return last


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_that_a_run_frees_is_kept_for_the_next_or_not(tmp_path: Path, threads: int) -> None:
    """Fetching pages from the system anew takes longer than what such a pipeline computes."""
    problem = SchedulingProblem.from_pipeline(chain_of_images, parallelism=threads)
    with Compiler() as compiler:
        compiler.compile(problem, TrustedSchedule(problem), tmp_path / "kernel.so")
        runtime = compiler.runtime_library(problem.target)

    def page_faults(*, samples: int, keep: bool) -> int:
        settings, before = TimingSettings(keep_memory=keep), resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        with RunningKernel(runtime, tmp_path / "kernel.so", threads, settings) as running:
            for _ in range(samples):
                running.sample()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before

    pages = 3 * 256  # and a sample is one run or more
    few = page_faults(samples=2, keep=True)
    assert page_faults(samples=42, keep=True) < few + pages
    assert page_faults(samples=42, keep=False) > few + 40 * pages
