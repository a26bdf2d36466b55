"""Tables 2 and 3 of MB2FBS (Gao et al. 2022): best costs and expansions of beam search and MB2FBS, beside the paper's.

The setup is the one in which the Adams2019 autoscheduler finds the paper's costs of a beam of 32 to the last digit on eight
pipelines (`EXACT`); on these the paper's costs of MB2FBS are direct targets. On the others, compare ratios to the beam.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from halidegym.agents.plan import Rules
from halidegym.evaluation.isolated import run_isolated
from halidegym.evaluation.pipeline_argument import load_problem
from halidegym.native._core import Space, beam_search, mb2fbs

#: Of the paper, found by comparing the plugin's costs with the printed ones.
TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"
PARALLELISM = 16
PASSES = 5


class Figures(NamedTuple):
    """One cell of both tables.

    Attributes:
        cost: the best of all passes.
        expansions: mean per pass. MB2FBS' include the complete states that it takes off its queue, which is the count that
            comes close to the paper's; a beam ends at its first one.
    """

    cost: float
    expansions: float


BEAM_32, BEAM_64, UNCONTROLLED, CONTROLLED = "beam 32", "beam 64", "(30, 2, inf)", "(28, 4, 32)"
ALGORITHMS: Sequence[str] = (BEAM_32, BEAM_64, UNCONTROLLED, CONTROLLED)

#: What the paper prints, in the order of `ALGORITHMS`.
PAPER: Mapping[str, tuple[Figures, Figures, Figures, Figures]] = {
    name: tuple(Figures(cost, expansions) for cost, expansions in row)  # type: ignore[misc]
    for name, row in {
        "bilateral_grid": ((5.00327, 514), (5.00327, 998), (4.85979, 570.4), (5.08237, 502.2)),
        "local_laplacian": ((54.0256, 6594), (55.7315, 13176), (45.3922, 6722.2), (44.3335, 5903.6)),
        "nl_means": ((47.795, 834), (47.795, 1660), (46.3747, 1066.8), (37.8478, 786.4)),
        "lens_blur": ((10.4686, 4802), (10.205, 9572), (10.1556, 5113.2), (8.20918, 4317.2)),
        "camera_pipe": ((4.31618, 2370), (4.02908, 4723), (4.39345, 2627), (4.399, 2244)),
        "stencil_chain": ((77.213, 2242), (77.2167, 4451), (75.7563, 2959), (73.2237, 2178.4)),
        "harris": ((1.73584, 770), (1.73584, 1510), (1.83047, 923.2), (1.73923, 752.6)),
        "hist": ((4.54293, 578), (6.70719, 1136), (4.0048, 729), (4.06191, 570.8)),
        "max_filter": ((61.9724, 578), (58.9023, 1148), (61.9724, 635), (61.9724, 573.2)),
        "unsharp": ((4.43961, 578), (4.40831, 1148), (4.382, 639.2), (4.382, 570.4)),
        "interpolate": ((17.6231, 3266), (17.5683, 6524), (17.2449, 3365.2), (17.3213, 2932.4)),
        "conv_layer": ((23.36, 258), (23.36, 514), (23.36, 286.6), (23.36, 282.8)),
        "iir_blur": ((9.24476, 258), (9.54103, 508), (9.24476, 357.2), (9.24476, 274)),
        "bgu": ((16.5894, 1282), (16.5894, 2556), (16.5362, 1292.8), (16.6023, 1174.4)),
        "mat_mul": ((11.5766, 194), (11.5766, 358), (11.5766, 223.8), (11.5766, 217.4)),
    }.items()
}

#: Where the autoscheduler's beam of 32 has the paper's cost to the last printed digit.
EXACT: Sequence[str] = (
    "harris",
    "unsharp",
    "hist",
    "iir_blur",
    "mat_mul",
    "conv_layer",
    "max_filter",
    "stencil_chain",
)


@dataclass(frozen=True)
class Cell:
    """One algorithm on one pipeline: ours, and what the paper prints."""

    pipeline: str
    algorithm: str
    ours: Figures
    paper: Figures
    seconds: float

    @property
    def equal(self) -> bool:
        """Whether the cost is the paper's in all printed digits."""
        printed = f"{self.paper.cost:g}"
        return f"{self.ours.cost:.{len(printed.replace('.', ''))}g}" == printed


