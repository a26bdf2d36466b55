"""`halidegym reproduce tuning`."""

from __future__ import annotations

import math
from pathlib import Path

import click

from halidegym.agents.tuner.autotune import Autotune
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import Comparison
from halidegym.evaluation.arguments.options import parallelism_option, pipeline_options
from halidegym.evaluation.arguments.paths import OutputFile
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.studies.tuning import TunedAndDrawn, tuned_and_drawn
from halidegym.native._core import Error
from halidegym.training.statistics import geometric_mean

PIPELINES = (
    *("harris", "hist", "unsharp", "camera_pipe", "interpolate", "lens_blur", "bilateral_grid", "iir_blur"),
    *("stencil_chain", "bgu", "conv_layer", "local_laplacian", "max_filter", "nl_means"),
)
"""Those of which an expert's time is known, all but mat_mul; the suite of the papers."""

_HEADER = (
    *("Pipeline", "Measured", "Failed", "Default, ms", "Tuned, ms", "Tuned / default", "95 %"),
    *("Best draw / default", "Tuned / best draw", "95 %", "Seconds", "Searching, s"),
)
_CURVE = ("Pipeline", "Seconds", "Measured", "Times as fast", "Kind")


@click.command("tuning")
@click.argument("pipelines", metavar="PIPELINE...", nargs=-1)
@click.option("--seconds", type=float, default=600.0, show_default=True, help="To tune each pipeline for.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers.")
@click.option("--output", type=OutputFile(), required=True, help="CSV file for the table; written after each pipeline.")
@click.option("--curves", type=OutputFile(), help="TSV file for the best so far over the time of tuning.")
@parallelism_option
@pipeline_options
def tuning(
    pipelines: tuple[str, ...],
    seconds: float,
    seed: int,
    output: Path,
    curves: Path | None,
    parallelism: int | None,
    details: Details,
) -> None:
    """Tune pipelines by run time, and compare with Halide's default autoscheduler and with as many careless draws.

    The draws are measured in the same way, and take about as long again. In the end the winners and Adams2019's own
    schedule take turns. A PIPELINE is as for `halidegym schedule`; by default, the benchmarks of which an expert's time
    is known.
    """
    rows: list[tuple[str, ...]] = []
    steps: list[str] = ["\t".join(_CURVE)]
    ratios: list[tuple[float, float]] = []
    for pipeline in pipelines or PIPELINES:
        problem = run_isolated(load_problem, pipeline, parallelism=parallelism, details=details)
        try:
            found = tuned_and_drawn(problem, seconds=seconds, seed=seed, agent=Autotune())
        except Error as error:
            click.echo(f"{pipeline}: {error}", err=True)
            continue
        rows.append((pipeline, *_cells(found)))
        steps += [
            f"{pipeline}\t{s.seconds:.1f}\t{s.measurements}\t{s.speedup:.3f}\t{s.kind}" for s in found.tuned.curve
        ]
        if found.tuned_to_default.ratio > 0 and found.tuned_to_drawn.ratio > 0:
            ratios.append((found.tuned_to_default.ratio, found.tuned_to_drawn.ratio))
        write_table(output, _HEADER, [*rows, *_means(ratios)])
        if curves is not None:
            curves.write_text("\n".join(steps) + "\n", encoding="utf-8")


def _cells(found: TunedAndDrawn) -> tuple[str, ...]:
    default = found.tuned_to_default
    return (
        str(found.tuned.measurements),
        str(found.tuned.failures),
        f"{default.b.median_s * 1e3:.2f}" + (" (ours)" if found.is_default_ours else ""),
        f"{default.a.median_s * 1e3:.2f}",
        _number(default.ratio),
        _interval(default),
        _number(found.drawn_to_default.ratio),
        _number(found.tuned_to_drawn.ratio),
        _interval(found.tuned_to_drawn),
        f"{found.tuned.seconds:.0f}",
        f"{found.tuned.search_seconds:.0f}",
    )


def _means(ratios: list[tuple[float, float]]) -> list[tuple[str, ...]]:
    if len(ratios) < 2:
        return []
    default, draws = (geometric_mean(column, resamples=10_000) for column in zip(*ratios, strict=True))
    to_default, to_draws = ((f"{mean.value:.2f}", f"{mean.low:.2f} to {mean.high:.2f}") for mean in (default, draws))
    return [("geometric mean", *[""] * 4, *to_default, "", *to_draws, "", "")]


def _number(ratio: float) -> str:
    return "-" if math.isnan(ratio) else f"{ratio:.2f}"


def _interval(comparison: Comparison) -> str:
    return "-" if math.isnan(comparison.ratio) else f"{comparison.low:.2f} to {comparison.high:.2f}"
