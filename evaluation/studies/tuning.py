"""What tuning by run time gives: against Halide's default autoscheduler, and against ways to measure that learn nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.reference import Adams2019, AutoschedulerFailed
from halidegym.agents.tuner.autotune import Autotune
from halidegym.agents.tuner.plan import TunedPlan
from halidegym.agents.tuner.racing import SETTINGS, tuning_timer
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.measurements import Comparison
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.evaluation.studies.tuning_rivals import Rival, fastest_of

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
class Beaten:
    """The fastest schedule of a rival, timed in turns with the others in the end.

    Attributes:
        measured: how many schedules the rival measured.
        to_default: how many times as fast as Halide's default its fastest one is.
        to_tuned: the same relative to the tuned schedule.
    """

    measured: int
    to_default: Comparison
    to_tuned: Comparison


@dataclass(frozen=True)
class Tuned:
    """Schedules of one pipeline, all timed in turns in the end.

    Attributes:
        plan: the plan of `Autotune`.
        to_default: how many times as fast as Halide's default it is.
        is_default_ours: whether the default is what our equal search finds, because the plugin takes too long.
        rivals: what it was compared with.
    """

    plan: TunedPlan
    to_default: Comparison
    is_default_ours: bool
    rivals: Mapping[Rival, Beaten]


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
        tuned_to_default, *to_default = _compare(stopwatch, problem, [plan.schedule, *fastest], default)
        to_tuned = _compare(stopwatch, problem, fastest, plan.schedule) if fastest else []
    beaten = [Beaten(count, *each) for (_, count), *each in zip(found, to_default, to_tuned, strict=True)]
    return Tuned(plan, tuned_to_default, is_ours, dict(zip(rivals, beaten, strict=True)))


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
