"""`halidegym timing-check`: how far timings on this machine can be trusted."""

from __future__ import annotations

import contextlib

import click

from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.evaluation.arguments.options import Failure, Integer, parallelism_option, pipeline_options, target_option
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.arguments.schedule import find_schedule
from halidegym.evaluation.arguments.timing import timing_settings_options
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.timings.timing_check import Repeatability, Throughput, loaded_core, repeat, throughput


@click.command("timing-check")
@click.argument("pipeline", default="harris")
@click.option("--first", default="beam", show_default=True, help="One SCHEDULE to compare; see `halidegym time`.")
@click.option("--second", default="greedy", show_default=True, help="The other one.")
@click.option("--comparisons", type=Integer(1), default=10, show_default=True, help="How many of each kind.")
@click.option("--schedules", type=Integer(1), default=20, show_default=True, help="To time in a batch.")
@timing_settings_options
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def timing_check_command(
    pipeline: str,
    first: str,
    second: str,
    comparisons: int,
    schedules: int,
    settings: TimingSettings,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    """Compare two schedules again and again, and time many.

    The same two schedules of a PIPELINE (by default harris) are compared several times, as the machine is and while another
    process keeps one core busy: do the ratios agree? Then random and good schedules are timed in a batch: how many a minute,
    and where does the time go?
    """
    problem = load_problem(pipeline, target=target, parallelism=parallelism, details=details)
    a, b = (find_schedule(problem, name) for name in (first, second))
    if failure := a.failure or b.failure:
        raise Failure(failure)
    columns = number_columns("Median ratio", "Least", "Greatest", "Spread", "Flips", "Wrong verdicts", "Disturbed")
    table = Table(
        *name_columns("Machine"), *columns, title=f"{first} against {second}, {comparisons} times", title_justify="left"
    )
    with Stopwatch(settings) as stopwatch, steps_bar(2 * comparisons + 1) as on_step:
        for name, load in (("as it is", contextlib.nullcontext()), ("one core loaded", loaded_core())):
            with load:
                result = repeat(problem, a.schedule, b.schedule, stopwatch, comparisons, on_comparison=on_step)
            table.add_row(name, *_cells(result))
        on_step(f"{schedules} schedules")
        batch = throughput(problem, stopwatch, schedules)
    output_console().print(table)
    click.echo(_sentence(batch))


def _cells(result: Repeatability) -> tuple[str, ...]:
    return (
        f"{result.median:.3f}",
        f"{min(result.ratios):.3f}",
        f"{max(result.ratios):.3f}",
        f"{result.spread:.1%}",
        str(result.flips),
        str(result.wrong_verdicts),
        str(result.disturbed),
    )


def _sentence(batch: Throughput) -> str:
    shares = ", ".join(f"{name} {share:.1%}" for name, share in batch.shares.items())
    return (
        f"{batch.schedules} schedules in {batch.seconds:.1f} s, {batch.per_minute:.0f} a minute. Of the time of each: "
        f"{shares}. Compiling and linking take {batch.overhead:.1%} longer than Halide's own compiler."
    )
