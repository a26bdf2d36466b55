"""`env.spec`: makes the environment again, in copies, pickles and JSON, whatever the pipeline was given as."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import halide as hl
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import ClipReward, RescaleObservation

import pipelines_for_tests
from episodes_for_tests import TARGET, digest, make
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.rewards import CostModelReward, RewardByCost
from halidegym.envs.transform.costs import ModelCosts
from halidegym.native import _core
from halidegym.native.weights import builtin_weights

SOURCES = {
    "name": lambda _: "mat_mul",
    "func": lambda _: pipelines_for_tests.blur().outputs()[0],
    "pipeline": lambda _: pipelines_for_tests.blur(),
    "function": lambda _: pipelines_for_tests.blur,
    "lambda": lambda _: lambda: pipelines_for_tests.blur(),
    "problem": lambda _: SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=TARGET, parallelism=16),
    "path": lambda folder: hlpipe(folder),
    "several": lambda _: ["mat_mul", pipelines_for_tests.blur()],
    "names": lambda _: ["mat_mul", "harris"],
}


def hlpipe(folder: Path) -> Path:
    path = folder / "blur.hlpipe"
    hl.serialize_pipeline(pipelines_for_tests.blur(), str(path))
    return path


def through_json(spec: EnvSpec) -> EnvSpec:
    return EnvSpec.from_json(spec.to_json())


def through_pickle(spec: EnvSpec) -> EnvSpec:
    again = pickle.loads(pickle.dumps(spec))
    assert isinstance(again, EnvSpec)
    return again


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("carry", [lambda spec: spec, copy.deepcopy, through_pickle, through_json])
def test_an_environment_is_made_again(source: str, carry: Any, tmp_path: Path) -> None:
    env = make(SOURCES[source](tmp_path), max_decisions=64)
    for spec in (env.spec, env.unwrapped.spec):
        assert spec is not None
        again = carry(spec).make()
        assert again.unwrapped.problems == env.unwrapped.problems
        assert digest(again, 1) == digest(env, 1)
        # Once more, of what was made again.
        assert carry(again.spec).make().unwrapped.problems == env.unwrapped.problems


@pytest.mark.parametrize("source", SOURCES)
def test_what_json_says_is_equal(source: str, tmp_path: Path) -> None:
    pipeline = SOURCES[source](tmp_path)
    spec = make(pipeline, max_decisions=64).spec
    assert spec == through_json(spec)
    assert through_json(spec) == spec
    assert spec != make(pipeline, max_decisions=65).spec
    assert spec != through_json(make("toy_blur", max_decisions=64).spec)


def test_json_has_lists_that_are_equal_to_tuples_and_arrays() -> None:
    env = gym.make("SyntheticTree-v0")
    wrapped = RescaleObservation(env, np.zeros(6, np.float32), np.ones(6, np.float32))
    for spec in (make("harris", pipeline_options={"size": (96, 64)}).spec, wrapped.spec):
        assert spec is not None
        assert spec == through_json(spec)
        assert spec != "a text"


def test_what_has_no_json_form_is_equal_to_itself() -> None:
    spec = make(weights=builtin_weights()).spec
    assert spec == copy.copy(spec)
    assert spec != make().spec


def test_estimates_and_options_are_settled_in_the_problem() -> None:
    def build(width: int = 512) -> hl.Func:
        x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
        f[x, y] = x + y
        g[x, y] = f[x, y] + f[x + width // 512, y]
        return g

    env = make(build, pipeline_options={"width": 1024}, estimates={"g": [(0, 256), (0, 128)]})
    again = through_json(env.spec).make()
    assert again.unwrapped.problem == env.unwrapped.problem
    assert again.unwrapped.problem.name == "build(width=1024)"
    assert env.spec.make(parallelism=4).unwrapped.problem.parallelism == 4


def test_wrappers_are_made_again() -> None:
    env = CostModelReward(make(pipelines_for_tests.blur()), form="inverse_time", baseline=2.5)
    again = through_json(env.spec).make()
    assert isinstance(again, CostModelReward)
    assert digest(again, 2) == digest(env, 2)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("HalideSchedule-v0", {"pipeline": "toy_blur", "parallelism": np.int64(3)}),
        ("HalideSchedule-v0", {"pipeline": "mat_mul", "pipeline_options": {"size": np.int64(64)}}),
        ("TransformPlan-v0", {"n": np.array([64, 128])}),
        ("SyntheticTree-v0", {"depth": np.int64(3), "delta": np.float64(2.5)}),
    ],
)
def test_numbers_and_arrays_of_numpy_are_carried_through_json(name: str, arguments: dict[str, Any]) -> None:
    spec = gym.make(name, **arguments).spec
    assert through_json(spec).make().observation_space == spec.make().observation_space


def test_numpy_in_arguments_of_wrappers_is_carried_through_json() -> None:
    env = ClipReward(gym.make("SyntheticTree-v0"), np.float32(-1.5), np.int64(1))
    before = repr(env.spec)
    again = through_json(env.spec).make()
    assert repr(env.spec) == before
    assert [wrapper.kwargs for wrapper in again.spec.additional_wrappers] == [{"min_reward": -1.5, "max_reward": 1}]
    rescaled = RescaleObservation(env, np.zeros(6, np.float32), np.ones(6, np.float32))
    assert through_json(rescaled.spec).additional_wrappers[1].kwargs == {"min_obs": [0.0] * 6, "max_obs": [1.0] * 6}


@pytest.mark.parametrize("carry", [copy.deepcopy, through_pickle, through_json])
def test_a_vector_is_made_again(carry: Any) -> None:
    envs = gym.make_vec("HalideSchedule-v0", num_envs=3, pipeline=pipelines_for_tests.blur(), parallelism=3)
    again = gym.make_vec(carry(envs.spec))
    assert again.num_envs == 3
    assert again.unwrapped.problems == envs.unwrapped.problems  # type: ignore[attr-defined]


def test_a_mode_of_reset_is_carried_through_json() -> None:
    for mode in (AutoresetMode.SAME_STEP, "SameStep"):
        envs = gym.make_vec("TransformPlan-v0", 2, n=16, autoreset_mode=mode)
        assert gym.make_vec(through_json(envs.spec)).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_what_has_no_json_form_is_named() -> None:
    with pytest.raises(_core.InvalidParameter, match=r"costs=.*no JSON form"):
        gym.make("TransformPlan-v0", costs=ModelCosts()).spec.to_json()
    with pytest.raises(_core.InvalidParameter, match=r"reward=.*no JSON form"):
        gym.make_vec("HalideSchedule-v0", pipeline="toy_blur", reward=RewardByCost()).spec.to_json()
    with pytest.raises(_core.InvalidParameter, match=r"weights=.*path of a file"):
        make(weights=builtin_weights()).spec.to_json()
    env = make()
    env = CostModelReward(env, baseline=Greedy().plan(env.unwrapped.problem))
    with pytest.raises(_core.InvalidParameter, match="baseline of CostModelReward"):
        env.spec.to_json()
    assert env.spec.make().unwrapped.problem == env.unwrapped.problem


@pytest.mark.parametrize("damage", ["", "abc", "!", None])
def test_damaged_json_is_refused(damage: Any) -> None:
    data = json.loads(make().spec.to_json())
    data["kwargs"]["pipeline"]["problem"] = damage
    with pytest.raises(_core.FormatError, match="saved"):
        EnvSpec.from_json(json.dumps(data)).make()
    with pytest.raises(_core.FormatError, match="'name'"):
        make({"name": "harris"})
