"""The tables and the figure of `tag_library`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from halidegym.evaluation.output.plots import new_figure, save_svg
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers.tag_library import AGENTS, CAREFUL, QUICK, Reached, Row, Search


def write_tables(rows: Sequence[Row], shares: Sequence[Reached], folder: Path) -> None:
    """Write tag-library.csv and tag-library-shares.csv.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(Row, rows, folder / "tag-library.csv")
    write_csv(Reached, shares, folder / "tag-library-shares.csv")


def draw(searches: Sequence[Search], folder: Path) -> None:
    """Draw tag-library.svg: speed of the best plan so far, over measurements and over executed seconds.

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
        careful = next(found for found in own if found.agent == CAREFUL)
        for axis, what in zip(axes[line], ("measurements", "executed_s"), strict=True):
            for color, agent in enumerate(AGENTS):
                curves = [found for found in own if found.agent == agent]
                if curves:
                    marks = sorted({getattr(i, what) for found in curves for i in found.improvements})
                    axis.step(marks, _medians(curves, marks, what, careful), f"C{color}", where="post", label=agent)
            for agent, marker in ((QUICK, "kx"), (CAREFUL, "ko")):
                for found in (found for found in own if found.agent == agent):
                    last = found.improvements[-1]
                    label = agent if found.seed == 0 else None
                    axis.plot([getattr(last, what)], [careful.improvements[-1].cost / last.cost], marker, label=label)
            axis.set(xscale="log", xlabel="plans measured" if what == "measurements" else "seconds that plans ran")
        axes[line][0].set(ylabel=f"{n}: speed / careful DP's")
    axes[0][0].legend(fontsize="x-small")
    save_svg(figure, folder / "tag-library.svg")


def _medians(curves: Sequence[Search], marks: Sequence[float], what: str, careful: Search) -> list[float]:
    """Speeds of the median seed at each mark; 0 before a plan is there."""
    cost = careful.improvements[-1].cost

    def speed(found: Search, mark: float) -> float:
        done = [i.cost for i in found.improvements if getattr(i, what) <= mark]
        return cost / done[-1] if done else 0.0

    return [statistics.median(speed(found, mark) for found in curves) for mark in marks]
