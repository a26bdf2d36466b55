"""The papers' experiments with MB2FBS, run again on the smallest pipeline and on few trees."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner

from halidegym.evaluation.cli import main
from halidegym.evaluation.output.tables import write_csv
from halidegym.evaluation.papers import synthetic_trees
from halidegym.evaluation.papers.mb2fbs import (
    ALGORITHMS,
    PAPER,
    Cell,
    Figures,
    Printed,
    geometric_means,
)


def test_tables_are_shown_and_written(tmp_path: Path) -> None:
    arguments = ["reproduce", "mb2fbs-tables", "mat_mul", "--output", str(tmp_path / "new")]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "194.0" in result.output
    with (tmp_path / "new" / "tables.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["algorithm"] for row in rows] == list(ALGORITHMS)
    assert all(row["cost"] == "11.5766" and row["excess"] == "equal" for row in rows)
    assert [row["paper's cost"] for row in rows] == ["11.5766"] * 4 + ["11.58"] * 2
    assert rows[0]["expansions"] == rows[0]["paper's expansions"] == "194.0"
    tables = (tmp_path / "new" / "tables.md").read_text()
    assert tables.count("| mat_mul | **11.5766 / ") == 2
    assert (tmp_path / "new" / "tables.svg").read_text().count("<svg") == 1


def test_the_paper_agrees_with_itself() -> None:
    """Its means, which it prints below the tables, are those of the figures recorded here."""
    cells = [
        Cell(pipeline, algorithm, Figures(float(printed.cost), printed.expansions), printed, 0)
        for pipeline, row in PAPER.items()
        for algorithm, printed in row.items()
    ]
    assert len(cells) == 15 * len(ALGORITHMS)
    costs = (13.29263, 13.5584, 12.963, 12.57535, 12.61, 12.70)
    expansions = (1674.5, 3332.1, 1834.0, 1552.0, 1992.87, 1551.99)
    printed_means = dict(zip(ALGORITHMS, zip(costs, expansions, strict=True), strict=True))
    for algorithm, (ours, paper) in geometric_means(cells).items():
        cost, mean_expansions = printed_means[algorithm]
        assert ours == paper == pytest.approx(cost, rel=1e-3)
        assert fmean(row[algorithm].expansions for row in PAPER.values()) == pytest.approx(mean_expansions, abs=0.06)
    assert all(cell.equal for cell in cells)


@pytest.mark.parametrize(
    ("ours", "printed", "equal"),
    [(23.3599, "23.36", True), (11.5765, "11.5766", False), (71.604, "71.60", True), (71.606, "71.60", False)],
)
def test_equal_means_all_printed_digits(ours: float, printed: str, equal: bool) -> None:
    assert Cell("", "", Figures(ours, 1), Printed(printed, 1), 0).equal == equal


def test_random_trees_show_the_papers_trends(tmp_path: Path) -> None:
    figure_6 = {(p.algorithm, p.parameter): p for p in synthetic_trees.figure_6(deltas=(1, 100))}
    assert figure_6["beam", 1].accuracy > figure_6["beam", 100].accuracy
    assert figure_6["uncontrolled", 100].accuracy > figure_6["beam", 100].accuracy
    table_5 = {(p.algorithm, p.parameter): p for p in synthetic_trees.table_5(beta2s=(0, 64))}
    assert {p.expansions for (_, parameter), p in table_5.items() if parameter == 0} == {1109}
    assert abs(table_5["uncontrolled", 64].expansions / 1462.6 - 1) < 0.05
    assert abs(table_5["controlled", 64].expansions / 1039.5 - 1) < 0.01
    write_csv(synthetic_trees.FigurePoint, table_5.values(), tmp_path / "table5.csv")
    assert (tmp_path / "table5.csv").read_text().count("\n") == 5


def test_random_trees_are_shown(tmp_path: Path) -> None:
    arguments = ["reproduce", "mb2fbs-synthetic", "--trees", "1", "--output", str(tmp_path)]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert result.output.count("figure 7") == 18
    plot = (tmp_path / "synthetic.svg").read_text()
    assert all(f">{title}</text>" in plot for title in ("figure 6", "figure 7", "table 5"))
