"""What `step` and `reset` take and refuse, in every environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import pipelines_for_tests
from halidegym.native import _core

ENVIRONMENTS = {"HalideSchedule-v0": {"pipeline": pipelines_for_tests.blur}, "SyntheticTree-v0": {"tree_seed": 0}}


class IntegerOfAnotherLibrary:
    """Such as a tensor of torch."""

    def __index__(self) -> int:
        return 1


@pytest.fixture(params=ENVIRONMENTS)
def env(request: pytest.FixtureRequest) -> gym.Env[Any, Any]:
    made = gym.make(request.param, disable_env_checker=True, **ENVIRONMENTS[request.param])
    made.reset(seed=0)
    return made


@pytest.mark.parametrize("action", [1.5, 1.0, "1", None, [1], np.array([1]), np.array(1.0), np.float32(1), 2**63])
def test_an_action_that_is_no_integer_is_refused(env: gym.Env[Any, Any], action: Any) -> None:
    with pytest.raises(_core.InvalidParameter, match=r"action=.* give the index of a decision"):
        env.step(action)
    env.step(1)


@pytest.mark.parametrize("action", [np.int64(1), np.uint8(1), np.array(1), IntegerOfAnotherLibrary()])
def test_all_kinds_of_integers_are_actions(env: gym.Env[Any, Any], action: Any) -> None:
    expected = env.step(1)[0]
    env.reset(seed=0)
    observation = env.step(action)[0]
    if isinstance(expected, dict):
        assert all(np.array_equal(observation[key], expected[key]) for key in expected)
    else:
        assert np.array_equal(observation, expected)


def test_integers_at_the_ends_of_their_range_are_illegal_actions() -> None:
    env = gym.make("HalideSchedule-v0", pipeline=pipelines_for_tests.blur, disable_env_checker=True)
    for action in (2**63 - 1, -(2**63)):
        env.reset()
        assert env.step(action)[4]["illegal_action"]


def test_options_are_refused(env: gym.Env[Any, Any]) -> None:
    with pytest.raises(_core.InvalidParameter, match=r"options=\{'x': 1\}.*leave them out"):
        env.reset(options={"x": 1})
    env.reset(options={})
    env.reset(options=None)
