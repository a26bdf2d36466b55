"""Run time of schedules on this machine: the short way to `Stopwatch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.turns import MOST_ROUNDS
from halidegym.native.checks import check_given

__all__ = ["Comparison", "Timing", "TimingSettings", "compare_schedules", "run_schedule", "time_schedule"]


def time_schedule(
    problem: SchedulingProblem,
    schedule: ScheduleLike,
    *,
    threads: int | None = None,
    inputs: Mapping[str, NDArray[Any]] | None = None,
    **settings: Any,
) -> Timing:
    """Compile a schedule and measure its run time. A schedule that fails is a result, not an exception.

    For more than one schedule, a `Stopwatch` saves the time to start the compiler.

    Args:
        problem: the problem; outputs have its estimated sizes, inputs and parameters their estimates.
        schedule: a `Schedule` or `ReferenceSchedule` of it, or None for the pipeline as its author left it.
        threads: threads to run on; by default the parallelism of the problem, but no more than there are usable cores.
        inputs: input name to an array for it; see `Stopwatch`.
        **settings: other fields of `TimingSettings`.

    Raises:
        InvalidParameter: a setting is out of its range, an array does not fit, or there is no problem.
        Error: the trusted schedule fails, so that outputs cannot be verified.
    """
    check_given(SchedulingProblem, problem=problem)
    with Stopwatch(TimingSettings(threads=threads, **settings), inputs=inputs) as stopwatch:
        return stopwatch.time(problem, schedule)


def compare_schedules(
    problem: SchedulingProblem,
    a: ScheduleLike,
    b: ScheduleLike,
    *,
    rounds: int = MOST_ROUNDS,
    threads: int | None = None,
    inputs: Mapping[str, NDArray[Any]] | None = None,
    **settings: Any,
) -> Comparison:
    """Measure which of two schedules is faster, in turns, so that a drift of the machine's speed hits both alike.

    Args:
        problem: as for `time_schedule`.
        a: the first schedule.
        b: the second.
        rounds: how many turns each takes at most.
        threads: as for `time_schedule`.
        inputs: likewise.
        **settings: likewise.

    Raises:
        InvalidParameter: `rounds` is below 1, or as for `time_schedule`.
        Error: as for `time_schedule`.
    """
    check_given(SchedulingProblem, problem=problem)
    with Stopwatch(TimingSettings(threads=threads, **settings), inputs=inputs) as stopwatch:
        return stopwatch.compare(problem, a, b, rounds=rounds)


def run_schedule(
    problem: SchedulingProblem,
    schedule: ScheduleLike,
    *,
    threads: int | None = None,
    inputs: Mapping[str, NDArray[Any]] | None = None,
    **settings: Any,
) -> list[NDArray[np.generic]]:
    """Run a schedule once, on the inputs on which `time_schedule` times it.

    Returns:
        The outputs, tuple elements apart, with the axes of NumPy: the innermost dimension last.

    Raises:
        CompileError: the schedule does not compile.
        Error: it fails when it runs.
        InvalidParameter: as for `time_schedule`.
    """
    check_given(SchedulingProblem, problem=problem)
    with Stopwatch(TimingSettings(threads=threads, **settings), inputs=inputs, compilers=1) as stopwatch:
        return stopwatch.run(problem, schedule)
