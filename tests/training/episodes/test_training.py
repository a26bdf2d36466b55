"""Trainings on own episodes keep to their folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from halidegym.training.dqn.settings import DQNSettings
from halidegym.training.dqn.train import train_dqn
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.ppo.train import train_ppo
from trainings_for_tests import DQN, PPO


@pytest.mark.parametrize("recipe", ["ppo", "dqn"])
def test_rollouts_leave_no_folders_among_the_temporary_files(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As stable-baselines3 does for logs, one at each call of `learn`."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.delenv("SB3_LOGDIR", raising=False)
    if recipe == "ppo":
        train_ppo(PPOSettings.model_validate(PPO), tmp_path / "trained")
    else:
        train_dqn(DQNSettings.model_validate(DQN), tmp_path / "trained")
    assert not list(temporary.glob("SB3-*"))
