"""Figures 6 and 7 and Table 5 of MB2FBS (Gao et al. 2022): accuracy and expansions on random trees.

Accuracy is the optimal path cost by the one found. Searches compare path costs, and search once. The paper's trees are not
known, so compare trends, not digits.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.evaluation.output.plots import new_figure, save_svg
from halidegym.native._core import SyntheticTree

BRANCHING, DEPTH = 4, 8

#: Table 5 of the paper: accuracy and expansions, by algorithm and beta2.
PAPER_TABLE_5: Mapping[tuple[str, float], tuple[float, float]] = {
    ("uncontrolled", 0): (0.939, 1109.4),
    ("uncontrolled", 2): (0.939, 1114.6),
    ("uncontrolled", 8): (0.945, 1137.0),
    ("uncontrolled", 16): (0.945, 1173.0),
    ("uncontrolled", 32): (0.952, 1328.6),
    ("uncontrolled", 64): (0.930, 1462.6),
    ("uncontrolled", 128): (0.942, 1639.8),
    ("controlled", 0): (0.939, 1109.0),
    ("controlled", 2): (0.939, 1105.8),
    ("controlled", 8): (0.939, 1098.0),
    ("controlled", 16): (0.939, 1087.7),
    ("controlled", 32): (0.945, 1073.8),
    ("controlled", 64): (0.714, 1039.5),
    ("controlled", 128): (0.708, 1024.4),
}


@dataclass(frozen=True)
class FigurePoint:
    """Means over trees.

    Attributes:
        experiment: "figure 6", "figure 7" or "table 5".
        algorithm: as the paper names it.
        parameter: delta in figure 6, the beam size in figure 7, beta2 in table 5.
        accuracy: optimal path cost by the one found.
        expansions: of inner nodes.
    """

    experiment: str
    algorithm: str
    parameter: float
    accuracy: float
    expansions: float

    @property
    def paper(self) -> tuple[float, float] | None:
        """Accuracy and expansions that the paper prints; it does so in Table 5 only, and plots the others."""
        return PAPER_TABLE_5.get((self.algorithm, self.parameter)) if self.experiment == "table 5" else None


def algorithms(beam_size: int, beta2: int) -> dict[str, MB2FBS]:
    """Return the three that the paper compares; beta2 of the places of each iteration are for pushing onward."""
    beta1 = beam_size - beta2
    return {
        "beam": MB2FBS.preset("beam", beta=beam_size),
        "uncontrolled": MB2FBS(beta1, beta2, None, passes=1, priority="cost"),
        "controlled": MB2FBS(beta1, beta2, beam_size, passes=1, priority="cost"),
    }


def figure_6(deltas: Sequence[float] = (0, 1, 2, 5, 10, 20, 50, 100), trees: int = 10) -> list[FigurePoint]:
    """Accuracy against delta, for 32 places an iteration, two of them onward."""
    return [
        _mean("figure 6", name, agent, delta, delta, trees)
        for delta in deltas
        for name, agent in algorithms(32, 2).items()
    ]


def figure_7(beam_sizes: Sequence[int] = (8, 16, 32, 64, 128, 256), trees: int = 10) -> list[FigurePoint]:
    """Accuracy and expansions against the number of places, two of them onward; delta is 100."""
    return [
        _mean("figure 7", name, agent, beam_size, 100, trees)
        for beam_size in beam_sizes
        for name, agent in algorithms(beam_size, 2).items()
    ]


def table_5(beta2s: Sequence[int] = (0, 2, 8, 16, 32, 64, 128), trees: int = 10) -> list[FigurePoint]:
    """Accuracy and expansions against the number of places for pushing onward, of 256; delta is 100."""
    return [
        _mean("table 5", name, agent, beta2, 100, trees)
        for beta2 in beta2s
        for name, agent in algorithms(256, beta2).items()
        if name != "beam"
    ]


def _mean(experiment: str, name: str, agent: MB2FBS, parameter: float, delta: float, trees: int) -> FigurePoint:
    accuracies, expansions = [], []
    for seed in range(trees):
        tree = SyntheticTree(branching=BRANCHING, depth=DEPTH, delta=float(delta), seed=seed)
        found = agent.solve(tree)
        accuracies.append(tree.optimum()[0] / found.cost)
        expansions.append(found.expansions)
    return FigurePoint(experiment, name, parameter, statistics.mean(accuracies), statistics.mean(expansions))


def draw(points: Sequence[FigurePoint], path: Path) -> None:
    """Draw Figures 6 and 7, and Table 5 as a third plot with the paper's values as hollow marks.

    Raises:
        Error: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    figure = new_figure(14, 7)
    upper, lower = figure.subplots(2, 3)
    for column, (experiment, parameter) in enumerate((("figure 6", "delta"), ("figure 7", "b"), ("table 5", "beta2"))):
        upper[column].set(title=experiment)
        for axis, what in ((upper[column], "accuracy"), (lower[column], "expansions")):
            for color, name in enumerate(algorithms(32, 2)):
                line = [p for p in points if (p.experiment, p.algorithm) == (experiment, name)]
                printed = [(p.parameter, p.paper[what == "expansions"]) for p in line if p.paper is not None]
                if line:
                    values = [getattr(p, what) for p in line]
                    axis.plot([p.parameter for p in line], values, f"C{color}o-", label=name)
                if printed:
                    axis.plot(*zip(*printed, strict=True), f"C{color}o", fillstyle="none", label=f"{name}: paper's")
            axis.set(xlabel=parameter, ylabel=what, ylim=(0, None))
            axis.legend()
    save_svg(figure, path)
