"""What a schedule computes, of inputs that are given or made up."""

from __future__ import annotations

from pathlib import Path

import halide as hl
import numpy as np
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.one_off import run_schedule
from halidegym.native import _core
from schedules_for_tests import random_schedule


def test_the_trusted_schedule_computes_what_the_pipeline_says() -> None:
    f, g, x, y, r = hl.Func("f"), hl.Func("g"), hl.Var("x"), hl.Var("y"), hl.RDom([(0, 7)], "r")
    image = hl.ImageParam(hl.Int(32), 2, "image")
    g[x, y] = 0
    g[x, y] += image[x + r, y]
    f[x, y] = g[x, y] + y
    image.set_estimates([(0, 29), (0, 3)])
    f.set_estimates([(0, 23), (0, 3)])
    problem = SchedulingProblem.from_pipeline(f, parallelism=2)
    array = np.random.default_rng(0).integers(0, 1000, size=(3, 29), dtype=np.int32)
    (output,) = run_schedule(problem, TrustedSchedule(problem), inputs={"image": array})
    np.testing.assert_array_equal(output, sum(array[:, k : k + 23] for k in range(7)) + np.arange(3)[:, None])


def test_outputs_can_be_trusted_that_halide_refuses_to_vectorize() -> None:
    """Rows that are read backwards, and do not fill their vectors: Halide 21 says nothing but that it is an error."""
    f, source, flipped, sums, x = (*map(hl.Func, ("f", "source", "flipped", "sums")), hl.Var("x"))
    r = hl.RDom([(0, 82)], "r")
    image = hl.ImageParam(hl.UInt(8), 1, "image")
    source[x] = image[x]
    flipped[x] = source[81 - x]
    sums[()] = 0
    sums[()] += hl.i32(flipped[r.x]) * r.x
    f[x] = sums[()] + x
    image.set_estimates([(0, 82)])
    f.set_estimates([(0, 5)])
    problem = SchedulingProblem.from_pipeline(f, target="x86-64-linux-avx-avx2-f16c-fma-sse41")
    array = np.arange(82, dtype=np.uint8)
    (output,) = run_schedule(problem, TrustedSchedule(problem), inputs={"image": array})
    np.testing.assert_array_equal(output, (np.arange(82) * array[::-1].astype(int)).sum() + np.arange(5))


def test_pixels_and_rows_may_be_padded() -> None:
    """As RGB in four bytes, and rows that begin at multiples of 256; of inputs and outputs."""
    f, x, y, c, image = hl.Func("f"), hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.ImageParam(hl.UInt(8), 3, "image")
    f[x, y, c] = image[x, y, c] + image[x + 1, y, c]
    for buffer in (image, f.output_buffer()):
        buffer.dim(0).set_stride(4)
        buffer.dim(1).set_stride(256)
        buffer.dim(2).set_stride(1)
        buffer.dim(2).set_bounds(0, 3)
    image.set_estimates([(0, 41), (0, 9), (0, 3)])
    f.set_estimates([(0, 40), (0, 9), (0, 3)])
    array = np.random.default_rng(0).integers(0, 128, size=(3, 9, 41), dtype=np.uint8)
    problem = SchedulingProblem.from_pipeline(f)
    for schedule in (TrustedSchedule(problem), random_schedule(problem, 0)):
        (output,) = run_schedule(problem, schedule, inputs={"image": array})
        np.testing.assert_array_equal(output, array[:, :, :-1] + array[:, :, 1:])


def test_an_array_for_an_input_without_estimates_is_refused_with_the_remedy() -> None:
    f, doubled, x, image = hl.Func("f"), hl.Func("doubled"), hl.Var("x"), hl.ImageParam(hl.UInt(8), 1, "image")
    doubled[x] = 2 * image[x]
    f[x] = doubled[x] + doubled[x + 1]
    f.set_estimates([(0, 82)])
    inputs = {"image": np.arange(83, dtype=np.uint8)}
    problem = SchedulingProblem.from_pipeline(f)
    with pytest.raises(_core.InvalidParameter, match=r"'image' has no estimates.*estimates={'image': \[\(min, extent"):
        run_schedule(problem, random_schedule(problem, 0), inputs=inputs)
    problem = SchedulingProblem.from_pipeline(f, estimates={"image": [(0, 83)]})
    (output,) = run_schedule(problem, random_schedule(problem, 0), inputs=inputs)
    np.testing.assert_array_equal(output, (4 * np.arange(82) + 2) % 256)


def test_an_input_with_an_estimate_of_one_dimension_of_two_is_told_apart() -> None:
    f, x, y, image = hl.Func("f"), hl.Var("x"), hl.Var("y"), hl.ImageParam(hl.UInt(8), 2, "image")
    f[x, y] = image[x, y]
    f.set_estimates([(0, 30), (0, 2)])
    image.dim(0).set_estimate(0, 30)
    problem = SchedulingProblem.from_pipeline(f)
    with pytest.raises(_core.InvalidParameter, match="'image' has no estimates of all its dimensions"):
        run_schedule(problem, None, inputs={"image": np.zeros((2, 30), np.uint8)})


