"""`halidegym time`: schedules of a pipeline side by side."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.options import (
    parallelism_option,
    pipeline_options,
    target_option,
    with_pipeline_help,
)
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.arguments.schedule import find_schedule
from halidegym.evaluation.arguments.timing import timing_options
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.side_by_side import Row, side_by_side

_DEFAULT = ("beam", "greedy", "mullapudi2016", "li2018")


@click.command("time")
@click.argument("pipeline")
@click.argument("schedules", metavar="[SCHEDULE]...", nargs=-1)
@click.option("--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Turns that each takes.")
@click.option("--search-seconds", type=float, help="Limit the time of each search.  [default: no limit]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers of the searches.")
@timing_options
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def time_command(
    pipeline: str,
    schedules: tuple[str, ...],
    rounds: int,
    search_seconds: float | None,
    seed: int,
    settings: TimingSettings,
    database: Path | None,
    again: bool,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    r"""Time schedules of a PIPELINE side by side.

    They take turns, and the speed of each is given relative to the first one, as the median over the rounds with an
    interval of 95 %. Each runs in a process of its own, on random inputs of the estimated sizes, and must compute what
    the same pipeline computes with every Func at the root. A schedule that fails is shown as such. Rounds in which other
    processes took its cores away do not count, if there are others; if there are too few, it is marked "disturbed".

    \b
    A SCHEDULE is one of
      greedy, beam, random              found by our planners,
      adams2019, mullapudi2016, li2018  found by Halide's own autoschedulers,
      root                              every Func at the root,
      unscheduled                       the pipeline as its author left it,
      plan.json                         a plan that `halidegym schedule --save` wrote.
    [default: beam greedy mullapudi2016 li2018]
    """
    problem = load_problem(pipeline, target=target, parallelism=parallelism, details=details)
    names = tuple(dict.fromkeys(schedules or _DEFAULT))
    with contextlib.closing(RecordingTimer(database, settings, remeasure=again)) as timer:
        with steps_bar(len(names) + 1) as on_step:
            candidates = []
            for name in names:
                on_step(f"searching: {name}")
                candidates.append(find_schedule(problem, name, seconds=search_seconds, seed=seed))
            on_step("compiling and timing")
            rows = side_by_side(problem, candidates, timer, rounds=rounds)
        threads = timer.stopwatch.threads_for(problem)
    Console().print(_table(f"{problem.name} on {threads} threads, {this_machine().cpu}", rows))


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(
        title=escape(title),
        caption=f"Speed is relative to {escape(rows[0].candidate.name)}, with an interval of 95 %.",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("Schedule")
    for column in ("Cost", "Median, ms", "Least, ms", "Speed", "Compile, s"):
        table.add_column(column, justify="right")
    table.add_column("Outcome")
    for row in rows:
        compile_s = "-" if row.timing is None else f"{row.timing.compile_s:.1f}"
        table.add_row(
            escape(row.candidate.name),
            row.cost,
            row.median_ms,
            row.min_ms,
            escape(row.speedup),
            compile_s,
            escape(row.outcome),
        )
    return table
