"""The tables and the figure of `tag_library`, and the file of all its searches."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.output.plots import new_figure, save_svg
from halidegym.evaluation.output.tables import write_rows
from halidegym.evaluation.papers.tag_library import AGENTS, CAREFUL, QUICK, SHARES, Reached, Row, Search

ROWS_HEADER = ("n", "search", "measurements", "speed", "worst", "best", "plans ran for, s")
SHARES_HEADER = ("n", "search", *(f"{share:.0%} of the best speed" for share in SHARES))
_FIELDS = ("n", "agent", "seed", "measurements", "executed_s", "at", "at_s", "cost", "plan")


def row_cells(rows: Sequence[Row]) -> list[list[str]]:
    """The table of speeds as text."""
    return [
        [
            str(row.n),
            row.agent,
            str(row.measurements),
            f"{row.speed:.2f}",
            f"{row.worst:.2f}",
            f"{row.best:.2f}",
            f"{row.executed_s:.2f}",
        ]
        for row in rows
    ]


def share_cells(shares: Sequence[Reached]) -> list[list[str]]:
    """Measurements until shares of the best speed as text: a line for each size and search."""
    lines: dict[tuple[int, str], list[str]] = {}
    for entry in shares:
        cell = str(entry.measurements) if entry.measurements >= 0 else "-"
        lines.setdefault((entry.n, entry.agent), []).append(cell)
    return [[str(n), agent, *cells] for (n, agent), cells in lines.items()]


def write_all(
    rows: Sequence[Row], shares: Sequence[Reached], searches: Sequence[Search], folder: Path, name: str
) -> None:
    """Write the tables NAME.csv and NAME-shares.csv, NAME-searches.tsv with all searches, and the figure NAME.svg.

    Raises:
        Error: matplotlib is not installed.
        OSError: a file cannot be written.
    """
    write_table(folder / f"{name}.csv", ROWS_HEADER, row_cells(rows))
    write_table(folder / f"{name}-shares.csv", SHARES_HEADER, share_cells(shares))
    write_searches(searches, folder / f"{name}-searches.tsv")
    draw(searches, folder / f"{name}.svg")


def write_searches(searches: Sequence[Search], path: Path) -> None:
    """Write every search with all its improvements, a line each.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    rows = [
        (s.n, s.agent, s.seed, s.measurements, s.executed_s, i.measurements, i.executed_s, i.cost, i.plan)
        for s in searches
        for i in s.improvements
    ]
    write_rows(path, [_FIELDS, *rows], delimiter="\t", lineterminator="\n")


def draw(searches: Sequence[Search], path: Path) -> None:
    """Draw the speed of the best plan so far, over measurements and over executed seconds.

    Speeds are relative to the plan of careful dynamic programming, by what the searches were told; the line is the median of
    the seeds.

    Raises:
        Error: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    sizes = list(dict.fromkeys(found.n for found in searches))
    figure = new_figure(9, 2.6 * len(sizes))
    axes = figure.subplots(len(sizes), 2, squeeze=False)
    for line, n in enumerate(sizes):
        own = [found for found in searches if found.n == n]
        careful = next(found for found in own if found.agent == CAREFUL).improvements[-1].cost
        for axis, what in zip(axes[line], ("measurements", "executed_s"), strict=True):
            for color, agent in enumerate(AGENTS):
                curves = [found for found in own if found.agent == agent]
                if curves:
                    # Up to the ends of the searches, also where the last plans that they measured were no better.
                    marks = sorted({getattr(i, what) for found in curves for i in (*found.improvements, found)})
                    axis.step(marks, _medians(curves, marks, what, careful), f"C{color}", where="post", label=agent)
            for agent, marker in ((QUICK, "kx"), (CAREFUL, "ko")):
                points = [found.improvements[-1] for found in own if found.agent == agent]
                speeds = [careful / point.cost for point in points]
                axis.plot([getattr(point, what) for point in points], speeds, marker, label=agent)
            axis.set(xscale="log", xlabel="plans measured" if what == "measurements" else "seconds that plans ran")
        axes[line][0].set(ylabel=f"{n}: speed / careful DP's")
    axes[0][0].legend(fontsize="x-small")
    save_svg(figure, path)


def _medians(curves: Sequence[Search], marks: Sequence[float], what: str, careful: float) -> list[float]:
    """Speeds of the median seed at each mark; 0 before a plan is there."""

    def speed(found: Search, mark: float) -> float:
        done = [i.cost for i in found.improvements if getattr(i, what) <= mark]
        return careful / done[-1] if done else 0.0

    return [statistics.median(speed(found, mark) for found in curves) for mark in marks]
