"""`halidegym distribution`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks_for_tests import halidegym


def test_a_plot_is_drawn_into_the_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = halidegym("distribution", "--pipelines", "2", "--plot", tmp_path / "plot.svg")
    assert result.exit_code == 0, result.output
    assert "2 pipelines" in (tmp_path / "plot.svg").read_text()


@pytest.mark.parametrize("name", ["plot.xyz", "plot"])
def test_a_file_that_can_be_no_plot_is_refused_before_pipelines_are_generated(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    command = import_module("halidegym.evaluation.commands.distribution")
    monkeypatch.setattr(command, "survey", lambda *_: pytest.fail("pipelines were generated"))
    result = halidegym("distribution", "--pipelines", "2", "--plot", tmp_path / name)
    assert result.exit_code == 2
    assert f"{name} has the ending of no plot; give it one of" in result.output
    assert not list(tmp_path.iterdir())
