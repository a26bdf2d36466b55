"""Curves and logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from halidegym.native._core import InvalidParameter
from halidegym.training.logs import Logs


def test_a_curve_goes_on_where_it_was(tmp_path: Path) -> None:
    with Logs(tmp_path) as logs:
        logs.add_to_curve(1, {"loss": 2.0})
        kept = list(logs.curve)
        logs.add_to_curve(2, {"loss": 9.0})
    with Logs(tmp_path, kept, 1) as logs:
        logs.add(2, {"throughput": 100.0})
        logs.add_to_curve(2, {"loss": 1.23456789, "accuracy": 0.5})
    assert (tmp_path / "curve.csv").read_text().split() == ["step,loss,accuracy", "1,2,", "2,1.23457,0.5"]
    assert list((tmp_path / "tensorboard").iterdir())


def test_missing_wandb_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    try:
        import wandb  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(InvalidParameter, match="wandb_project='x': wandb is not installed; run pip install wandb"):
            Logs(tmp_path, project="x")
