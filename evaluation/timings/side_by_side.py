"""Several schedules of a problem, timed in turns, as rows of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.schedule import Contender
from halidegym.evaluation.output.console import name_columns, number_columns
from halidegym.evaluation.output.run_times import least_ms, median_ms, outcome, speed


@dataclasses.dataclass(frozen=True)
class Row:
    """A schedule and how long it takes.

    Attributes:
        contender: the schedule.
        timing: None if there is no schedule.
        comparison: with the first schedule; None for that one itself, and where one of the two is missing.
    """

    contender: Contender
    timing: Timing | None = None
    comparison: Comparison | None = None

    @property
    def cost(self) -> str:
        """Of the cost model."""
        return "-" if self.contender.cost is None else f"{self.contender.cost:.4g}"


def side_by_side(
    problem: SchedulingProblem, contenders: Sequence[Contender], timer: RecordingTimer, *, rounds: int = 15
) -> list[Row]:
    """Time schedules in turns. The first that exists is the one that the others are compared with.

    Args:
        problem: of all of them.
        contenders: the schedules.
        timer: to measure with.
        rounds: how many turns each takes at most.

    Raises:
        Error: the trusted schedule fails.
    """
    present = [index for index, contender in enumerate(contenders) if not contender.failure]
    rows = [Row(contender) for contender in contenders]
    if not present:
        return rows
    first, *others = present
    base = contenders[first]
    if others:
        comparisons = timer.compare_all(
            problem,
            [contenders[index].schedule for index in others],
            base.schedule,
            costs=[contenders[index].cost for index in others],
            rounds=rounds,
        )
        rows[first] = Row(base, comparisons[0].b)
        for index, comparison in zip(others, comparisons, strict=True):
            rows[index] = Row(contenders[index], comparison.a, comparison)
    else:
        rows[first] = Row(base, timer.time(problem, base.schedule, cost=base.cost))
    return rows


def rows_table(title: str, rows: Sequence[Row]) -> Table:
    """Return the rows as a table to print."""
    table = Table(
        *name_columns("Schedule"),
        *number_columns("Cost", "Median, ms", "Least, ms", "Speed", "Compile, s"),
        "Outcome",
        title=escape(title),
        caption=f"Speed is relative to {escape(rows[0].contender.name)}, with an interval of 95 %.",
        title_justify="left",
        caption_justify="left",
    )
    for row in rows:
        compile_s = "-" if row.timing is None else f"{row.timing.compile_s:.1f}"
        table.add_row(
            escape(row.contender.name),
            row.cost,
            median_ms(row.timing),
            least_ms(row.timing),
            escape(speed(row.comparison)),
            compile_s,
            escape(outcome(row.timing, row.contender.failure)),
        )
    return table
