"""Schedules measured in turns with a baseline, so that whatever else the machine does hits all of them alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from halidegym.agents.proposals import Proposal
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.measurements import Comparison, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer, Timer

SETTINGS = TimingSettings(time_limit_s=1.0, patience_s=1.0, timeout_s=30.0, compile_timeout_s=60.0)
"""How a tuning run times schedules unless it is told otherwise: many, and so not for long."""

SCREENING_ROUNDS = 2
"""Turns that a schedule takes when it is screened."""

_WORTH = 0.7  # who is not so many times as fast as the fastest so far in a first turn gets no more of them
_STEPS = 4  # of a baseline's speed: among records, those of a run that went a little differently are found, too


@contextmanager
def tuning_timer(
    database: Path | str | None = None, settings: TimingSettings | None = None
) -> Iterator[RecordingTimer]:
    """A timer for tuning runs, which compiles no schedule twice.

    Args:
        database: to record in and to answer from: a run that was cut off goes on where it was; None keeps nothing.
        settings: how to time; None for `SETTINGS`.
    """
    with ScratchFolder() as kernels:
        stopwatch = Stopwatch(SETTINGS if settings is None else settings, kernels=kernels)
        with closing(RecordingTimer(database, stopwatch=stopwatch)) as timer:
            yield timer


def screen(
    timer: Timer,
    problem: SchedulingProblem,
    proposals: Sequence[Proposal],
    baseline: ScheduleLike,
    best_speed: float,
    compile_within_s: float,
) -> list[Comparison]:
    """Compare schedules with a baseline in a few turns; those that are slow beside the fastest so far get but one.

    Args:
        timer: measures.
        problem: to schedule.
        proposals: the schedules.
        baseline: what they are compared with.
        best_speed: how many times as fast as that the fastest so far is.
        compile_within_s: see `Stopwatch.compare_all`.
    """
    schedules = [Schedule.from_state(problem, proposal.state) for proposal in proposals]
    costs = [cost_for(problem, proposal) for proposal in proposals]
    if isinstance(timer, RecordingTimer):
        by_work = timer.stopwatch.threads_for(problem) == 1
        return timer.compare_all(
            problem,
            schedules,
            baseline,
            costs=costs,
            rounds=SCREENING_ROUNDS,
            worth=_WORTH * max(1.0, math.floor(_STEPS * best_speed) / _STEPS),
            by_work=by_work,
            compile_within_s=compile_within_s,
        )
    return [timer.compare(problem, s, baseline, costs=(c, None)) for s, c in zip(schedules, costs, strict=True)]


def decide(
    timer: Timer,
    problem: SchedulingProblem,
    schedules: Sequence[ScheduleLike],
    favourite: ScheduleLike,
    within_s: float,
) -> list[Comparison]:
    """Compare schedules with the one that seems fastest in as many turns as it takes to tell, or as there is time for."""
    if isinstance(timer, RecordingTimer):
        by_work = timer.stopwatch.threads_for(problem) == 1
        return timer.compare_all(problem, schedules, favourite, by_work=by_work, turns_within_s=within_s)
    return [timer.compare(problem, schedule, favourite) for schedule in schedules]


def cost_for(problem: SchedulingProblem, proposal: Proposal) -> float | None:
    """The proposal's cost, if it is one for the problem's number of cores."""
    return proposal.cost if proposal.parallelism == problem.parallelism else None
