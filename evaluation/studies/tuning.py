"""What tuning by run time gives: against Halide's default autoscheduler, and against ways to measure that learn nothing."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halidegym.agents.budget import Budget
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.reference import Adams2019, AutoschedulerFailed
from halidegym.agents.tuner.autotune import Autotune
from halidegym.agents.tuner.plan import TunedPlan, TuningStep
from halidegym.agents.tuner.racing import SETTINGS, tuning_timer
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.measurements import Comparison
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.evaluation.studies.tuning_rivals import Rival, fastest_of
from halidegym.native._core import FormatError
from halidegym.native.fields import checked_fields

_REFERENCE_TIMEOUT_S, _LONG_COMPILATION_S = 40.0, 300.0

EXPERTS = {
    "harris": 4.79 / 3.17,
    "hist": 10.8 / 3.04,
    "unsharp": 10.1 / 4.72,
    "camera_pipe": 9.24 / 5.05,
    "interpolate": 40.4 / 9.67,
    "bilateral_grid": 24.4 / 18.0,
    "iir_blur": 47.2 / 24.1,
    "stencil_chain": 29.9 / 31.1,
    "bgu": 51.9 / 44.5,
    "conv_layer": 57.7 / 55.1,
    "local_laplacian": 280 / 86.7,
    "max_filter": 295 / 103,
    "nl_means": 186 / 279,
}
"""How many times as fast as Adams2019's the schedules of experts are, on another machine of two cores
(docs/specification/papers.md, section 2)."""


@dataclass(frozen=True)
class Faster:
    """How many times as fast as another schedule, in turns with it; NaN if either failed.

    Attributes:
        ratio: itself.
        low, high: its interval; see `Comparison`.
    """

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, comparison: Comparison) -> Faster:
        """The same without the samples."""
        return cls(comparison.ratio, comparison.low, comparison.high)


@dataclass(frozen=True)
class Beaten:
    """The fastest schedule of a rival, timed in turns with the others in the end.

    Attributes:
        rival: whose it is.
        measured: how many schedules the rival measured.
        to_default: how many times as fast as Halide's default its fastest one is.
        to_tuned: the same relative to the tuned schedule.
    """

    rival: Rival
    measured: int
    to_default: Faster
    to_tuned: Faster


@dataclass(frozen=True)
class Tuned:
    """Schedules of one pipeline, all timed in turns in the end.

    Attributes:
        measurements, failures: how many schedules `Autotune` measured, and how many of them failed.
        default_s, tuned_s: what Halide's default and the tuned schedule take; infinite if they failed.
        is_default_ours: whether the default is what our equal search finds, because the plugin takes too long.
        to_default: how many times as fast as the default the tuned schedule is.
        rivals: what it was compared with.
        seconds, search_seconds, compile_seconds, run_seconds, curve: as the plan of `Autotune` has them.
    """

    measurements: int
    failures: int
    default_s: float
    tuned_s: float
    is_default_ours: bool
    to_default: Faster
    rivals: tuple[Beaten, ...]
    seconds: float
    search_seconds: float
    compile_seconds: float
    run_seconds: float
    curve: tuple[TuningStep, ...]

    def rival(self, name: Rival) -> Beaten | None:
        """One of the rivals; None if it was not asked for."""
        return next((beaten for beaten in self.rivals if beaten.rival == name), None)

    def to_json(self) -> str:
        """In a line, for `from_json`."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str, origin: str) -> Tuned:
        """What `to_json` wrote.

        Args:
            text: of it.
            origin: what errors call the file that it is from.

        Raises:
            FormatError: it is something else.
        """
        try:
            fields = json.loads(text)
            parts = {
                "to_default": Faster(**fields["to_default"]),
                "rivals": tuple(map(_beaten, fields["rivals"])),
                "curve": tuple(TuningStep(**step) for step in fields["curve"]),
            }
            return _checked_amounts(checked_fields(cls(**{**fields, **parts})))
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(
                f"{origin} has a line that is no result of tuning ({error!r}); remove the line, or the file"
            ) from error


