"""Problems that policies are judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.native._core import InvalidParameter
from halidegym.native.weights import builtin_weights, make_weights, save_weights
from halidegym.training.episodes import judge
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


@pytest.mark.parametrize(
    ("learned_from", "judged_by"),
    [
        (["random"], ["random-validation-v1"]),
        (["random-train-v2"], ["random-validation-v2"]),
        (["random-train-v2", "random-train-v1"], ["random-validation-v2", "random-validation-v1"]),
    ],
)
def test_problems_are_held_out_of_the_versions_that_are_learned_from(
    learned_from: list[str], judged_by: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []

    def recorded(name: str, *, target: str, parallelism: int) -> SchedulingProblem:
        loaded.append(name)
        return load_problem(name, target=target, parallelism=parallelism)

    monkeypatch.setattr(judge, "load_problem", recorded)
    Judge(settings(pipelines=learned_from))
    assert list(dict.fromkeys(name.partition("/")[0] for name in loaded)) == judged_by
