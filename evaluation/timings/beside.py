"""The schedule of a plan beside those of others, in cost and run time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import closing

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, TimingSettings, milliseconds
from halidegym.evaluation.arguments.schedule import Contender, find_schedule, needs_search
from halidegym.evaluation.arguments.timing import caching_timer
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.side_by_side import Row, side_by_side


@dataclasses.dataclass(frozen=True)
class TimedBeside:
    """A schedule that was timed in turns with others.

    Attributes:
        title: what was timed where.
        rows: how each came out, in order; that of the schedule in question is the last one.
        other_memory: it in turns with the one that all are compared with, where memory that a run frees goes back to the
            system if it is kept for the rows, and the other way round; None unless both run.
    """

    title: str
    rows: Sequence[Row]
    other_memory: Comparison | None


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
) -> TimedBeside:
    """Time a schedule in turns with others, and tell how fast each is relative to the first of these.

    Args:
        problem: of all of them.
        schedule: the one in question; it comes last.
        cost: its cost by the shipped weights, for its own number of cores; None if it is unknown.
        others: as `find_schedule` takes them.
        settings: how to time.

    Raises:
        InvalidParameter: one of the others stands for no schedule.
        Error: the trusted schedule fails.
    """
    other_way = dataclasses.replace(settings, keep_memory=not settings.keep_memory)
    with ScratchFolder() as cache, steps_bar(len(others) + 2) as on_step:
        found = {}
        for name in others:
            on_step(f"searching: {name}")
            found[name] = find_schedule(problem, name)
        is_comparable = schedule.problem.parallelism == problem.parallelism
        ours = Contender("this one", schedule, cost if is_comparable else None)
        on_step("compiling and timing")
        with closing(caching_timer(settings, database=None, again=False, cache=cache)) as timer:
            rows = side_by_side(problem, [*(found[name] for name in others), ours], timer)
            threads = timer.stopwatch.threads_for(problem)
        other_memory = None
        base = next((row.contender for row in rows[:-1] if row.is_base), None)
        if base is not None and rows[-1].comparison is not None and rows[-1].comparison.a.outcome == "ok":
            on_step("timing with other memory")
            with closing(caching_timer(other_way, database=None, again=False, cache=cache)) as timer:
                compared = timer.compare(problem, schedule, base.schedule)
            other_memory = compared if compared.a.outcome == compared.b.outcome == "ok" else None
    return TimedBeside(f"{problem.name} on {threads} threads, {this_machine().cpu}", rows, other_memory)


def memory_notes(timed: TimedBeside | None, settings: TimingSettings) -> list[str]:
    """What run times are in a program that treats memory otherwise, as far as there is anything to say.

    Args:
        timed: what was timed; None if a tuner has timed, and nothing beside others.
        settings: how.
    """
    if timed is None or timed.other_memory is None:
        return [_KEPT] if settings.keep_memory else []
    other = timed.other_memory
    base = next(row.contender.name for row in timed.rows if row.is_base)
    found = (
        f"this one takes {milliseconds(other.a.median_s)} ms, {other.ratio:.2f} [{other.low:.2f}, {other.high:.2f}] times "
        f"as fast as {base}"
    )
    if settings.keep_memory:
        return [
            "run times are of a process that keeps the memory which a run frees. Where all of it goes back to the system, "
            f"{found}; programs that leave it to glibc are in between ({_WHERE})."
        ]
    return [
        f"run times are of a process that gives back the memory which a run frees. Where it is kept, {found} ({_WHERE})."
    ]


_WHERE = "--return-memory; docs/how-to/time-schedules.md"
_KEPT = (
    "run times are of a process that keeps the memory which a run frees, and one that does not may take much longer; "
    f"--measure tells how long ({_WHERE})."
)