def reproduce(
    pipelines: Iterable[str] = EXACT,
    algorithms: Sequence[str] = ALGORITHMS,
    *,
    on_step: Callable[[str], None] = lambda text: None,
) -> list[Cell]:
    """Run the algorithms on pipelines of the paper, one after another, each in a process of its own.

    Args:
        pipelines: keys of `PAPER`.
        algorithms: some of `ALGORITHMS`.
        on_step: called with a text when a run begins.

    Raises:
        KeyError: the paper has no such pipeline or algorithm.
        Error: a run fails.
    """
    cells = []
    for pipeline in pipelines:
        for algorithm in algorithms:
            on_step(f"{pipeline}, {algorithm}")
            paper = PAPER[pipeline][ALGORITHMS.index(algorithm)]
            ours, seconds = run_isolated(_run, pipeline, algorithm)
            cells.append(Cell(pipeline, algorithm, ours, paper, seconds))
    return cells


def _run(pipeline: str, algorithm: str) -> tuple[Figures, float]:
    space = Rules().space(load_problem(pipeline, target=TARGET, parallelism=PARALLELISM))
    return run(space, algorithm)


def run(space: Space, algorithm: str) -> tuple[Figures, float]:
    """Run one of `ALGORITHMS`: its figures, and the seconds that it took."""
    if algorithm in (BEAM_32, BEAM_64):
        beam = beam_search(space, beam_size=int(algorithm.split()[1]), passes=PASSES)
        return Figures(beam.solutions[0].cost, beam.expansions / PASSES), beam.seconds
    if algorithm == UNCONTROLLED:
        result = mb2fbs(space, beta1=30, beta2=2, beta=None, passes=PASSES)
    else:
        result = mb2fbs(space, beta1=28, beta2=4, beta=32, passes=PASSES)
    expansions = (result.expansions + sum(result.pass_complete_states)) / PASSES
    return Figures(result.solutions[0].cost, expansions), result.seconds


def geometric_means(cells: Iterable[Cell]) -> dict[str, tuple[float, float]]:
    """Return per algorithm the geometric means of our costs and of the paper's, over the same pipelines."""
    logarithms: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        logarithms.setdefault(cell.algorithm, []).append((math.log(cell.ours.cost), math.log(cell.paper.cost)))
    return {
        algorithm: (math.exp(sum(ours) / len(ours)), math.exp(sum(paper) / len(paper)))
        for algorithm, (ours, paper) in ((name, tuple(zip(*rows, strict=True))) for name, rows in logarithms.items())
    }


_COLUMNS = ("pipeline", "algorithm", "cost", "paper's cost", "equal", "expansions", "paper's expansions", "seconds")


def write_csv(cells: Iterable[Cell], path: Path) -> None:
    """Write one line a cell."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        writer.writerows(row(cell) for cell in cells)


def write_markdown(cells: Iterable[Cell], path: Path) -> None:
    """Write one line a cell, as a table."""
    rows = [_COLUMNS, ("---",) * len(_COLUMNS), *(row(cell) for cell in cells)]
    path.write_text("".join(f"| {' | '.join(line)} |\n" for line in rows))


def row(cell: Cell) -> tuple[str, ...]:
    """Return a cell as text, with the paper's number of digits."""
    return (
        cell.pipeline,
        cell.algorithm,
        f"{cell.ours.cost:.6g}",
        f"{cell.paper.cost:g}",
        "yes" if cell.equal else "no",
        f"{cell.ours.expansions:.1f}",
        f"{cell.paper.expansions:.1f}",
        f"{cell.seconds:.1f}",
    )
