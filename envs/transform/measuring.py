"""Timing plans of transforms in the process that calls.

A stopwatch holds its arrays and its reference plan, and is kept between calls: a worker process asks it again and again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

from halidegym.envs.timing.machine import measuring, this_machine
from halidegym.envs.timing.measurements import Timing
from halidegym.envs.transform.random_input import transformed_by_numpy
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.native import _core
from halidegym.native.checks import check_kind


class TimedPlan(NamedTuple):
    """What a stopwatch found: a plan and the reference plan in turns.

    All times are in terms of the reference's recorded median: as if the machine had been as fast as when the stopwatch was
    made. So the least of the reference's samples is that median.

    Attributes:
        samples_s: seconds per run, one a turn; none if the output was wrong.
        reference_samples_s: the same of the reference.
        relative_error: of the output against NumPy's transform.
        executed_s: spent in running the plan.
    """

    samples_s: tuple[float, ...]
    reference_samples_s: tuple[float, ...]
    relative_error: float
    executed_s: float

    @property
    def seconds(self) -> float:
        """Per run: the least sample, as disturbances only add; infinite if the output was wrong."""
        return min(self.samples_s, default=math.inf)


@functools.lru_cache(maxsize=4)
def _stopwatch(n: int, reference: str, seed: int) -> _core.TransformStopwatch:
    return _core.TransformStopwatch(n, reference, *transformed_by_numpy(n, seed))


def time_plans(
    n: int, reference: str, texts: Sequence[str], settings: TransformTimingSettings, turns: int
) -> list[TimedPlan]:
    """Time plans in turns with the reference, one after another."""
    stopwatch = _stopwatch(n, reference, settings.seed)
    timings = stopwatch.time(list(texts), turns=turns, sample_s=settings.sample_s, tolerance=settings.tolerance)
    return [_undrifted(timing, stopwatch.reference_s) for timing in timings]


def _undrifted(timing: _core.TransformTiming, reference_s: float) -> TimedPlan:
    drift = reference_s / min(timing.reference_samples_s, default=reference_s)
    own, reference = ([drift * s for s in samples] for samples in (timing.samples_s, timing.reference_samples_s))
    return TimedPlan(tuple(own), tuple(reference), timing.relative_error, timing.executed_s)


def take_turns(
    n: int, reference: str, texts: Sequence[str], settings: TransformTimingSettings, rounds: int, sample_s: float
) -> list[list[float]]:
    """Seconds per run of each plan in each round."""
    return _stopwatch(n, reference, settings.seed).take_turns(list(texts), rounds=rounds, sample_s=sample_s)


def take_turns_at(
    n: int,
    reference: str,
    problem: _core.TransformProblem,
    ways: Sequence[str],
    settings: TransformTimingSettings,
    rounds: int,
    sample_s: float,
) -> list[list[float]]:
    """The same for sub-plans of one problem, in isolation."""
    stopwatch = _stopwatch(n, reference, settings.seed)
    return stopwatch.take_turns_at(problem, list(ways), rounds=rounds, sample_s=sample_s)


def time_alone(n: int, plan: str, settings: TransformTimingSettings | None) -> Timing:
    """Time one plan as a finalist is timed, after a look at its output.

    Raises:
        InvalidParameter: `settings` are something else.
    """
    check_kind(TransformTimingSettings, settings=settings)
    settings = settings or TransformTimingSettings()
    with measuring():
        error = _stopwatch(n, plan, settings.seed).error_of(plan)
        if not error <= settings.tolerance:
            wrong = "the input was changed, or a number left out" if math.isinf(error) else f"relative error {error}"
            return Timing("wrong_output", (), 0.0, wrong, machine=this_machine())
        (samples,) = take_turns(n, plan, [plan], settings, settings.final_rounds, settings.final_sample_s)
    return Timing("ok", tuple(samples), 0.0, disturbed=(False,) * len(samples), machine=this_machine())
