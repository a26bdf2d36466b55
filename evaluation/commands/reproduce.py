"""`halidegym reproduce`: tables of the papers, run again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import Comparison, TimingSettings
from halidegym.evaluation.arguments.options import integers
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.arguments.timing import cache_option, caching_timer, timing_options
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers import greedy_trees as reproduce_trees
from halidegym.evaluation.papers import mb2fbs as reproduce_mb2fbs
from halidegym.evaluation.papers import measured_candidates as reproduce_measured
from halidegym.evaluation.papers import protuner as reproduce_protuner
from halidegym.evaluation.papers import synthetic_trees as reproduce_synthetic
from halidegym.evaluation.papers.mb2fbs_report import row, write_report


@click.group()
def reproduce() -> None:
    """Run experiments of the papers again, and show the results beside the printed ones."""


@reproduce.command("mb2fbs-tables")
@click.argument("pipelines", metavar="PIPELINE...", nargs=-1, type=click.Choice(list(reproduce_mb2fbs.PAPER)))
@click.option("--all", "all_pipelines", is_flag=True, help="All fifteen pipelines, some of which take minutes.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write tables.csv, tables.md and tables.svg here.",
)
def mb2fbs_tables(pipelines: tuple[str, ...], all_pipelines: bool, output: Path | None) -> None:
    """Compare beam search with MB2FBS: best costs and mean expansions a pass (Gao et al. 2022, Tables 2, 3 and 4).

    By default on the eight pipelines on which a beam of 32 has the paper's cost to the last digit. "By cost" are the
    searches of Table 4, whose priority is the cost alone.
    """
    chosen = tuple(reproduce_mb2fbs.PAPER) if all_pipelines else pipelines or reproduce_mb2fbs.EXACT
    with steps_bar(len(chosen) * len(reproduce_mb2fbs.ALGORITHMS)) as on_step:
        cells = reproduce_mb2fbs.reproduce(chosen, on_step=on_step)
    table = Table("Pipeline", "Algorithm", box=None)
    for column in ("Cost", "Paper's", "", "Expansions", "Paper's", "Seconds"):
        table.add_column(column, justify="right")
    for number, cell in enumerate(cells):
        table.add_row(*row(cell))
        if (number + 1) % len(reproduce_mb2fbs.ALGORITHMS) == 0:
            table.add_section()
    for algorithm, (ours, paper) in reproduce_mb2fbs.geometric_means(cells).items():
        table.add_row("geometric mean", algorithm, f"{ours:.6g}", f"{paper:.6g}", f"{ours / paper - 1:+.2%}")
    Console().print(table)
    if output is not None:
        write_report(cells, output)


@reproduce.command("mb2fbs-synthetic")
@click.option("--trees", type=click.IntRange(min=1), default=10, show_default=True, help="Random trees a point.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write synthetic.csv and synthetic.svg here.",
)
def mb2fbs_synthetic(trees: int, output: Path | None) -> None:
    """Compare beam search with MB2FBS on random trees (Gao et al. 2022, Figures 6 and 7, Table 5).

    The parameter is delta in figure 6, the beam size in figure 7, and beta2 in table 5.
    """
    points = [
        *reproduce_synthetic.figure_6(trees=trees),
        *reproduce_synthetic.figure_7(trees=trees),
        *reproduce_synthetic.table_5(trees=trees),
    ]
    table = Table("Experiment", "Algorithm", box=None)
    for column in ("Parameter", "Accuracy", "Paper's", "Expansions", "Paper's"):
        table.add_column(column, justify="right")
    for point in points:
        accuracy, expansions = ("", "") if point.paper is None else map(str, point.paper)
        table.add_row(
            point.experiment,
            point.algorithm,
            f"{point.parameter:g}",
            f"{point.accuracy:.3f}",
            accuracy,
            f"{point.expansions:.1f}",
            expansions,
        )
    Console().print(table)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_csv(reproduce_synthetic.Point, points, output / "synthetic.csv")
        reproduce_synthetic.draw(points, output / "synthetic.svg")


@reproduce.command("measured-candidates")
@click.argument("pipelines", metavar="PIPELINE...", nargs=-1)
@click.option("--candidates", type=click.IntRange(min=1), default=12, show_default=True, help="To search and to time.")
@click.option("--beam", type=click.IntRange(min=1), default=32, show_default=True, help="Size of the beams.")
@click.option(
    "--cores", type=integers, default="16", show_default=True, help="To schedule for, besides the usable ones."
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
    is most of that, unless it has been done: run it with --cache before, with few --sample-seconds.
    """
    chosen = pipelines or reproduce_measured.PIPELINES
    table = Table("Pipeline", "Scheduled for", "Chosen, for", box=None)
    for column in ("Beam's, ms", "Choice, ms", "Factor", "95 %"):
        table.add_column(column, justify="right")
    table.add_column("Outcome")
    factors: dict[tuple[int, ...], list[float]] = {}
    with (
        contextlib.closing(caching_timer(settings, database, again, cache)) as timer,
        steps_bar(len(chosen)) as on_step,
    ):
        for pipeline in chosen:
            on_step(pipeline)
            # A fresh process: Func names, which Halide numbers a process, are part of what is kept.
            problem = run_isolated(load_problem, pipeline)
            for choice in reproduce_measured.choose_by_time(
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
    for parallelisms, ratios in factors.items():
        cores_text = ", ".join(map(str, parallelisms))
        table.add_row("geometric mean", cores_text, "", "", "", f"{geometric_mean(ratios):.2f}", "", "")
    Console().print(table)


def _outcome(comparison: Comparison) -> str:
    failed = [timing.outcome for timing in (comparison.a, comparison.b) if timing.outcome != "ok"]
    return failed[0] if failed else "disturbed" if comparison.is_disturbed else "ok"


def _protuner_options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option(
            "--output", type=click.Path(file_okay=False, path_type=Path), help="Also write .csv and .svg here."
        ),
        click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of tree search."),
        click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each agent."),
        click.argument("pipelines", metavar="PIPELINE...", nargs=-1, type=click.Choice(list(reproduce_mb2fbs.PAPER))),
    ):
        function = option(function)
    return function


