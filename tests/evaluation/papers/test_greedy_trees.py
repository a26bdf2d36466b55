"""The comparison of standard with greedy trees, on the smallest pipeline."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from halidegym.evaluation.cli import main
from halidegym.evaluation.papers import greedy_trees
from halidegym.evaluation.papers.greedy_trees import GREEDY_TREES, EnsembleRun, label, summarize


def test_it_is_shown_written_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(greedy_trees, "GREEDY_TREES", (0, 16))
    arguments = ["reproduce", "protuner-figures-4-5", "mat_mul", "--scale", "0.0005", "--output", str(tmp_path / "new")]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "16_0" in result.output
    with (tmp_path / "new" / "figures-4-5.csv").open() as file:
        rows = [{name: int(row[name]) for name in list(row)[1:] if name != "cost"} for row in csv.DictReader(file)]
    assert [row["greedy_trees"] for row in rows] == [0, 16]
    assert all(row["decisions"] > 0 for row in rows)
    assert rows[0]["greedy_decisions"] == 0
    assert rows[-1]["greedy_decisions"] == rows[-1]["decisions"]
    assert "<svg" in (tmp_path / "new" / "figures-4-5.svg").read_text()


def test_the_summary_is_over_seeds_and_relative_to_the_best() -> None:
    runs = [
        EnsembleRun("a", 0, 0, 2.0, 4, 0),
        EnsembleRun("a", 0, 1, 8.0, 4, 0),
        EnsembleRun("a", 16, 0, 4.0, 3, 3),
        EnsembleRun("a", 16, 1, 4.0, 5, 1),
    ]
    summary = summarize(runs)["a"]
    assert (summary[0].greedy_share, summary[16].greedy_share) == (0, 0.5)
    assert (summary[0].relative_cost, summary[16].relative_cost) == (pytest.approx(0.5), pytest.approx(0.5))
    assert [label(greedy) for greedy in GREEDY_TREES] == ["16_0", "15_1", "12_4", "8_8", "4_12", "1_15", "0_16"]
