"""Timing plans of transforms in the process that calls.

A stopwatch holds its arrays and its reference plan, and is kept between calls: a worker process asks it again and again.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from halidegym.envs.timing.machine import measuring, this_machine
from halidegym.envs.timing.measurements import Timing
from halidegym.envs.transform.random_input import transformed_by_numpy
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.native import _core


@dataclasses.dataclass(frozen=True)
class TimedPlan:
    """What a stopwatch found.

    Attributes:
        seconds: per run: as many times the reference's recorded median as the plan took times the reference's time;
            infinite if its output was wrong.
        relative_error: of its output against NumPy's transform.
        executed_s: spent in running it.
    """

    seconds: float
    relative_error: float
    executed_s: float


@functools.lru_cache(maxsize=4)
def _stopwatch(n: int, reference: str, seed: int) -> _core.TransformStopwatch:
    return _core.TransformStopwatch(n, reference, *transformed_by_numpy(n, seed))


def time_plans(
    n: int, reference: str, texts: Sequence[str], settings: TransformTimingSettings, turns: int
) -> list[TimedPlan]:
    """Time plans in turns with the reference, one after another."""
    stopwatch = _stopwatch(n, reference, settings.seed)
    timings = stopwatch.time(list(texts), turns=turns, sample_s=settings.sample_s, tolerance=settings.tolerance)
    return [TimedPlan(t.ratio * stopwatch.reference_s, t.relative_error, t.executed_s) for t in timings]


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
    """Time one plan as a finalist is timed, after a look at its output."""
    settings = settings or TransformTimingSettings()
    with measuring():
        error = _stopwatch(n, plan, settings.seed).error_of(plan)
        if not error <= settings.tolerance:
            wrong = "the input was changed, or a number left out" if math.isinf(error) else f"relative error {error}"
            return Timing("wrong_output", (), 0.0, wrong, machine=this_machine())
        (samples,) = take_turns(n, plan, [plan], settings, settings.final_rounds, settings.final_sample_s)
    return Timing("ok", tuple(samples), 0.0, disturbed=(False,) * len(samples), machine=this_machine())
