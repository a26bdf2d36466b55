"""The schedule of a plan beside those of others, in cost and run time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.schedule import Contender, find_schedule, needs_search
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.side_by_side import Row, side_by_side


def check_others(problem: SchedulingProblem, others: Sequence[str]) -> None:
    """Refuse, before any search, what stands for no schedule.

    Raises:
        InvalidParameter: one of the others does.
    """
    for name in others:
        if not needs_search(name):
            find_schedule(problem, name)


def time_beside(
    problem: SchedulingProblem, schedule: Schedule, cost: float | None, others: Sequence[str], settings: TimingSettings
) -> tuple[str, list[Row]]:
    """Time a schedule in turns with others, and tell how fast each is relative to the first of these.

    Args:
        problem: of all of them.
        schedule: the one in question; it comes last.
        cost: its cost by the shipped weights, for its own number of cores; None if it is unknown.
        others: as `find_schedule` takes them.
        settings: how to time.

    Returns:
        What was timed where, and how each came out, in order.

    Raises:
        InvalidParameter: one of the others stands for no schedule.
        Error: the trusted schedule fails.
    """
    with closing(RecordingTimer(settings=settings)) as timer, steps_bar(len(others) + 1) as on_step:
        found = {}
        for name in others:
            on_step(f"searching: {name}")
            found[name] = find_schedule(problem, name)
        is_comparable = schedule.problem.parallelism == problem.parallelism
        ours = Contender("this one", schedule, cost if is_comparable else None)
        on_step("compiling and timing")
        rows = side_by_side(problem, [*(found[name] for name in others), ours], timer)
        threads = timer.stopwatch.threads_for(problem)
    return f"{problem.name} on {threads} threads, {this_machine().cpu}", rows
