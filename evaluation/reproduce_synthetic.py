"""Figures 6 and 7 and Table 5 of MB2FBS (Gao et al. 2022): accuracy and expansions on random trees.

Accuracy is the optimal path cost by the one found. Searches compare path costs, and search once. The paper's trees are not
known, so compare trends, not digits.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.mb2fbs import MB2FBS
from halidegym.native._core import SyntheticTree

BRANCHING, DEPTH = 4, 8


@dataclass(frozen=True)
class Point:
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


def algorithms(beam_size: int, beta2: int) -> dict[str, MB2FBS]:
    """Return the three that the paper compares; beta2 of the places of each iteration are for pushing onward."""
    beta1 = beam_size - beta2
    return {
        "beam": MB2FBS.preset("beam", beta=beam_size),
        "uncontrolled": MB2FBS(beta1, beta2, None, passes=1, priority="cost"),
        "controlled": MB2FBS(beta1, beta2, beam_size, passes=1, priority="cost"),
    }


def figure_6(deltas: Sequence[float] = (0, 1, 2, 5, 10, 20, 50, 100), trees: int = 10) -> list[Point]:
    """Accuracy against delta, for 32 places an iteration, two of them onward."""
    return [
        _mean("figure 6", name, agent, delta, delta, trees)
        for delta in deltas
        for name, agent in algorithms(32, 2).items()
    ]


def figure_7(beam_sizes: Sequence[int] = (8, 16, 32, 64, 128, 256), trees: int = 10) -> list[Point]:
    """Accuracy and expansions against the number of places, two of them onward; delta is 100."""
    return [
        _mean("figure 7", name, agent, beam_size, 100, trees)
        for beam_size in beam_sizes
        for name, agent in algorithms(beam_size, 2).items()
    ]


def table_5(beta2s: Sequence[int] = (0, 2, 8, 16, 32, 64, 128), trees: int = 10) -> list[Point]:
    """Accuracy and expansions against the number of places for pushing onward, of 256; delta is 100."""
    return [
        _mean("table 5", name, agent, beta2, 100, trees)
        for beta2 in beta2s
        for name, agent in algorithms(256, beta2).items()
        if name != "beam"
    ]


def _mean(experiment: str, name: str, agent: MB2FBS, parameter: float, delta: float, trees: int) -> Point:
    accuracies, expansions = [], []
    for seed in range(trees):
        tree = SyntheticTree(branching=BRANCHING, depth=DEPTH, delta=float(delta), seed=seed)
        found = agent.solve(tree)
        accuracies.append(tree.optimum()[0] / found.cost)
        expansions.append(found.expansions)
    return Point(experiment, name, parameter, statistics.mean(accuracies), statistics.mean(expansions))


def write_csv(points: Iterable[Point], path: Path) -> None:
    """Write one line a point."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Point.__dataclass_fields__)
        writer.writerows(vars(point).values() for point in points)
