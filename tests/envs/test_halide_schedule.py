"""HalideSchedule-v0: Gymnasium's contract, the pipelines and arguments that it takes, and what it renders."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import halide as hl
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import pipelines_for_tests
from episodes_for_tests import TARGET, bare, make, outcome, play, random_policy
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core
from halidegym.native.weights import builtin_weights, make_weights

# Gymnasium's contract


@pytest.mark.parametrize(
    "pipeline",
    ["harris", pipelines_for_tests.hist, pipelines_for_tests.scalar_sum, [pipelines_for_tests.blur, "mat_mul"]],
)
def test_check_env_of_gymnasium(pipeline: Any) -> None:
    env = bare(pipeline, max_decisions=64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


def test_check_env_of_stable_baselines3() -> None:
    from stable_baselines3.common.env_checker import check_env as check_env_sb3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env_sb3(make(max_decisions=64))


def test_is_made_through_the_module_name() -> None:
    make_env = "gymnasium.make('halidegym:HalideSchedule-v0', pipeline='mat_mul')"
    script = f"import gymnasium; print({make_env}.unwrapped.problem.name)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "mat_mul"


def test_observations_are_in_their_space_and_belong_to_the_caller() -> None:
    env = make("harris")
    observation, _ = env.reset(seed=0)
    kept = {key: value.copy() for key, value in observation.items()}
    for later, _, _, info in play(env, random_policy(0)):
        assert later in env.observation_space
        assert not np.shares_memory(info["action_mask"], later["action_mask"])
    assert all(np.array_equal(observation[key], kept[key]) for key in kept)


def test_arrays_are_used_again_only_if_nobody_can_tell() -> None:
    def episodes() -> Iterator[tuple[Any, float, bool, dict[str, Any]]]:
        env = make("toy_blur")
        for _ in range(9):
            yield from play(env, random_policy(0))

    views = []
    for (observation, *_, info), (expected, *_) in zip(episodes(), episodes(), strict=True):
        assert all(np.array_equal(observation[key], expected[key]) for key in expected)
        assert np.array_equal(info["action_mask"], expected["action_mask"])
        views.append((observation["decisions"][1:], observation["decisions"][1:].copy()))
        for array in (observation["decision_stage"], info["action_mask"]):
            array.fill(7)
        observation["stage_mask"].flags.writeable = False
        observation["places"].resize(1, refcheck=False)
    assert all(np.array_equal(view, copy) for view, copy in views)


def test_a_step_after_the_end_asks_for_a_reset() -> None:
    env = bare()
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    outcome(env, random_policy(0))
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


# Pipelines and other arguments


def blur_func() -> hl.Func:
    return pipelines_for_tests.blur().outputs()[0]


def test_takes_pipelines_in_every_form(tmp_path: Path) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur, parallelism=16, target=TARGET)
    hlpipe = tmp_path / "blur.hlpipe"
    hl.serialize_pipeline(pipelines_for_tests.blur(), str(hlpipe))
    for pipeline in [
        pipelines_for_tests.blur,
        pipelines_for_tests.blur(),
        blur_func(),
        blur_func,
        problem,
        problem.with_parallelism(4),
        hlpipe,
        str(hlpipe),
    ]:
        assert bare(pipeline).problem == problem, pipeline


def ramp_without_estimates() -> hl.Func:
    x, f = hl.Var("x"), hl.Func("ramp")
    f[x] = x
    return f


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"pipeline": "haris"}, _core.InvalidParameter, r"'haris'.*harris, .*mat_mul"),
        ({"pipeline": []}, _core.InvalidParameter, "empty"),
        ({"pipeline": "harris", "parallelism": 0}, _core.InvalidParameter, "parallelism"),
        ({"pipeline": "harris", "max_decisions": 0}, _core.InvalidParameter, "max_decisions=0.*at least 1"),
        ({"pipeline": "harris", "max_loops": -1}, _core.InvalidParameter, "max_loops=-1.*at least 1"),
        ({"pipeline": "harris", "memory_limit": -1}, _core.InvalidParameter, "memory_limit=-1"),
        ({"pipeline": "harris", "target": "z80"}, _core.InvalidParameter, "z80"),
        ({"pipeline": ramp_without_estimates}, _core.MissingEstimate, "'ramp.*estimate"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        HalideSchedule(**arguments)
    assert type(raised.value) is error


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(_core.InvalidParameter, match="ansi or rgb_array"):
        HalideSchedule(pipelines_for_tests.blur, render_mode="human")


def test_a_problem_for_another_target_is_refused() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur, parallelism=16, target=TARGET)
    with pytest.raises(_core.InvalidParameter, match="target"):
        HalideSchedule(problem, target="x86-64-linux")


def test_weights_by_which_everything_is_free_are_named() -> None:
    tensors = builtin_weights().tensors()
    free = make_weights({name: np.zeros_like(values) for name, values in tensors.items()})
    env = make("mat_mul", weights=free)
    with pytest.raises(_core.InvalidParameter, match=r"By these weights, the greedy schedule of 'mat_mul' costs 0"):
        env.reset(seed=0)


def test_several_pipelines_share_one_space_and_are_drawn_by_the_seed() -> None:
    env = bare([pipelines_for_tests.blur, pipelines_for_tests.hist, pipelines_for_tests.matmul])
    names = []
    for seed in range(30):
        observation, _ = env.reset(seed=seed)
        assert observation in env.observation_space
        assert observation["stage_mask"].sum() == env.problem.num_stages
        names.append(env.problem.name)
        _, info = outcome(env, random_policy(seed), seed=seed)
        assert env.problem.name == names[-1] == info["fingerprint"].problem
    assert set(names) == {"blur", "hist", "matmul"}


# Rendering


def test_ansi_shows_the_nest_and_what_is_next() -> None:
    env = make(render_mode="ansi")
    _, info = env.reset()
    policy, phases = random_policy(0), []
    while not env.unwrapped.state.is_complete:
        state, (status, nest) = env.unwrapped.state, env.render().split("\n", 1)
        made = f"blur: {state.num_decisions_made} of {state.num_decisions} decisions made"
        choice = f"next: {state.next_phase} {state.next_func}, {info['num_legal_decisions']} legal decisions"
        assert status == f"{made}; {choice}"
        assert nest == state.dump()
        phases.append(state.next_phase)
        *_, info = env.step(policy(info))
    assert set(phases) == {"place", "parallelize"}
    state, (status, nest) = env.unwrapped.state, env.render().split("\n", 1)
    assert (
        status
        == f"blur: {state.num_decisions} of {state.num_decisions} decisions made; complete, cost {info['cost']:.6g}"
    )
    assert nest == state.dump()
    assert info["schedule"].loop_nest() in nest


def test_rgb_array_has_one_size() -> None:
    env = make("harris", render_mode="rgb_array")
    env.reset()
    empty = env.render()
    outcome(env, random_policy(0))
    full = env.render()
    assert empty.shape == full.shape == (720, 960, 3)
    assert (full < 128).sum() > (empty < 128).sum() > 0
