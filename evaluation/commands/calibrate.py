"""`halidegym calibrate`: how well the cost model orders schedules on this machine."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.evaluation.arguments.options import (
    SECONDS,
    SEED,
    Integer,
    parallelism_option,
    pipeline_options,
    target_option,
)
from halidegym.evaluation.arguments.paths import PageFile, WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.arguments.timing import cache_options, caching_timer, timing_options
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.plots import check_plot_file
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.calibration import Calibration, calibrate, compile_drawn
from halidegym.evaluation.timings.calibration_report import COLUMNS, cells, write_report

_DEFAULT = ("harris", "unsharp", "hist", "bilateral_grid", "mat_mul")


@click.command("calibrate", cls=WritingCommand)
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option("--schedules", type=Integer(3), default=60, show_default=True, help="Schedules a pipeline.")
@click.option("--seconds", type=SECONDS,
              help="Begin no more schedules after this time, shared by the pipelines.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random schedules.")
@click.option(
    "--output", type=PageFile(),
    help="Also write a page to this Markdown file, with its table (.csv) and a scatter plot (.svg) beside it.",
)  # fmt: skip
@cache_options
@timing_options
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def calibrate_command(
    names: tuple[str, ...],
    schedules: int,
    seconds: float | None,
    seed: int,
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
    """Find out how good the cost model is on this machine.

    Of each PIPELINE (by default harris, unsharp, hist, bilateral_grid and mat_mul), random and good schedules are drawn,
    compiled and timed. Reported are Spearman's rank correlation of cost and run time, and the regret: how many times longer
    the schedule takes that the model rates best than the best one that was timed. Schedules that run longer than the
    --timeout rank last, all alike. After Ctrl-C, the pipelines that were done are reported; with a --database, the same
    command then goes on where it was ended.

    Compiling takes longer than timing, and needs no quiet machine. So do it first, with --cache and --prepare; then the
    same command without --prepare times what it finds there.
    """
    if output is not None:
        check_plot_file(output.with_suffix(".svg"))
    chosen = names or _DEFAULT
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    calibrations: list[Calibration] = []
    try:
        with (
            contextlib.closing(caching_timer(settings, database, again, cache)) as timer,
            steps_bar(schedules * len(chosen)) as on_step,
        ):
            # All of them before any is measured: what is misspelt is said at once. Each in a fresh process: Func names,
            # which Halide numbers a process, are part of what is kept.
            problems = [
                run_isolated(load_problem, name, target=target, parallelism=parallelism, details=details)
                for name in chosen
            ]
            for index, problem in enumerate(problems):
                share = (deadline - time.monotonic()) / (len(chosen) - index)
                if prepare:
                    compile_drawn(problem, timer.stopwatch, schedules, seconds=share, seed=seed, on_schedule=on_step)
                    continue
                calibrations.append(calibrate(problem, timer, schedules, seconds=share, seed=seed, on_schedule=on_step))
    finally:
        if calibrations:
            _report(calibrations, output)


def _report(calibrations: Sequence[Calibration], output: Path | None) -> None:
    console = output_console()
    console.print(_table(calibrations))
    for calibration in calibrations:
        for failure, times in Counter(calibration.failures).items():
            console.print(f"{calibration.problem}: {times} failed, {failure}", markup=False, style="red")
    if output is not None:
        write_report(calibrations, output, " ".join(["halidegym", *sys.argv[1:]]))


def _table(calibrations: Sequence[Calibration]) -> Table:
    name, *values = COLUMNS
    table = Table(*name_columns(name), *number_columns(*values), box=None)
    for calibration in calibrations:
        table.add_row(*cells(calibration))
    return table
