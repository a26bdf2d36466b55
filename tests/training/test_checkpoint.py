"""Checkpoints, whole and damaged."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch

from halidegym.native._core import FormatError, InvalidParameter
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint

SETTINGS = {"seed": 0, "network": {"width": 64}}


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    assert load_checkpoint(path, SETTINGS) is None
    state = {"step": 3, "network": {"weight": torch.arange(3.0)}, "curve": [{"loss": 1.5}], "plans": {4: [(1, 2)]}}
    save_checkpoint(path, SETTINGS, state)
    again = load_checkpoint(path, SETTINGS)
    assert again is not None and torch.equal(again["network"].pop("weight"), torch.arange(3.0))
    assert again == {**state, "network": {}}
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, SETTINGS, {})
    with pytest.raises(InvalidParameter, match=r"other settings: batch=None, now 3, seed=0, now 1. Train into another"):
        load_checkpoint(path, {**SETTINGS, "seed": 1, "batch": 3})


def test_settings_may_grow_if_there_is_no_reason_why_not(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, {**SETTINGS, "steps": 10}, {"step": 10})
    more = {**SETTINGS, "steps": 20}
    assert load_checkpoint(path, more, growing={"steps": ""}) == {"step": 10}
    for growing, message in (
        ({"steps": "all count"}, r"10, now 20 \(all count\)\. Train"),
        ({}, r"10, now 20\. Train"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            load_checkpoint(path, more, growing=growing)
    with pytest.raises(InvalidParameter, match="steps=10, now 5"):
        load_checkpoint(path, {**SETTINGS, "steps": 5}, growing={"steps": ""})
    save_checkpoint(path, SETTINGS, {})  # of another recipe
    with pytest.raises(InvalidParameter, match="steps=None, now 20"):
        load_checkpoint(path, more, growing={"steps": ""})


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("executed",)


def test_what_is_no_checkpoint_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, SETTINGS, {"weight": torch.zeros(1000)})
    data = path.read_bytes()
    flipped = bytearray(data)
    flipped[data.index(bytes(1000)) + 500] ^= 1  # within the weights
    for content in (b"", data[:100], data[:-50], flipped, pickle.dumps(Bomb()), pickle.dumps([])):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=f"Cannot read the checkpoint {path}"):
            load_checkpoint(path, SETTINGS)
    torch.save({"kind": "other", "version": 1}, path)
    with pytest.raises(FormatError, match="is a other of version 1"):
        load_checkpoint(path, SETTINGS)
    assert "executed" not in capsys.readouterr().out
