"""`halidegym time`: schedules of a pipeline side by side."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from halidegym.envs.timing.machine import check_runs_here, this_machine
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.options import (
    SECONDS,
    SEED,
    Failure,
    Integer,
    parallelism_option,
    pipeline_options,
    target_option,
)
from halidegym.evaluation.arguments.paths import WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.arguments.schedule import find_schedule, needs_search, with_schedule_help
from halidegym.evaluation.arguments.timing import timing_options
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.side_by_side import notes, rows_table, side_by_side

_DEFAULT = ("beam", "greedy", "mullapudi2016", "li2018")


@click.command("time", cls=WritingCommand)
@click.argument("pipeline")
@click.argument("schedules", metavar="[SCHEDULE]...", nargs=-1)
@click.option(
    "--rounds", type=Integer(1), default=15, show_default=True,
    help="Turns that each takes; of fewer than 6, the range stands in place of the interval.",
)  # fmt: skip
@click.option("--search-seconds", type=SECONDS, help="Limit the time of each search.  [default: no limit]")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random numbers of the searches.")
@click.option(
    "--plan", "plans", type=click.Path(exists=True, dir_okay=False), multiple=True,
    help="Time also this plan, which `halidegym schedule --save` wrote; repeatable.",
)  # fmt: skip
@timing_options
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
@with_schedule_help
def time_command(
    pipeline: str,
    schedules: tuple[str, ...],
    rounds: int,
    search_seconds: float | None,
    seed: int,
    plans: tuple[str, ...],
    settings: TimingSettings,
    database: Path | None,
    again: bool,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    """Time schedules of a PIPELINE side by side.

    They take turns, and the speed of each is given relative to the first one that runs, as the median over the rounds with
    an interval of 95 %. Each runs in a process of its own, on random inputs of the estimated sizes, and must compute what
    the same pipeline computes with every Func at the root. A schedule that fails is shown as such. Rounds in which other
    processes took its cores away do not count, if there are others; if there are too few, it is marked "disturbed".

    If none of them runs, the exit status is 2.

    By default, these are beam, greedy, mullapudi2016 and li2018. Plans given by --plan come after them.
    """
    problem = load_problem(pipeline, target=target, parallelism=parallelism, details=details)
    check_runs_here(problem.target)
    names = tuple(dict.fromkeys([*(schedules or _DEFAULT), *plans]))
    with contextlib.closing(RecordingTimer(database, settings, remeasure=again)) as timer:
        with steps_bar(len(names) + 1) as on_step:
            found = {}
            for name in sorted(names, key=needs_search):  # so that a mistaken one is told before any search
                on_step(f"searching: {name}")
                found[name] = find_schedule(problem, name, seconds=search_seconds, seed=seed)
            contenders = [found[name] for name in names]
            on_step("compiling and timing")
            rows = side_by_side(problem, contenders, timer, rounds=rounds)
        threads = timer.stopwatch.threads_for(problem)
    title = f"{problem.name} on {threads} threads, {this_machine().cpu}"
    output_console().print(rows_table(title, rows, rounds=rounds))
    for note in notes(rows):
        click.echo(f"Note: {note}")
    if not any(row.is_base for row in rows):
        raise Failure(f"None of these schedules of {problem.name} runs; the table says why.")
