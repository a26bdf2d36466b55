"""Plots are written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from disks_for_tests import full_disk
from halidegym.evaluation.output.plots import new_figure, save_figure, save_svg


def test_a_full_disk_costs_no_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="an optional dependency")
    figure, path = new_figure(1, 1), tmp_path / "plot.svg"
    save_svg(figure, path)
    before = path.read_bytes()
    for save in (save_svg, save_figure):
        with full_disk(), pytest.raises(OSError, match=r"plot\.svg"):
            save(figure, path)
        assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
