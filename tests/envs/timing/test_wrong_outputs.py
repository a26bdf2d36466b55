"""Halide 21 compiles some legal schedules wrongly; such a schedule gets no run time."""

from __future__ import annotations

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.manual_schedule import manual_schedule
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch


def clamped_and_not() -> hl.Func:
    """A Func that its consumer reads at a coordinate and at the same one clamped, as with `repeat_edge`."""
    y = hl.Var("y")
    produced, consumed = hl.Func("produced"), hl.Func("consumed")
    produced[y] = y + 1
    consumed[y] = produced[hl.clamp(y, 0, 15)] + produced[y]
    consumed.set_estimates([(0, 16)])
    return consumed


def slide(produced: hl.Func, consumed: hl.Func) -> None:
    produced.store_root().compute_at(consumed, consumed.args()[0])


def compute_each(produced: hl.Func, consumed: hl.Func) -> None:
    produced.compute_at(consumed, consumed.args()[0])


def test_sliding_over_what_is_read_clamped_and_not_is_a_fault_of_halide() -> None:
    """The first iteration computes nothing: `if (0 < y) produce`.

    If this fails, Halide was mended, and docs/how-to/time-schedules.md is outdated.
    """
    problem = SchedulingProblem.from_pipeline(clamped_and_not, parallelism=1)
    with Stopwatch(TimingSettings(time_limit_s=0.01, patience_s=0, threads=1)) as stopwatch:
        slid, fresh = (
            stopwatch.time(problem, manual_schedule(problem, function)) for function in (slide, compute_each)
        )
    assert slid.outcome == "wrong_output" and "output 0 at (0) is" in slid.error
    assert fresh.outcome == "ok"
