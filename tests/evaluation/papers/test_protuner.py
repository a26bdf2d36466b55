"""The comparison of tree search with the beam, on the smallest pipeline."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from halidegym.evaluation.cli import main
from halidegym.evaluation.papers.protuner import BEAM, Run, equal_time, figure_7, ratios


def test_equal_time_is_shown_written_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["reproduce", "equal-time", "mat_mul", "--output", str(tmp_path / "new")]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "geometric mean" in result.output
    with (tmp_path / "new" / "equal-time.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["algorithm"] for row in rows] == [BEAM, *equal_time()]
    assert all(float(row["beam_cost"]) == float(rows[0]["cost"]) for row in rows)
    assert "<svg" in (tmp_path / "new" / "equal-time.svg").read_text()


def test_ratios_are_means_over_seeds() -> None:
    runs = [Run("a", "x", seed, cost, 2.0, 1.0, 1.0) for seed, cost in enumerate((1.0, 4.0))]
    assert ratios(runs) == {"x": {"a": pytest.approx(1.0)}}


def test_entrants() -> None:
    scaled = figure_7(0.01)
    assert list(scaled) == [
        "greedy",
        "mcts_30s",
        "mcts_10s",
        "mcts_1s",
        "mcts_0.5s",
        "mcts_Cp10_30s",
        "mcts_sqrt2_30s",
    ]
    assert scaled["mcts_10s"].agent.seconds_per_decision == pytest.approx(0.1)  # type: ignore[attr-defined]
    assert [entrant.beam_times for entrant in equal_time((1, 4)).values()] == [1, 1, 1, 1, 1, 4, 4, 4]
