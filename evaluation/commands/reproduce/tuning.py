"""`halidegym reproduce tuning`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from halidegym.agents.tuner.autotune import Autotune
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import Comparison
from halidegym.evaluation.arguments.options import parallelism_option, pipeline_options
from halidegym.evaluation.arguments.paths import OutputFile
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.studies.tuning import EXPERTS, TunedAndDrawn, tuned_and_drawn
from halidegym.native._core import Error
from halidegym.training.statistics import geometric_mean

_HEADER = (
    *("Pipeline", "Measured", "Failed", "Default, ms", "Tuned, ms", "Tuned / default", "95 %", "Expert / default"),
    *("Best draw / default", "Tuned / best draw", "95 %", "Seconds", "Searching, s", "Compiling, s", "Running, s"),
)
_CURVE = ("Pipeline", "Seconds", "Measured", "Times as fast", "Kind")


@click.command("tuning")
@click.argument("pipelines", metavar="PIPELINE...", nargs=-1)
@click.option("--seconds", type=float, default=600.0, show_default=True, help="To tune each pipeline for.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers.")
@click.option(
    "--draws/--no-draws", default=True, help="Whether to measure as many careless draws; takes as long again."
)
@click.option("--output", type=OutputFile(), required=True, help="CSV file for the table; written after each pipeline.")
@click.option("--curves", type=OutputFile(), help="TSV file for the best so far over the time of tuning.")
@parallelism_option
@pipeline_options
def tuning(
    pipelines: tuple[str, ...],
    seconds: float,
    seed: int,
    draws: bool,
    output: Path,
    curves: Path | None,
    parallelism: int | None,
    details: Details,
) -> None:
    """Tune pipelines by run time, and compare with Halide's default autoscheduler and with as many careless draws.

    The draws are measured in the same way, and take about as long again. In the end the winners and Adams2019's own
    schedule take turns. A PIPELINE is as for `halidegym schedule`; by default, the thirteen benchmarks of which the times of
    an expert and of Adams2019 are known.
    """
    rows: list[tuple[str, ...]] = []
    steps: list[str] = ["\t".join(_CURVE)]
    to_default: list[float] = []
    to_drawn: list[float] = []
    for pipeline in pipelines or EXPERTS:
        problem = run_isolated(load_problem, pipeline, parallelism=parallelism, details=details)
        try:
            found = tuned_and_drawn(problem, seconds=seconds, seed=seed, agent=Autotune(), draws=draws)
        except Error as error:
            click.echo(f"{pipeline}: {error}", err=True)
            continue
        rows.append((pipeline, *_cells(found, EXPERTS.get(pipeline, math.nan))))
        steps += [
            f"{pipeline}\t{s.seconds:.1f}\t{s.measurements}\t{s.speedup:.3f}\t{s.kind}" for s in found.tuned.curve
        ]
        to_default += [found.tuned_to_default.ratio] if found.tuned_to_default.ratio > 0 else []
        to_drawn += [found.tuned_to_drawn.ratio] if found.tuned_to_drawn and found.tuned_to_drawn.ratio > 0 else []
        write_table(output, _HEADER, [*rows, *_means(to_default, to_drawn)])
        if curves is not None:
            curves.write_text("\n".join(steps) + "\n", encoding="utf-8")


def _cells(found: TunedAndDrawn, expert: float) -> tuple[str, ...]:
    default = found.tuned_to_default
    return (
        str(found.tuned.measurements),
        str(found.tuned.failures),
        f"{default.b.median_s * 1e3:.2f}" + (" (ours)" if found.is_default_ours else ""),
        f"{default.a.median_s * 1e3:.2f}",
        _ratio(default),
        _interval(default),
        "-" if math.isnan(expert) else f"{expert:.2f}",
        _ratio(found.drawn_to_default),
        _ratio(found.tuned_to_drawn),
        _interval(found.tuned_to_drawn),
        f"{found.tuned.seconds:.0f}",
        f"{found.tuned.search_seconds:.0f}",
        f"{found.tuned.compile_seconds:.0f}",
        f"{found.tuned.run_seconds:.0f}",
    )


def _means(to_default: Sequence[float], to_drawn: Sequence[float]) -> list[tuple[str, ...]]:
    if len(to_default) < 2:
        return []
    return [("geometric mean", *[""] * 4, *_mean(to_default), "", "", *_mean(to_drawn), *[""] * 4)]


def _mean(ratios: Sequence[float]) -> tuple[str, str]:
    if len(ratios) < 2:
        return "", ""
    mean = geometric_mean(ratios, resamples=10_000)
    return f"{mean.value:.2f}", f"{mean.low:.2f} to {mean.high:.2f}"


def _ratio(comparison: Comparison | None) -> str:
    return "-" if comparison is None or math.isnan(comparison.ratio) else f"{comparison.ratio:.2f}"


def _interval(comparison: Comparison | None) -> str:
    if comparison is None or math.isnan(comparison.ratio):
        return "-"
    return f"{comparison.low:.2f} to {comparison.high:.2f}"