_scale_option = click.option(
    "--scale", type=float, default=0.01, show_default=True, help="Factor of the paper's seconds per decision."
)


@reproduce.command("equal-time")
@click.option("--factor", "factors", type=float, multiple=True, default=(1.0,), help="Of the beam's time; repeatable.")
@_protuner_options
def equal_time(factors: tuple[float, ...], threads: int, **options: Any) -> None:
    """Compare tree search and MB2FBS with a beam of 32 and five passes, in the time that the beam takes.

    By default on all fifteen pipelines of the papers, scheduled for 16 cores.
    """
    entrants = reproduce_protuner.equal_time(factors, threads)
    _compare("equal-time", entrants, tuple(reproduce_mb2fbs.PAPER), **options)


@reproduce.command("protuner-figure7")
@_scale_option
@_protuner_options
def protuner_figure7(scale: float, threads: int, **options: Any) -> None:
    """Compare the costs of tree search's configurations with beam and greedy search (Haj-Ali et al. 2020, Figure 7).

    By default on all fifteen pipelines of the papers. The configurations that measure are left out.
    """
    _compare("figure7", reproduce_protuner.figure_7(scale, threads), tuple(reproduce_mb2fbs.PAPER), **options)


@reproduce.command("protuner-figures-4-5")
@_scale_option
@_protuner_options
def protuner_figures_4_5(
    scale: float, threads: int, seeds: int, output: Path | None, pipelines: tuple[str, ...]
) -> None:
    """Compare numbers of standard and greedy trees, 16 in all (Haj-Ali et al. 2020, Figures 4 and 5).

    X_Y are X standard and Y greedy trees: the share of decisions that greedy trees made, and the least cost of all / cost.
    By default on the paper's four applications.
    """
    chosen = pipelines or tuple(reproduce_trees.PIPELINES)
    with steps_bar(len(chosen) * len(reproduce_trees.GREEDY_TREES) * seeds) as on_step:
        runs = reproduce_trees.run(chosen, scale=scale, threads=threads, seeds=range(seeds), on_step=on_step)
    table = Table("", "", *map(reproduce_trees.label, reproduce_trees.GREEDY_TREES), box=None)
    for pipeline, ensembles in reproduce_trees.summarize(runs).items():
        table.add_row(pipeline, "by greedy", *(f"{100 * found.greedy_share:.0f} %" for found in ensembles.values()))
        table.add_row("", "least cost / cost", *(f"{found.relative_cost:.3f}" for found in ensembles.values()))
    Console().print(table)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_csv(reproduce_trees.Run, runs, output / "figures-4-5.csv")
        reproduce_trees.draw(runs, output / "figures-4-5.svg")


def _compare(
    name: str,
    entrants: Mapping[str, reproduce_protuner.Entrant],
    default: Sequence[str],
    *,
    pipelines: tuple[str, ...],
    seeds: int,
    output: Path | None,
) -> None:
    chosen = pipelines or tuple(default)
    with steps_bar(len(chosen) * (1 + seeds * len(entrants))) as on_step:
        runs = reproduce_protuner.compare(chosen, entrants, seeds=range(seeds), on_step=on_step)
    ratios = reproduce_protuner.ratios(runs)
    table = Table("Cost of beam 32 / cost", *ratios, box=None)
    for pipeline in chosen:
        table.add_row(pipeline, *(f"{row[pipeline]:.3f}" for row in ratios.values()))
    table.add_section()
    table.add_row("geometric mean", *(f"{geometric_mean(row.values()):.3f}" for row in ratios.values()))
    times = [
        geometric_mean(run.seconds / run.beam_seconds for run in runs if run.algorithm == algorithm)
        for algorithm in ratios
    ]
    table.add_row("time / beam's", *(f"{time:.2f}" for time in times))
    Console().print(table)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_csv(reproduce_protuner.Run, runs, output / f"{name}.csv")
        reproduce_protuner.draw(name, runs, output / f"{name}.svg")
