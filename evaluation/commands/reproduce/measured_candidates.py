"""`halidegym reproduce measured-candidates`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean

import click

from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import Comparison, TimingSettings
from halidegym.evaluation.arguments.options import Integer, integers_of
from halidegym.evaluation.arguments.paths import WritingCommand
from halidegym.evaluation.arguments.pipeline import check_name, load_problem
from halidegym.evaluation.arguments.timing import cache_option, caching_timer, timing_options
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers.measured_candidates import PIPELINES, choose_by_time
from halidegym.native.checks import INT32_MAX, check_at_least


@click.command("measured-candidates", cls=WritingCommand)
@click.argument("pipelines", metavar="[PIPELINE]...", nargs=-1)
@click.option("--candidates", type=Integer(1), default=12, show_default=True, help="To search and to time.")
@click.option("--beam", type=Integer(1), default=32, show_default=True, help="Size of the beams.")
@click.option(
    "--cores",
    type=integers_of(click.INT),
    default="16",
    show_default=True,
    help="To schedule for, besides the usable ones.",
)
@cache_option
@timing_options
def measured_candidates(
    pipelines: tuple[str, ...],
    candidates: int,
    beam: int,
    cores: tuple[int, ...],
    cache: Path | None,
    settings: TimingSettings,
    database: Path | None,
    again: bool,
) -> None:
    """Let run times choose among the schedules of several beams with dropout, on this machine and its cores.

    The factor is how many times faster the choice is than the winner of one beam without dropout, timed in turns: for
    candidates scheduled for the usable cores, and for as many that were scheduled for other numbers of cores as well.
    A PIPELINE is as for `halidegym schedule`; by default, six of the benchmarks, which take about half an hour. Compiling
    is most of that, unless it has been done: run it with --cache before, with few --sample-seconds. After Ctrl-C, the
    comparisons that were done are shown.
    """
    chosen = pipelines or PIPELINES
    for pipeline in chosen:
        check_name(pipeline)
    for count in cores:
        check_at_least(1, INT32_MAX, cores=count)
    table = Table(
        *name_columns("Pipeline"),
        "Scheduled for",
        "Chosen, for",
        *number_columns("Beam's, ms", "Choice, ms", "Factor", "95 %"),
        "Outcome",
        box=None,
    )
    factors: dict[tuple[int, ...], list[float]] = {}
    try:
        with (
            contextlib.closing(caching_timer(settings, database, again, cache)) as timer,
            steps_bar(len(chosen)) as on_step,
        ):
            for pipeline in chosen:
                on_step(pipeline)
                # A fresh process: Func names, which Halide numbers a process, are part of what is kept.
                problem = run_isolated(load_problem, pipeline)
                for choice in choose_by_time(
                    problem, parallelisms=cores, candidates=candidates, beam_size=beam, timer=timer
                ):
                    comparison = choice.comparison
                    if comparison.ratio > 0:  # NaN: a schedule failed
                        factors.setdefault(choice.parallelisms, []).append(comparison.ratio)
                    table.add_row(
                        pipeline,
                        ", ".join(map(str, choice.parallelisms)),
                        str(choice.plan.fingerprint.parallelism),
                        f"{comparison.b.median_s * 1e3:.3g}",
                        f"{comparison.a.median_s * 1e3:.3g}",
                        f"{comparison.ratio:.2f}",
                        f"{comparison.low:.2f} to {comparison.high:.2f}",
                        _outcome(comparison),
                    )
    finally:
        if table.rows:
            _show(table, factors)


def _show(table: Table, factors: Mapping[tuple[int, ...], Sequence[float]]) -> None:
    for parallelisms, ratios in factors.items():
        cores_text = ", ".join(map(str, parallelisms))
        table.add_row("geometric mean", cores_text, "", "", "", f"{geometric_mean(ratios):.2f}", "", "")
    output_console().print(table)


def _outcome(comparison: Comparison) -> str:
    failed = [timing.outcome for timing in (comparison.a, comparison.b) if timing.outcome != "ok"]
    return failed[0] if failed else "disturbed" if comparison.is_disturbed else "ok"
