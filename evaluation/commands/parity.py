"""`halidegym parity`: comparing our search with the plugin's, result and effort, on the command line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from halidegym.envs import pipelines
from halidegym.evaluation.arguments.options import SEED, Integer, integers_of, pipeline_options
from halidegym.evaluation.arguments.pipeline import Details, with_pipeline_help
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.parity.check import Parity, Setting, check_parity
from halidegym.evaluation.parity.speed import SIDES, Speed, compare_speed
from halidegym.native._core import Error, InvalidParameter, MissingEstimate
from halidegym.native.checks import INT64_MAX

# That of the published tables (docs/specification/papers.md, section 2).
_PAPERS_TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"


@click.command()
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option("--all", "all_pipelines", is_flag=True, help="Compare on all pipelines that `halidegym list` shows.")
@click.option(
    "--parallelism", type=integers_of(Integer(1)), default="16", show_default=True, help="Cores to schedule for."
)
@click.option(
    "--beam",
    "beam_sizes",
    type=integers_of(Integer(1)),
    default="32",
    show_default=True,
    help="Widths of the beam; 1 is greedy.",
)
@click.option("--passes", type=Integer(1), help="Passes.  [default: 5, or 1 if greedy]")
@click.option(
    "--dropout",
    type=integers_of(click.IntRange(0, 100)),
    default="100",
    show_default=True,
    help="Per-cent chances that no state is dropped at random; 100 is off.",
)
@click.option(
    "--seeds", type=integers_of(SEED), default="0", show_default=True, help="Seeds, where states are dropped."
)
@click.option(
    "--target", "targets", multiple=True, default=[_PAPERS_TARGET], show_default=True,
    help="Halide target string; repeat it for more than one. host is this machine.",
)  # fmt: skip
@click.option("--no-subtiling", is_flag=True, help="Restrict both searches to one tiling per Func.")
@click.option("--memory-limit", type=Integer(0, INT64_MAX), help="Bytes of working set that a schedule may need.")
@click.option(
    "--weights", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A .weights file for both cost models.  [default: the pretrained ones]",
)  # fmt: skip
@click.option(
    "--memoized-features", is_flag=True,
    help="Leave the plugin's memoization of features on, which now and then returns wrong features.",
)  # fmt: skip
@click.option("--time", "timed", is_flag=True, help="Also compare CPU time and peak memory.")
@click.option("--runs", type=Integer(1), default=3, show_default=True, help="Runs of each side for --time.")
@pipeline_options
@with_pipeline_help
def parity(
    names: tuple[str, ...],
    all_pipelines: bool,
    parallelism: tuple[int, ...],
    beam_sizes: tuple[int, ...],
    passes: int | None,
    dropout: tuple[int, ...],
    seeds: tuple[int, ...],
    targets: tuple[str, ...],
    no_subtiling: bool,
    memory_limit: int | None,
    weights: Path | None,
    memoized_features: bool,
    timed: bool,
    runs: int,
    details: Details,
) -> None:
    """Compare our beam search with Halide's Adams2019 autoscheduler.

    Both search on each PIPELINE with the same parameters, for every combination of the lists given (such as --beam 1,32),
    each in a fresh process. Compared are, as the plugin prints them: the cost and the loop nest of each pass, the number
    of cost evaluations, the exact cost of the best schedule, and its source code. The exit status is 1 if anything
    differs or a search fails.

    With --time, both also run alternately on one thread, from a pipeline in memory to the source code of its schedule.
    Shown are the medians of CPU time and of peak memory (how much the process grew), and of the ratios of the runs. The
    plugin runs with and without its memoization of features, and the better of the two counts.
    """
    chosen = [*names, *(pipelines.names() if all_pipelines else [])]
    if not chosen:
        raise click.UsageError("Give at least one PIPELINE, or --all.")
    settings = [
        Setting(
            target=target,
            parallelism=cores,
            beam_size=beam_size,
            passes=passes,
            random_dropout=percent,
            seed=seed,
            subtiling=not no_subtiling,
            memory_limit=memory_limit,
            memoized_features=memoized_features,
            weights=weights,
        )
        for target, cores, beam_size, percent in itertools.product(targets, parallelism, beam_sizes, dropout)
        for seed in (seeds if percent < 100 else seeds[:1])
    ]
    cases = list(itertools.product(chosen, settings))
    console = output_console()
    differences = _compare(console, cases, details)
    if timed:
        _time(console, cases, runs, details)
    if differences:
        raise SystemExit(1)


def _compare(console: Console, cases: Sequence[tuple[str, Setting]], details: Details) -> int:
    equal = 0
    with steps_bar(len(cases)) as on_step:
        for pipeline, setting in cases:
            on_step(f"{pipeline}, {setting}")
            try:
                result = check_parity(pipeline, setting, details)
            except Error as error:
                if isinstance(error, InvalidParameter | MissingEstimate):
                    raise
                # The other comparisons go on.
                console.print(f"{pipeline}, {setting}: FAILED. {error}", markup=False, style="red")
                continue
            equal += result.equal
            console.print(f"Target {setting.target}", markup=False, highlight=False, soft_wrap=True)
            console.print(_parity_table(result))
    console.print(f"{equal} of {len(cases)} searches are equal.")
    return len(cases) - equal


def _time(console: Console, cases: Sequence[tuple[str, Setting]], runs: int, details: Details) -> None:
    table = _speed_table()
    with steps_bar(3 * runs * len(cases)) as on_step:
        for pipeline, setting in cases:
            _add_speed(table, setting, compare_speed(pipeline, setting, runs=runs, details=details, on_run=on_step))
    console.print(table)


def _parity_table(result: Parity) -> Table:
    verdict = "[green]equal[/]" if result.equal else "[red]DIFFERENT[/]"
    table = Table(
        "Quantity",
        "Ours",
        "Plugin",
        "",
        title=f"{escape(result.pipeline)}, {result.setting}: {verdict}",
        caption=f"ours took {result.our_seconds:.2f} s, the plugin {result.plugin_seconds:.2f} s",
        title_justify="left",
        caption_justify="left",
    )
    for check in result.checks:
        mark = "[green]equal[/]" if check.equal else "[red]different[/]"
        table.add_row(check.quantity, escape(check.ours), escape(check.plugin), mark)
    return table


def _speed_table() -> Table:
    values = [
        side if side == "ratio" else f"{side}\n{unit}"
        for unit in ("s", "MiB")
        for side in ("ours", "plugin", "no memo", "ratio")
    ]
    return Table(
        *name_columns("pipeline"),
        *number_columns(*values),
        box=None,
        pad_edge=False,
        title="CPU seconds and MiB from pipeline to schedule, medians; the ratios say how much less ours takes",
        title_justify="left",
    )


def _add_speed(table: Table, setting: Setting, speed: Speed) -> None:
    table.add_row(
        f"{escape(speed.pipeline)}\n[dim]{str(setting).replace('parallelism', 'P')}[/]",
        *(f"{speed.cpu_seconds[side].median:.3f}" for side in SIDES),
        f"{speed.speedup.median:.1f}x",
        *(f"{speed.peak_memory_bytes[side].median / 2**20:.0f}" for side in SIDES),
        f"{speed.memory_ratio.median:.1f}x",
    )
