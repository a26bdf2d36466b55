"""The page about a calibration: a table and a scatter plot."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.output.pages import marked_table, with_tables, write_table
from halidegym.evaluation.output.plots import new_figure, plain_label, save_svg
from halidegym.evaluation.timings.calibration import Calibration
from halidegym.native._core import Error
from halidegym.native.files import write_atomically

COLUMNS = ("Pipeline", "Schedules", "Good", "Too slow", "Failed", "Correlation", "Of the good", "Regret")


def write_report(calibrations: Sequence[Calibration], page: Path, command: str) -> None:
    """Write a Markdown page, and beside it its table as CSV and the plot as SVG.

    Args:
        calibrations: one a problem.
        page: path of the page.
        command: that made it, for those who want to repeat it.

    Raises:
        Error: matplotlib is not installed, or nothing was timed.
        OSError: a file cannot be written.
    """
    plot, table = page.with_suffix(".svg"), page.with_suffix(".csv")
    _draw([calibration for calibration in calibrations if calibration.ranked], plot)
    write_table(table, COLUMNS, [cells(calibration) for calibration in calibrations])
    text = _text(calibrations, plot.name, table.name, command)
    write_atomically(page, with_tables(text, page.parent).encode())


def cells(calibration: Calibration) -> tuple[str, ...]:
    """A row of the table, under `COLUMNS`."""
    points = calibration.points
    return (
        calibration.problem,
        str(len(points)),
        str(sum(point.is_good for point in points)),
        str(sum(point.is_too_slow for point in points)),
        str(len(points) - len(calibration.ranked)),
        f"{calibration.rank_correlation:.2f}",
        f"{calibration.rank_correlation_of_good:.2f}",
        f"{calibration.regret:.2f}",
    )


def _text(calibrations: Sequence[Calibration], plot: str, table: str, command: str) -> str:
    machine, today = this_machine(), dt.datetime.now(tz=dt.timezone.utc).date()
    schedules = sum(len(calibration.points) for calibration in calibrations)
    threads = ", ".join(sorted({str(calibration.threads) for calibration in calibrations}))
    limits = ", ".join(sorted({f"{calibration.limit_s:g}" for calibration in calibrations}))
    disturbed = sum(point.is_disturbed for calibration in calibrations for point in calibration.points)
    return f"""# How good is the cost model here?

Measured on {today}: {schedules} schedules on {threads} threads of {machine.cores} cores, {machine.cpu},
{machine.memory_gib} GiB, Halide {machine.compiler}; machine fingerprint `{machine.fingerprint}`. Made by

    {command}

Of each pipeline, the greedy schedule is the first, then random walks through the decisions take turns with *good* schedules:
greedy descents that, at some of their decisions, take any of the ten cheapest instead of the cheapest. What was drawn before
is left out. Costs are those of the pretrained model. The rank correlation is Spearman's, of cost and measured run time: 1 if
the model orders all schedules rightly, 0 if it tells nothing; nan where there are too few. The regret is how many times
longer the schedule takes that the model rates best than the best of all that were timed: what trusting the model costs.

Schedules that are *too slow* were ended after {limits} s and count as if they had taken so long, the dotted line: they rank
last, all alike. The *failed* ones do not count. {disturbed} schedules are *disturbed*: other processes took cores away all
the time, so that their times are too long.

{marked_table(table)}
![Run time over cost]({plot})
"""


def _draw(calibrations: Sequence[Calibration], path: Path) -> None:
    if not calibrations:
        raise Error("There is nothing to draw: no schedule was timed, or all failed. Allow more time or memory.")
    columns = min(3, len(calibrations))
    lines = -(-len(calibrations) // columns)
    figure = new_figure(4 * columns, 3.6 * lines)
    from matplotlib.ticker import LogLocator, NullFormatter  # is installed, if there is a figure

    axes = figure.subplots(lines, columns, squeeze=False).flatten()
    for axis, calibration in zip(axes, calibrations, strict=False):
        for kind, color in (("random", "tab:gray"), ("good", "tab:blue")):
            points = [point for point in calibration.ranked if point.is_good == (kind == "good")]
            axis.scatter(
                [p.cost for p in points], [p.seconds * 1e3 for p in points], s=12, alpha=0.7, color=color, label=kind
            )
        if any(point.is_too_slow for point in calibration.ranked):
            axis.axhline(calibration.limit_s * 1e3, color="tab:red", linewidth=0.8, linestyle=":")
        axis.set(
            xscale="log",
            yscale="log",
            title=plain_label(calibration.problem),
            xlabel="cost, ms as trained",
            ylabel="run time, ms",
        )
        for scale in (axis.xaxis, axis.yaxis):
            # Few numbers without exponents, but two at least; for ranges up to four decades.
            low, high = scale.get_view_interval()
            scale.set_major_locator(LogLocator(subs=(1, 3) if high > 10 * low else (1, 2, 3, 5, 7)))
            scale.set_major_formatter("{x:g}")
            scale.set_minor_formatter(NullFormatter())
    for axis in axes[len(calibrations) :]:
        axis.remove()
    axes[0].legend()
    save_svg(figure, path)
