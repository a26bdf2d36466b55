"""`halidegym calibrate`: how well the cost model orders schedules on this machine."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from halidegym.envs.measurements import TimingSettings
from halidegym.envs.timers import RecordingTimer
from halidegym.evaluation.calibration import Calibration, calibrate
from halidegym.evaluation.calibration_report import write_report
from halidegym.evaluation.options import parallelism_option, pipeline_options, target_option, with_pipeline_help
from halidegym.evaluation.pipeline_argument import Details, load_problem
from halidegym.evaluation.progress import steps_bar
from halidegym.evaluation.timing_options import timing_options

_DEFAULT = ("harris", "unsharp", "hist", "bilateral_grid", "mat_mul")


@click.command("calibrate")
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option("--schedules", type=click.IntRange(min=3), default=60, show_default=True, help="Schedules a pipeline.")
@click.option("--seconds", type=float, help="Begin no more schedules after this time, shared by the pipelines.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random schedules.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a page to this Markdown file, with a scatter plot beside it.",
)  # fmt: skip
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
    settings: TimingSettings,
    database: Path | None,
    again: bool,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    """Find out how good the cost model is on this machine.

    Of each PIPELINE, random and good schedules are drawn, compiled and timed. Reported are Spearman's rank correlation of
    cost and run time, and the regret: how many times longer the schedule takes that the model rates best than the best
    one that was timed.
    """
    chosen = names or _DEFAULT
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    calibrations: list[Calibration] = []
    with (
        contextlib.closing(RecordingTimer(database, settings, remeasure=again)) as timer,
        steps_bar(schedules * len(chosen)) as on_step,
    ):
        for index, name in enumerate(chosen):
            problem = load_problem(name, target=target, parallelism=parallelism, details=details)
            share = (deadline - time.monotonic()) / (len(chosen) - index)
            calibrations.append(calibrate(problem, timer, schedules, seconds=share, seed=seed, on_schedule=on_step))
    Console().print(_table(calibrations))
    if output is not None:
        write_report(calibrations, output, " ".join(["halidegym", *sys.argv[1:]]))


def _table(calibrations: list[Calibration]) -> Table:
    table = Table("Pipeline", title="Cost model and run time", title_justify="left")
    for column in ("Schedules", "Failed", "Rank correlation", "among the good", "Regret"):
        table.add_column(column, justify="right")
    for calibration in calibrations:
        table.add_row(
            calibration.problem,
            str(len(calibration.points)),
            str(len(calibration.points) - len(calibration.timed)),
            f"{calibration.rank_correlation:.2f}",
            f"{calibration.rank_correlation_of_good:.2f}",
            f"{calibration.regret:.2f}",
        )
    return table
