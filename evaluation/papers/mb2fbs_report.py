"""What `halidegym reproduce mb2fbs-tables` writes: all cells as CSV, the tables as Markdown, and a plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from halidegym.evaluation.output.pages import marked_table, with_tables, write_table
from halidegym.evaluation.output.plots import new_figure, save_svg
from halidegym.evaluation.papers.mb2fbs import BEAM_32, TABLE_4, TABLES_2_AND_3, Cell, geometric_means
from halidegym.native.files import write_atomically

COLUMNS = ("pipeline", "algorithm", "cost", "paper's cost", "excess", "expansions", "paper's expansions", "seconds")


def row(cell: Cell) -> tuple[str, ...]:
    """Return a cell as text, one a column."""
    return (
        cell.pipeline,
        cell.algorithm,
        f"{cell.ours.cost:.6g}",
        cell.paper.cost,
        "equal" if cell.equal else f"{cell.excess:+.2%}",
        f"{cell.ours.expansions:.1f}",
        f"{cell.paper.expansions:.1f}",
        f"{cell.seconds:.1f}",
    )


def write_report(cells: Sequence[Cell], folder: Path) -> None:
    """Write ``tables.csv``, ``tables.md`` with a CSV file for each of its tables, and ``tables.svg``.

    Raises:
        Error: matplotlib is not installed.
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "tables.csv", COLUMNS, [row(cell) for cell in cells])
    page = ""
    for title, algorithms in (("Tables 2 and 3", TABLES_2_AND_3), ("Table 4", TABLE_4)):
        file = f"{title.lower().replace(' ', '-')}.csv"
        write_table(folder / file, *_table(cells, algorithms))
        page += f"{title}\n\n{marked_table(file)}\n"
    write_atomically(folder / "tables.md", with_tables(page, folder).encode())
    _draw(cells, folder / "tables.svg")


def _by_pipeline(cells: Sequence[Cell]) -> Mapping[str, Mapping[str, Cell]]:
    rows: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.pipeline, {})[cell.algorithm] = cell
    return rows


def _table(cells: Sequence[Cell], algorithms: Sequence[str]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the header and the rows: cost / expansions, per algorithm ours and the paper's; equal costs are bold."""

    def ours(cell: Cell) -> str:
        text = f"{cell.ours.cost:.6g} / {cell.ours.expansions:g}"
        return f"**{text}**" if cell.equal else text

    rows: list[list[str]] = []
    for pipeline, of in _by_pipeline(cells).items():
        pairs = ((ours(of[name]), f"{of[name].paper.cost} / {of[name].paper.expansions:g}") for name in algorithms)
        rows.append([pipeline, *(text for pair in pairs for text in pair)])
    means = geometric_means(cells)
    rows.append(["geometric mean", *(f"{mean:.6g}" for name in algorithms for mean in means[name])])
    return ["pipeline", *(f"{name}{suffix}" for name in algorithms for suffix in ("", ": paper"))], rows


def _draw(cells: Sequence[Cell], path: Path) -> None:
    """Draw costs and expansions relative to the beam of 32, ours to ours and the paper's to the paper's."""
    rows = _by_pipeline(cells)
    figure = new_figure(7 + 0.5 * len(rows), 8)
    upper, lower = figure.subplots(2, 1, sharex=True)
    others = [name for name in (*TABLES_2_AND_3, *TABLE_4) if name != BEAM_32]
    for number, name in enumerate(others):
        color = f"C{number}"
        positions = [index + (number - (len(others) - 1) / 2) * 0.15 for index in range(len(rows))]
        for axis, figure_of in ((upper, _costs), (lower, _expansions)):
            ours, papers = zip(*(_relative(row, name, figure_of) for row in rows.values()), strict=True)
            axis.scatter(positions, ours, s=22, color=color, label=f"{name}: ours")
            axis.scatter(positions, papers, s=22, facecolors="none", edgecolors=color, label=f"{name}: paper's")
    for axis, what in ((upper, "cost"), (lower, "expansions")):
        axis.axhline(1, color="gray", linewidth=0.8)
        axis.set(ylabel=f"{what} / that of beam 32")
    lower.set_yscale("log")
    lower.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_minor_formatter("{x:g}")
    lower.set_xticks(range(len(rows)), list(rows), rotation=35, ha="right")
    figure.legend(*upper.get_legend_handles_labels(), fontsize="small", loc="outside right upper")
    save_svg(figure, path)


def _costs(cell: Cell) -> tuple[float, float]:
    return cell.ours.cost, float(cell.paper.cost)


def _expansions(cell: Cell) -> tuple[float, float]:
    return cell.ours.expansions, cell.paper.expansions


def _relative(
    row: Mapping[str, Cell], algorithm: str, figure_of: Callable[[Cell], tuple[float, float]]
) -> tuple[float, float]:
    (ours, paper), (our_beam, papers_beam) = figure_of(row[algorithm]), figure_of(row[BEAM_32])
    return ours / our_beam, paper / papers_beam