def _checked_amounts(found: Tuned) -> Tuned:
    """Refuse numbers that come of no run; only ratios may be NaN, and only times infinite."""
    faster = [found.to_default, *(each for beaten in found.rivals for each in (beaten.to_default, beaten.to_tuned))]
    ratios = [number for each in faster for number in vars(each).values() if not math.isnan(number)]
    ratios += [step.speedup for step in found.curve]
    counts = [number for part in (found, *found.rivals) for number in vars(part).values() if type(number) is int]
    seconds = [found.seconds, found.search_seconds, found.compile_seconds, found.run_seconds]
    seconds += [step.seconds for step in found.curve]
    if not (
        all(0 < ratio < math.inf for ratio in ratios)
        and found.default_s > 0 < found.tuned_s
        and all(0 <= number < math.inf for number in (*counts, *seconds))
    ):
        raise ValueError("a ratio or time is not above zero, or a count is negative")
    return found


def _beaten(fields: dict[str, Any]) -> Beaten:
    return Beaten(**{**fields, **{name: Faster(**fields[name]) for name in ("to_default", "to_tuned")}})


@dataclass(frozen=True)
class TuningRun:
    """One pipeline as it was tuned, for a file of runs.

    Attributes:
        pipeline, problem, version, machine, budget, seed, against: what was run: as it was named, and what that was; by
            which halidegym; the machine's fingerprint; for how long; the rivals.
        result: what came of it, a `Tuned` as JSON.
    """

    pipeline: str
    problem: str
    version: str
    machine: str
    budget: str
    seed: int
    against: str
    result: str

    @property
    def key(self) -> tuple[str, str, str, str, str, int, str]:
        """What was run."""
        return self.pipeline, self.problem, self.version, self.machine, self.budget, self.seed, self.against


def tune_and_compare(
    problem: SchedulingProblem,
    budget: Budget,
    *,
    seed: int = 0,
    agent: Autotune,
    rivals: Sequence[Rival] = (),
) -> Tuned:
    """Tune, let the rivals measure in the same way, and compare the winners.

    Args:
        problem: to schedule.
        budget: of seconds, measurements or both: for the tuner, and again for Halide's recipe. Draws are as many as the
            tuner has measured.
        seed: of the random numbers.
        agent: the tuner.
        rivals: whom to compare with.

    Raises:
        Error: the pipeline cannot be timed.
    """
    with tuning_timer() as timer:
        plan = agent.plan(problem, **vars(budget), seed=seed, timer=timer, progress=True)
    assert isinstance(plan, TunedPlan)
    budgets = {"draws": Budget(measurements=max(plan.measurements or 0, 1)), "recipe": budget}
    found = []
    for name in rivals:
        with tuning_timer() as timer:  # anew, so that nobody gains by what others have compiled
            found.append(fastest_of(name, problem, budgets[name], seed=seed, timer=timer, agent=agent))
    default, is_ours = _default(problem)
    fastest = [schedule for schedule, _ in found]
    # Nothing is answered from the record here: it knows some of these pairs by few turns. A default may take minutes to
    # compile, of which a search that tries many schedules gives none that many.
    with Stopwatch(dataclasses.replace(SETTINGS, compile_timeout_s=_LONG_COMPILATION_S)) as stopwatch:
        tuned_to_default, *to_defaults = _compare(stopwatch, problem, [plan.schedule, *fastest], default)
        to_tuneds = _compare(stopwatch, problem, fastest, plan.schedule) if fastest else []
    beaten = [
        Beaten(name, count, Faster.of(to_default), Faster.of(to_tuned))
        for name, (_, count), to_default, to_tuned in zip(rivals, found, to_defaults, to_tuneds, strict=True)
    ]
    return Tuned(
        measurements=plan.measurements or 0,
        failures=plan.failures,
        default_s=tuned_to_default.b.median_s,
        tuned_s=tuned_to_default.a.median_s,
        is_default_ours=is_ours,
        to_default=Faster.of(tuned_to_default),
        rivals=tuple(beaten),
        seconds=plan.seconds,
        search_seconds=plan.search_seconds,
        compile_seconds=plan.compile_seconds,
        run_seconds=plan.run_seconds,
        curve=plan.curve,
    )


def _default(problem: SchedulingProblem) -> tuple[ScheduleLike, bool]:
    """Halide's own schedule, or ours, which is equal where both were run, if Halide takes too long."""
    try:
        return Adams2019().plan(problem, seconds=_REFERENCE_TIMEOUT_S).schedule, False
    except AutoschedulerFailed:
        return BeamSearch().plan(problem).schedule, True


def _compare(
    stopwatch: Stopwatch, problem: SchedulingProblem, schedules: Sequence[ScheduleLike], baseline: ScheduleLike
) -> list[Comparison]:
    by_work = stopwatch.threads_for(problem) == 1
    return stopwatch.compare_all(problem, schedules, baseline, by_work=by_work)
