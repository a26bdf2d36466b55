"""Several schedules of a problem, timed in turns, as rows of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rich.markup import escape

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.envs.timing.turns import MIN_ROUNDS
from halidegym.evaluation.arguments.schedule import Contender
from halidegym.evaluation.output.console import Table, name_columns, number_columns
from halidegym.evaluation.output.run_times import least_ms, left_out, median_ms, outcome, speed


@dataclasses.dataclass(frozen=True)
class Row:
    """A schedule and how long it takes.

    Attributes:
        contender: the schedule.
        timing: None if there is no schedule.
        comparison: with the first schedule that runs; None for that one itself, and where one of the two is missing.
    """

    contender: Contender
    timing: Timing | None = None
    comparison: Comparison | None = None

    @property
    def is_base(self) -> bool:
        """Whether it is the schedule that the others are compared with."""
        return self.timing is not None and self.timing.outcome == "ok" and self.comparison is None

    @property
    def cost(self) -> str:
        """Of the cost model."""
        return "-" if self.contender.cost is None else f"{self.contender.cost:.4g}"


def side_by_side(
    problem: SchedulingProblem, contenders: Sequence[Contender], timer: RecordingTimer, *, rounds: int = 15
) -> list[Row]:
    """Time schedules in turns. The first that runs is the one that the others are compared with.

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
    while present:
        first, *others = present
        base = contenders[first]
        if not others:
            rows[first] = Row(base, timer.time(problem, base.schedule, cost=base.cost))
            break
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
        if comparisons[0].b.outcome == "ok":
            break
        present = [index for index, comparison in zip(others, comparisons, strict=True) if comparison.a.outcome == "ok"]
    return rows


def notes(rows: Sequence[Row]) -> list[str]:
    """What to know of schedules that run, and why others do not or compute something else; as far as no row tells it."""
    found = []
    for row in rows:
        if row.timing is not None and row.timing.outcome == "wrong_output":
            found.append(why_wrong(row.contender.name, row.timing))
        elif row.timing is not None and row.timing.outcome == "ok" and row.timing.larger_inputs:
            found.append(larger_inputs_note(row.contender.name, row.timing.larger_inputs))
        elif reason := left_out(row.timing, row.contender.failure):
            found.append(f"{row.contender.name} fails: {reason}")
    return found


def why_wrong(name: str, timing: Timing) -> str:
    """Why a schedule computes something else than the pipeline."""
    if timing.larger_inputs:
        return (
            f"{name} asks for more of the inputs than the pipeline itself ({timing.larger_inputs}), and what is computed "
            "depends on their sizes, as with mirror_image."
        )
    return f"{name} computes something else: Halide 21 compiles some schedules wrongly (docs/how-to/time-schedules.md)."


def larger_inputs_note(name: str, larger_inputs: str) -> str:
    """Of a schedule that asks for more of the inputs than the pipeline itself."""
    return f"{name} asks for more of the inputs than the pipeline itself: {larger_inputs}. It does not run on less."


def rows_table(title: str, rows: Sequence[Row], *, rounds: int = MIN_ROUNDS) -> Table:
    """Return the rows, of so many rounds at most, as a table to print."""
    interval = "an interval of 95 %" if rounds >= MIN_ROUNDS else "the range of the rounds"
    base = next((row.contender.name for row in rows if row.is_base), None)
    table = Table(
        *name_columns("Schedule"),
        *number_columns("Cost", "Median, ms", "Least, ms", "Speed", "Compile, s"),
        "Outcome",
        title=escape(title),
        caption=None if base is None else f"Speed is relative to {escape(base)}, with {interval}.",
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
