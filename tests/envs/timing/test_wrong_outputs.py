"""Schedules whose output is not the pipeline's get no run time; some, because Halide 21 compiles them wrongly."""

from __future__ import annotations

import halide as hl
import pytest

from halidegym.agents import BeamSearch
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.manual_schedule import manual_schedule
from halidegym.envs.timing.measurements import Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch


def clamped_and_not(extent: int = 16, scale: float | None = None) -> hl.Func:
    """A Func that its consumer reads at a coordinate and at the same one clamped, as with `repeat_edge`."""
    y = hl.Var("y")
    produced, consumed = hl.Func("produced"), hl.Func("consumed")
    produced[y] = y + 1 if scale is None else hl.f32(y + 1) * hl.f32(scale)
    consumed[y] = produced[hl.clamp(y, 0, 15)] + produced[y]
    consumed.set_estimates([(0, extent)])
    return consumed


def reflected() -> hl.Func:
    """Of an image, the points of a Func at coordinates that are reflected at 0; 95 of 96 of them."""
    x = hl.Var("x")
    image = hl.ImageParam(hl.UInt(8), 1, "image")
    image.set_estimates([(0, 96)])
    produced, reflecting = hl.Func("produced"), hl.Func("reflecting")
    produced[x] = hl.f32(image[x])
    reflecting[x] = produced[hl.i32(hl.abs(x - 2))] + produced[hl.i32(hl.abs(x - 1))]
    reflecting.set_estimates([(0, 96)])
    return reflecting


def mirrored() -> hl.Func:
    """A separable filter of an image that is continued by its mirror image."""
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    image.set_estimates([(0, 640), (0, 480)])
    mirror = hl.BoundaryConditions.mirror_image(image)
    wide, rows, filtered = hl.Func("wide"), hl.Func("rows"), hl.Func("filtered")
    wide[x, y] = hl.u16(mirror[x, y])
    rows[x, y] = wide[x - 1, y] + 2 * wide[x, y] + wide[x + 1, y]
    filtered[x, y] = hl.u8((rows[x, y - 1] + 2 * rows[x, y] + rows[x, y + 1]) // 16)
    filtered.set_estimates([(0, 640), (0, 480)])
    return filtered


def rounded() -> hl.Func:
    """Sums whose last digits depend on the order of their terms, of eight bits each."""
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 64)], "r")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    image.set_estimates([(0, 128), (0, 128)])
    sums, rounded = hl.Func("sums"), hl.Func("rounded")
    sums[x, y] = 0.0
    sums[x, y] += hl.sin(image[r, y] * image[x, r] * 30.0)
    rounded[x, y] = hl.cast(hl.BFloat(16), sums[x, y])
    rounded.set_estimates([(0, 64), (0, 128)])
    return rounded


def slide(produced: hl.Func, consumed: hl.Func) -> None:
    produced.store_root().compute_at(consumed, consumed.args()[0])


def compute_each(produced: hl.Func, consumed: hl.Func) -> None:
    produced.compute_at(consumed, consumed.args()[0])


def round_up(produced: hl.Func) -> None:
    x = produced.args()[0]
    produced.compute_root().split(x, x, hl.Var("inner"), 64, hl.TailStrategy.RoundUp)


def at_root(produced: hl.Func) -> None:
    produced.compute_root()


def vectorize(scaled: hl.Func) -> None:
    scaled.vectorize(scaled.args()[0], 8)


QUICK = TimingSettings(time_limit_s=0.01, patience_s=0, threads=1)


@pytest.mark.parametrize(("extent", "scale"), [(20_000, None), (16, 1e-6)])
def test_one_wrong_integer_of_many_counts_and_so_do_small_floats(extent: int, scale: float | None) -> None:
    problem = SchedulingProblem.from_pipeline(lambda: clamped_and_not(extent, scale), parallelism=1)
    with Stopwatch(QUICK) as stopwatch:
        timing = stopwatch.time(problem, manual_schedule(problem, slide))
    assert timing.outcome == "wrong_output" and timing.error.startswith(f"1 of {extent} points differ")


def test_a_step_of_a_narrow_type_is_no_wrong_output() -> None:
    """Two points of 8,192 are one step apart, more than the points that may differ by anything."""
    problem = SchedulingProblem.from_pipeline(rounded, parallelism=1)
    with Stopwatch(QUICK) as stopwatch:
        timing = stopwatch.time(problem, BeamSearch().plan(problem).schedule)
    assert timing.outcome == "ok", timing.error


def test_schedules_that_ask_for_larger_inputs_are_told_of() -> None:
    problem = SchedulingProblem.from_pipeline(reflected, parallelism=1)
    with Stopwatch(QUICK) as stopwatch:
        larger, root = manual_schedule(problem, round_up), manual_schedule(problem, at_root)
        timings = [stopwatch.time(problem, schedule) for schedule in (larger, root)]
        comparison = stopwatch.compare(problem, larger, root, rounds=1)
    words = "'image' from 0 to 127 in dimension 0, not 0 to 95"
    assert [timing.outcome for timing in timings] == ["ok", "ok"]
    assert [timing.larger_inputs for timing in timings] == [words, ""]
    assert [comparison.a.larger_inputs, comparison.b.larger_inputs] == [words, ""]
    assert Timing.from_dict(timings[0].to_dict()) == timings[0]


def test_what_depends_on_the_size_of_inputs_is_not_compared_with_that_of_another_size_unsaid() -> None:
    """Which is no fault of Halide's: on equal images, both are equal."""
    problem = SchedulingProblem.from_pipeline(mirrored, parallelism=2)
    with Stopwatch(QUICK) as stopwatch:
        timing = stopwatch.time(problem, BeamSearch().plan(problem).schedule)
    assert timing.outcome == "wrong_output" and "'image' from -" in timing.larger_inputs


def test_sliding_over_what_is_read_clamped_and_not_is_a_fault_of_halide() -> None:
    """The first iteration computes nothing: `if (0 < y) produce`.

    If this fails, Halide was mended, and docs/how-to/time-schedules.md is outdated.
    """
    problem = SchedulingProblem.from_pipeline(clamped_and_not, parallelism=1)
    with Stopwatch(QUICK) as stopwatch:
        slid, fresh = (
            stopwatch.time(problem, manual_schedule(problem, function)) for function in (slide, compute_each)
        )
    assert slid.outcome == "wrong_output" and "output 0 at (0) is" in slid.error
    assert fresh.outcome == "ok"


@pytest.mark.parametrize(("strict", "outcome"), [(False, "compile_error"), (True, "ok")])
def test_halide_does_not_vectorize_products_of_converted_bytes(strict: bool, outcome: str) -> None:
    """If this fails, Halide was mended, and docs/how-to/time-schedules.md is outdated."""
    x, image, scaled = hl.Var("x"), hl.ImageParam(hl.UInt(8), 1, "image"), hl.Func("scaled")
    image.set_estimates([(0, 64)])
    product = hl.f64(image[x]) * hl.f64(0.25)
    scaled[x] = hl.strict_float(product) if strict else product
    scaled.set_estimates([(0, 64)])
    problem = SchedulingProblem.from_pipeline(scaled, parallelism=1)
    with Stopwatch(QUICK) as stopwatch:
        timing = stopwatch.time(problem, manual_schedule(problem, vectorize))
    assert (timing.outcome, timing.error) == (outcome, "" if strict else "Halide gives no reason")
