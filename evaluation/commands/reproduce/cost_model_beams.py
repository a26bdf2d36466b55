"""`halidegym reproduce cost-model-beams`: what a trained cost model is worth inside a beam, in run times."""

from __future__ import annotations

import statistics
from pathlib import Path

import click

from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.evaluation.arguments.options import Failure, Integer, parallelism_option, pipeline_options
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, check_name, load_problem, with_pipeline_help
from halidegym.evaluation.output.earlier_table import EarlierTable
from halidegym.evaluation.output.pages import write_table
from halidegym.native._core import Error
from halidegym.native.weights import load_weights
from halidegym.training.statistics import geometric_mean

_MEANS = "geometric mean", "the faster of both"
_COLUMNS = "Pipeline", "Shipped, ms", "Trained, ms", "Times as fast"


@click.command("cost-model-beams", cls=WritingCommand)
@click.argument("names", metavar="PIPELINE...", nargs=-1, required=True)
@click.option("--weights", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True,
              help="The .weights file to compare with the shipped weights.")  # fmt: skip
@click.option("--beam", type=Integer(1), default=32, show_default=True, help="Width of both beams.")
@click.option("--rounds", type=Integer(1), default=7, show_default=True, help="Turns that each schedule takes.")
@click.option("-o", "--output", type=OutputFile(), required=True, help="CSV file; written after each pipeline.")
@parallelism_option
@pipeline_options
@with_pipeline_help
def cost_model_beams(
    names: tuple[str, ...],
    weights: Path,
    beam: int,
    rounds: int,
    output: Path,
    parallelism: int | None,
    details: Details,
) -> None:
    """Search by a beam with the shipped weights and with trained ones, and time both winners in turns.

    On one thread, for --parallelism 1, seconds are those in which the core worked. The file ends with geometric means, also
    of a choice by the clock between both winners. A pipeline that fails is named and left out; if all do, the exit status
    is 2.
    """
    load_weights(weights)
    for name in names:
        check_name(name)
    earlier = EarlierTable(output)
    earlier.check_covered([*names, *_MEANS])
    rows, ratios = list[tuple[str, ...]](), list[float]()
    settings = TimingSettings(time_limit_s=4.0, timeout_s=20.0, compile_timeout_s=120.0)
    try:
        for name in names:
            problem = run_isolated(load_problem, name, parallelism=parallelism, details=details)
            try:
                shipped, trained = _seconds(problem, weights, beam, rounds, settings)
            except Error as error:
                click.echo(f"{name}: {error}", err=True)
                continue
            ratios.append(shipped / trained)
            rows.append((name, f"{shipped * 1e3:.3f}", f"{trained * 1e3:.3f}", f"{ratios[-1]:.2f}"))
            click.echo(f"{name}: {ratios[-1]:.2f} times as fast")
            means = zip(_MEANS, (ratios, [max(1.0, ratio) for ratio in ratios]), strict=True)
            table = [*rows, *((what, "", "", str(geometric_mean(of, resamples=10_000))) for what, of in means)]
            if earlier.is_covered(row[0] for row in table):
                write_table(output, _COLUMNS, table)
    finally:
        earlier.tell_if_kept([*_MEANS, *(row[0] for row in rows)])
    if not rows:
        raise Failure("None of the pipelines could be timed; what is above says why.")


def _seconds(
    problem: SchedulingProblem, weights: Path, beam: int, rounds: int, settings: TimingSettings
) -> tuple[float, float]:
    """Run times of both winners; equal ones are timed once."""
    plans = [BeamSearch(beam_size=beam, weights=chosen).plan(problem) for chosen in (None, weights)]
    schedules = [plan.schedule for plan in plans]
    if schedules[0].cpp() == schedules[1].cpp():
        schedules = schedules[:1]
    with Stopwatch(settings, compilers=1) as stopwatch:
        timings = stopwatch.time_in_turns(problem, schedules, rounds=rounds)
    for timing in timings:
        if timing.outcome != "ok":
            raise Error(f"a winner does not run: {timing.outcome} {timing.error}")
    seconds = [statistics.median(timing.samples_s) for timing in timings]
    return seconds[0], seconds[-1]