def test_outputs_have_the_estimated_region_and_parameters_their_estimates() -> None:
    f, x, y, scale = hl.Func("f"), hl.Var("x"), hl.Var("y"), hl.Param(hl.Int(32), "scale")
    scale.set_estimate(3)
    f[x, y] = scale * x + 100 * y
    f.set_estimates([(5, 21), (-2, 4)])
    problem = SchedulingProblem.from_pipeline(f)
    y_at, x_at = np.mgrid[-2:2, 5:26]
    for schedule in (None, random_schedule(problem, 0)):
        (output,) = run_schedule(problem, schedule)
        np.testing.assert_array_equal(output, 3 * x_at + 100 * y_at)


def test_bounds_promised_to_the_compiler_go_before_the_estimates() -> None:
    """As in conv_layer, whose published estimates contradict them."""
    f, x, y = hl.Func("f"), hl.Var("x"), hl.Var("y")
    f[x, y] = x + 100 * y
    f.output_buffer().dim(0).set_bounds(2, 21)
    f.set_estimates([(0, 7), (-2, 4)])
    problem = SchedulingProblem.from_pipeline(f)
    y_at, x_at = np.mgrid[-2:2, 2:23]
    for schedule in (None, random_schedule(problem, 0)):
        (output,) = run_schedule(problem, schedule)
        np.testing.assert_array_equal(output, x_at + 100 * y_at)


def test_inputs_are_random_but_depend_on_the_seed_alone() -> None:
    f, x, image = hl.Func("f"), hl.Var("x"), hl.ImageParam(hl.Float(32), 1, "image")
    f[x] = image[x]
    f.set_estimates([(0, 1000)])
    image.set_estimates([(0, 1000)])
    problem = SchedulingProblem.from_pipeline(f)
    (first,), (again,), (other,) = (run_schedule(problem, None, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.mean(first == other) < 0.01
    assert first.min() >= 0
    assert first.max() < 1
    assert abs(first.mean() - 0.5) < 0.05


def test_arrays_can_be_given_as_inputs() -> None:
    f, x, y, image = hl.Func("f"), hl.Var("x"), hl.Var("y"), hl.ImageParam(hl.UInt(8), 2, "image")
    f[x, y] = image[x, y] + hl.cast(hl.UInt(8), 1)
    f.set_estimates([(0, 30), (0, 2)])
    image.set_estimates([(0, 30), (0, 2)])
    problem = SchedulingProblem.from_pipeline(f)
    array = np.arange(60, dtype=np.uint8).reshape(2, 30)
    for schedule in (None, random_schedule(problem, 0)):
        (output,) = run_schedule(problem, schedule, inputs={"image": array})
        np.testing.assert_array_equal(output, array + 1)
    for bad in ({"imago": array}, {"image": array.T}, {"image": array.astype(np.float32)}):
        with pytest.raises(_core.InvalidParameter, match="inputs"):
            run_schedule(problem, None, inputs=bad)


def test_arrays_are_continued_by_their_edges_for_rounded_up_tiles() -> None:
    f, g, x = hl.Func("f"), hl.Func("g"), hl.Var("x")
    image = hl.ImageParam(hl.Int(32), 1, "image")
    g[x] = image[x]
    f[x] = g[x] + g[x + 1]
    f.set_estimates([(0, 100)])
    image.set_estimates([(0, 101)])
    problem = SchedulingProblem.from_pipeline(f)
    array = np.arange(101, dtype=np.int32)
    for seed in range(4):
        (output,) = run_schedule(problem, random_schedule(problem, seed), inputs={"image": array})
        np.testing.assert_array_equal(output, array[1:] + array[:-1])


@pytest.mark.parametrize("feature", ["strict_float", "user_context", "c_plus_plus_name_mangling"])
def test_targets_of_programs_can_be_measured(feature: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Halide writes no runtime for the first one; the others change how a kernel is called."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where no runtime is
    f, doubled, x, image = hl.Func("f"), hl.Func("doubled"), hl.Var("x"), hl.ImageParam(hl.Float(32), 1, "image")
    doubled[x] = 2 * image[x]
    f[x] = doubled[x] + doubled[x + 1]
    f.set_estimates([(0, 82)])
    problem = SchedulingProblem.from_pipeline(f, target=f"host-{feature}", estimates={"image": [(0, 83)]})
    array = np.arange(83, dtype=np.float32)
    (output,) = run_schedule(problem, random_schedule(problem, 0), inputs={"image": array})
    np.testing.assert_array_equal(output, 4 * np.arange(82) + 2)
