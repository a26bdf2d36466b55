"""Problems that policies are judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from halidegym.native._core import InvalidParameter
from halidegym.native.weights import builtin_weights, make_weights, save_weights
from halidegym.training.episodes.judge import Judge
from halidegym.training.ppo.settings import PPOSettings
from trainings_for_tests import PPO


def settings(**changes: object) -> PPOSettings:
    judging = {"problems": 2, "samples": 2, "temperature": 0.1, "every": 1}
    return PPOSettings.model_validate({**PPO, "pipelines": ["random"], "pool": 4, "judging": judging, **changes})


def test_weights_that_rate_nothing_are_told_of(tmp_path: Path) -> None:
    """Rather than looked for a problem that they rate."""
    tensors = builtin_weights().tensors()
    absurd = np.where(tensors["conv1_filter"] > 0, 3.3e38, -3.3e38).astype(np.float32)
    path = tmp_path / "absurd.weights"
    save_weights(make_weights({**tensors, "conv1_filter": absurd}), path)
    with pytest.raises(InvalidParameter, match="cost that is no number"):
        Judge(settings(weights=str(path)))
