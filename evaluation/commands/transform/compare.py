"""`halidegym transform compare`."""

from __future__ import annotations

import statistics
from pathlib import Path

import click

from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.plan_task import SpaceName
from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.arguments.transform import SPACES, check_sizes
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.pages import write_table

DEFAULT_SIZES = (64, 256, 1024, 4096, 16384, 65536)


@click.command(cls=WritingCommand)
@click.argument("sizes", metavar="[N]...", type=int, nargs=-1)
@click.option("--rounds", type=Integer(1), default=7, show_default=True, help="Turns, each in a new process; of fewer "
              "than 6, the range stands in place of the interval.")  # fmt: skip
@click.option(
    "--space", "spaces", type=click.Choice(SPACES), multiple=True, default=("basic", "lanes"), show_default=True
)
@click.option("--output", type=OutputFile(), help="Also write the table as CSV.")
@needs_extra("bench")
def compare(sizes: tuple[int, ...], rounds: int, spaces: tuple[SpaceName, ...], output: Path | None) -> None:
    """Compare our best plans with FFTW, pocketfft and scipy.fft.

    Our plan is the winner of a race between what careful dynamic programming finds in each space. FFTW plans with
    FFTW_PATIENT; pocketfft is called through NumPy on many rows, so that the call does not count. Sizes at which a
    library's call outweighs its transform are left out: FFTW's below 32, SciPy's below 4096. Ratios are how many times
    faster our plan is: medians of rounds, in which all take turns in one process, with intervals of 95 %.
    """
    from halidegym.evaluation.studies.transform_libraries import LIBRARIES, best_plan, compare_libraries

    sizes = sizes or DEFAULT_SIZES
    check_sizes(sizes, spaces)
    columns = ("N", "Ours, us", "GFLOP/s", "FFTW, us", *(f"Faster than {name}" for name in LIBRARIES), "Plan")
    lines, medians = [], []
    for n in sizes:
        found = compare_libraries(n, best_plan(n, spaces), rounds)
        if "FFTW" in found.ratios:
            medians.append(found.ratios["FFTW"].median)
        ratios = [found.ratios.get(name) for name in LIBRARIES]
        shown = [f"{r.median:.2f} [{r.low:.2f}, {r.high:.2f}]" if r else "" for r in ratios]
        flops = TransformPlan(n, found.plan).flops / found.microseconds["ours"] / 1e3
        times = [f"{found.microseconds[name]:.3f}" if name in found.microseconds else "" for name in ("ours", "FFTW")]
        lines.append((str(n), times[0], f"{flops:.1f}", times[1], *shown, found.plan))
        if output is not None:  # what is done so far
            write_table(output, columns, lines)
    table = Table(*number_columns(*columns[:-1]), *name_columns(columns[-1]), box=None)
    for line in lines:
        table.add_row(*line)
    console = output_console()
    console.print(table)
    if medians:
        console.print(f"Geometric mean against FFTW: {statistics.geometric_mean(medians):.2f}")
