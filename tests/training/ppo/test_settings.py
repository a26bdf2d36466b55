"""What PPO refuses to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from halidegym.native._core import InvalidParameter
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.settings import CONFIGS, load_settings, parse_settings


@pytest.mark.parametrize("name", ["ppo", "ppo-random", "ppo-smoke"])
def test_shipped_settings_are_right(name: str) -> None:
    settings = load_settings(PPOSettings, name)
    assert settings.num_rollouts * settings.rollout_size >= settings.steps


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pipelines": []}, "there are none"),
        ({"pipelines": ["random-test-v1/3"]}, "random-test-v1/3 is held out"),
        ({"pipelines": ["random-validation-v2/3"]}, "random-validation-v2/3 is held out"),
        ({"pipelines": ["harris", "random-validation-v1/3"]}, "random-validation-v1/3 is held out"),
        ({"pipelines": ["random-test-v2"]}, "random-test-v2 is held out"),
        (
            {"pipelines": ["random", "random-validation-v1"]},
            "random-validation-v1 is held out.*give random-train-v1 or",
        ),
        ({"pipelines": ["random", "harris"]}, "random-train-v1 stands for generated pipelines without end"),
        ({"pipelines": ["papers-v1"]}, "no pipeline 'papers-v1'; give random-train-v1 or random-train-v2, or names"),
        ({"pool": 10}, "pool=10 is for suites of generated pipelines"),
        ({"num_envs": 6, "group_size": 4}, "group_size=4 does not divide num_envs=6"),
        ({"batch": 100}, "batch=100 does not divide num_envs \\* rollout_steps=512"),
        ({"batch": 1}, "batch=1: input should be greater than or equal to 2"),
        ({"clip": 0.0}, "clip=0.0: input should be greater than 0"),
        ({"reward": "measured"}, "reward=measured needs a database"),
        ({"database": "times.db"}, "database='times.db' is for run times"),
        ({"start": "default"}, "start='default' has a network already"),
        ({"start_divergence": 0.1}, "start_divergence=0.1 needs a policy to start from"),
        ({"gamma": 0.9}, "gamma is no setting"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    content = yaml.safe_load(Path(CONFIGS / "ppo-smoke.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InvalidParameter, match=message):
        parse_settings(PPOSettings, {**content, **change}, "the test")
