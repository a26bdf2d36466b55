"""The papers' experiments with MB2FBS, run again on the smallest pipeline and on few trees."""

from __future__ import annotations

import csv
from pathlib import Path

from click.testing import CliRunner

from halidegym.evaluation import reproduce_synthetic
from halidegym.evaluation.cli import main
from halidegym.evaluation.reproduce_mb2fbs import ALGORITHMS, PAPER, Cell, Figures, geometric_means


def test_table_2_is_shown_and_written(tmp_path: Path) -> None:
    arguments = ["reproduce", "mb2fbs-table2", "mat_mul", "--output", str(tmp_path / "new")]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "194.0" in result.output
    with (tmp_path / "new" / "table2.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["algorithm"] for row in rows] == list(ALGORITHMS)
    assert all(row["cost"] == row["paper's cost"] == "11.5766" and row["equal"] == "yes" for row in rows)
    assert rows[0]["expansions"] == rows[0]["paper's expansions"] == "194.0"
    assert (tmp_path / "new" / "table2.md").read_text().count("\n") == 2 + len(ALGORITHMS)


def test_the_paper_agrees_with_itself() -> None:
    """Its geometric means, which it prints below Table 2, are those of the costs recorded here."""
    cells = [
        Cell(pipeline, algorithm, figures, figures, 0)
        for pipeline, row in PAPER.items()
        for algorithm, figures in zip(ALGORITHMS, row, strict=True)
    ]
    printed = dict(zip(ALGORITHMS, (13.29263, 13.5584, 12.963, 12.57535), strict=True))
    for algorithm, (ours, paper) in geometric_means(cells).items():
        assert ours == paper
        assert abs(paper - printed[algorithm]) < 0.001
    assert all(cell.equal for cell in cells)
    assert Cell("", "", Figures(23.3599, 1), Figures(23.36, 1), 0).equal
    assert not Cell("", "", Figures(11.5765, 1), Figures(11.5766, 1), 0).equal


def test_random_trees_show_the_papers_trends(tmp_path: Path) -> None:
    figure_6 = {(p.algorithm, p.parameter): p for p in reproduce_synthetic.figure_6(deltas=(1, 100))}
    assert figure_6["beam", 1].accuracy > figure_6["beam", 100].accuracy
    assert figure_6["uncontrolled", 100].accuracy > figure_6["beam", 100].accuracy
    table_5 = {(p.algorithm, p.parameter): p for p in reproduce_synthetic.table_5(beta2s=(0, 64))}
    assert {p.expansions for (_, parameter), p in table_5.items() if parameter == 0} == {1109}
    assert abs(table_5["uncontrolled", 64].expansions / 1462.6 - 1) < 0.05
    assert abs(table_5["controlled", 64].expansions / 1039.5 - 1) < 0.01
    reproduce_synthetic.write_csv(table_5.values(), tmp_path / "table5.csv")
    assert (tmp_path / "table5.csv").read_text().count("\n") == 5


def test_random_trees_are_shown() -> None:
    result = CliRunner().invoke(main, ["reproduce", "mb2fbs-synthetic", "--trees", "1"], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert result.output.count("figure 7") == 18
