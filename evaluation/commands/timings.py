"""`halidegym timings`: planners and reference autoschedulers on many pipelines, as a table."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Column, Table

from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.evaluation.arguments.options import (
    parallelism_option,
    pipeline_options,
    target_option,
)
from halidegym.evaluation.arguments.paths import OutputFile
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.arguments.schedule import Contender, find_schedule
from halidegym.evaluation.arguments.timing import cache_options, caching_timer, timing_options
from halidegym.evaluation.output.console import name_columns, output_console
from halidegym.evaluation.output.pages import marked_table, with_tables, write_table
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.schedule_store import find_or_load
from halidegym.evaluation.timings.side_by_side import Row, side_by_side
from halidegym.native._core import Error

_SCHEDULES = ("greedy", "beam", "adams2019", "mullapudi2016", "li2018")
_COLUMNS = ("Pipeline", "Schedule", "Cost", "Median, ms", "Minimum, ms", "Speed relative to greedy", "Outcome")


@click.command("timings")
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option("--suite", default="papers-v1", show_default=True, help="Pipelines to time, if none is named.")
@click.option(
    "--schedules", default=",".join(_SCHEDULES), show_default=True, help="What to time; see `halidegym time`."
)
@click.option("--seconds", type=float, help="Begin no more pipelines after this time.")
@click.option("--search-seconds", type=float, default=60.0, show_default=True, help="Limit the time of each search.")
@click.option("--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Turns that each takes.")
@click.option("--output", type=OutputFile(), help="Also write this Markdown page, and its table as CSV beside it.")
@cache_options
@timing_options
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def timings_command(
    names: tuple[str, ...],
    suite: str,
    schedules: str,
    seconds: float | None,
    search_seconds: float,
    rounds: int,
    output: Path | None,
    cache: Path | None,
    prepare: bool,
    settings: TimingSettings,
    database: Path | None,
    again: bool,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    """Time planners and Halide's own autoschedulers on many pipelines.

    On each PIPELINE they are run, their schedules are compiled, and timed in turns. What fails is shown as such.

    Searching and compiling take longer than timing, and need no quiet machine. So do them first, with --cache and
    --prepare; then the same command without --prepare times what it finds there. With --database as well, a run that was
    cut off goes on where it ended.
    """
    chosen = names or tuple(pipelines.names(suite))
    kinds = schedules.split(",")
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    table: list[tuple[str, ...]] = []
    threads = 0
    with (
        contextlib.closing(caching_timer(settings, database, again, cache)) as timer,
        steps_bar((len(kinds) + 1) * len(chosen)) as on_step,
    ):
        for name in chosen:
            if time.monotonic() > deadline:
                table.append((name, "", "", "", "", "", "not begun in time"))
                continue
            # A fresh process: Func names, which Halide numbers a process, are part of what is kept.
            problem = run_isolated(load_problem, name, target=target, parallelism=parallelism, details=details)
            contenders: list[Contender] = []
            for kind in kinds:
                on_step(f"{name}: searching: {kind}")
                contenders.append(_search(cache, problem, kind, search_seconds))
            on_step(f"{name}: compiling" if prepare else f"{name}: compiling and timing")
            if prepare:
                timer.stopwatch.compile(problem, [found.schedule for found in contenders if not found.failure])
                continue
            threads = timer.stopwatch.threads_for(problem)
            try:
                rows = side_by_side(problem, contenders, timer, rounds=rounds)
            except Error as error:
                table.append((problem.name, "", "", "", "", "", str(error)))
                continue
            table.extend((problem.name, *_cells(row)) for row in rows)
            if output is not None:
                _write(output, table, threads)
    if prepare:
        return
    output_console().print(_rich(table))
    if output is not None:
        _write(output, table, threads)


def _search(cache: Path | None, problem: SchedulingProblem, kind: str, seconds: float) -> Contender:
    if cache is None:
        return find_schedule(problem, kind, seconds=seconds)
    return find_or_load(cache / "plans", problem, kind, seconds=seconds)


def _cells(row: Row) -> tuple[str, ...]:
    return row.contender.name, row.cost, row.median_ms, row.min_ms, row.speedup, row.outcome


def _rich(table: Sequence[tuple[str, ...]]) -> Table:
    pipeline, schedule, *others = _COLUMNS
    columns = [*name_columns(pipeline, schedule), *(Column(name, overflow="fold") for name in others)]
    result = Table(*columns, title=f"Run times on {this_machine().cpu}", title_justify="left")
    for row in table:
        result.add_row(*map(escape, row))
    return result


def _write(page: Path, table: Sequence[tuple[str, ...]], threads: int) -> None:
    values = page.with_suffix(".csv")
    machine, today = this_machine(), dt.datetime.now(tz=dt.timezone.utc).date()
    lines = [
        "# Run times of the benchmark pipelines",
        "",
        f"Measured on {today} with {threads} threads on {machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB,",
        f"Halide {machine.halide_version}; machine fingerprint `{machine.fingerprint}`. Made by",
        "",
        f"    halidegym {' '.join(sys.argv[1:])}",
        "",
        "Schedules of a pipeline take turns, each turn in a fresh process; the speed is relative to the first one, as the",
        "median over the rounds with an interval of 95 %. After the median time, ± is half the range of its middle half of",
        "samples. A row is *disturbed* where other processes took cores away in all samples: its times are too long, and",
        "its ratio is that of a busy machine.",
        "",
        marked_table(values.name),
    ]
    write_table(values, _COLUMNS, table)
    page.write_text(with_tables("\n".join(lines), page.parent), encoding="utf-8")
