"""Curves and logs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from halidegym.native._core import InvalidParameter
from halidegym.training.logs import Logs


def test_a_curve_goes_on_where_it_was(tmp_path: Path) -> None:
    with Logs(tmp_path) as logs:
        logs.add_to_curve(0, {"loss": 4.0})
        logs.add_to_curve(1, {"loss": 2.0})
        kept = list(logs.curve)
        logs.add_to_curve(2, {"loss": 9.0})
    time.sleep(1.1)  # TensorBoard orders what it reads by seconds
    with Logs(tmp_path, kept) as logs:
        logs.add(2, {"throughput": 100.0})
        logs.add_to_curve(2, {"loss": 1.25, "accuracy": 0.5})
    assert (tmp_path / "curve.csv").read_text().split() == ["step,loss,accuracy", "0,4,", "1,2,", "2,1.25,0.5"]
    assert tensorboard(tmp_path, "loss") == [(0, 4.0), (1, 2.0), (2, 1.25)]


def test_a_curve_that_begins_anew_forgets_the_old_one(tmp_path: Path) -> None:
    for loss in (4.0, 3.0):
        with Logs(tmp_path) as logs:
            logs.add_to_curve(0, {"loss": loss})
        time.sleep(1.1)
    assert tensorboard(tmp_path, "loss") == [(0, 3.0)]


def test_a_curve_that_was_removed_is_written_again(tmp_path: Path) -> None:
    with Logs(tmp_path) as logs:
        logs.add_to_curve(0, {"loss": 4.0})
    before = (tmp_path / "curve.csv").read_bytes()
    (tmp_path / "curve.csv").unlink()
    with Logs(tmp_path, logs.curve):
        assert (tmp_path / "curve.csv").read_bytes() == before


def test_numbers_of_a_curve_are_short(tmp_path: Path) -> None:
    with Logs(tmp_path) as logs:
        logs.add_to_curve(1, {"loss": 1.23456789})
    assert (tmp_path / "curve.csv").read_text().split() == ["step,loss", "1,1.23457"]


def tensorboard(folder: Path, name: str) -> list[tuple[int, float]]:
    """Steps and values that TensorBoard shows."""
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(name)]


def test_missing_wandb_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    try:
        import wandb  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(InvalidParameter, match="wandb_project='x': wandb is not installed; run pip install wandb"):
            Logs(tmp_path, project="x")
