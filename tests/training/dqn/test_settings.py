"""What DQN refuses to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from halidegym.native._core import InvalidParameter
from halidegym.training.dqn.settings import DQNSettings
from halidegym.training.settings import CONFIGS, load_settings, parse_settings


@pytest.mark.parametrize("name", ["dqn", "dqn-random", "dqn-smoke"])
def test_shipped_settings_are_right(name: str) -> None:
    settings = load_settings(DQNSettings, name)
    assert settings.num_rollouts * settings.rollout_size >= settings.steps


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pipelines": ["random-test-v1/3"]}, "random-test-v1/3 is held out"),
        ({"pipelines": ["papers-v1"]}, "no pipeline 'papers-v1'"),
        ({"pool": 10}, "pool=10 is for suites of generated pipelines"),
        ({"buffer": 32}, "batch=64 exceeds buffer=32"),
        ({"warm_up": 2048}, "warm_up=2048 leaves nothing of steps=2048 to learn in"),
        ({"target_steps": 4}, "target_steps=4 is less than num_envs=8"),
        ({"epsilon": 1.5}, "epsilon=1.5: input should be less than or equal to 1"),
        ({"n_steps": 0}, "n_steps=0: input should be greater than or equal to 1"),
        ({"start_temperature": 0.1}, "start_temperature=0.1 with start=None"),
        (
            {"judging": {"samples": 4, "temperature": 0.1, "every": 1, "problems": 3}},
            r"judging.problems=3: .*leave it out",
        ),
        (
            {"pipelines": ["random-train-v2"]},
            "judging.problems=None: give a number of problems of the validation split",
        ),
        ({"judging": {"samples": 4, "temperature": 0.0, "every": 1}}, "judging.temperature=0.0"),
        ({"reward": "measured"}, "reward=measured needs a database"),
        ({"gamma": 0.9}, "gamma is no setting"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    content = yaml.safe_load(Path(CONFIGS / "dqn-smoke.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InvalidParameter, match=message):
        parse_settings(DQNSettings, {**content, **change}, "the test")
