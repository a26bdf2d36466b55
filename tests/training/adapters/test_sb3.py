"""The native vector as a `VecEnv`: what stable-baselines3 expects, and a few steps of MaskablePPO."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from packaging import version
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor

from batches_for_tests import check_same
from episodes_for_tests import TARGET
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.rewards import RewardByCost
from halidegym.envs.sources import load_problem
from halidegym.native import _core
from halidegym.training.adapters.sb3 import ScheduleVecEnv

COUNT = 3


def make(num_envs: int = COUNT, **arguments: Any) -> ScheduleVecEnv:
    defaults: dict[str, Any] = {"pipeline": "toy_diamond", "target": TARGET, "parallelism": 16, "max_decisions": 64}
    return ScheduleVecEnv(
        gym.make_vec("HalideSchedule-v0", num_envs=num_envs, autoreset_mode="SameStep", **{**defaults, **arguments})
    )


def test_equal_to_the_librarys_own_vector() -> None:
    problems = [load_problem(name, target=TARGET, parallelism=16) for name in ("toy_blur", "toy_diamond")]
    ours: VecEnv = make(pipeline=problems)
    theirs = DummyVecEnv([lambda: HalideSchedule(problems, max_decisions=64)] * COUNT)
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    ours.seed(5), theirs.seed(5)
    check_same(dict(ours.reset()), dict(theirs.reset()))
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.integers(0, 70, COUNT)
        (a, ra, da, ia), (b, rb, db, ib) = ours.step(actions), theirs.step(actions)
        check_same((dict(a), ra, da), (dict(b), rb, db))
        for left, right in zip(ia, ib, strict=True):
            left.setdefault("TimeLimit.truncated", False)
            assert left.keys() == right.keys()
            assert all(np.array_equal(left[key], right[key]) for key in ("cost", "evaluations") if key in left)
            if "terminal_observation" in left:
                check_same(left["terminal_observation"], right["terminal_observation"])
        assert [list(info) for info in ours.reset_infos] == [list(info) for info in theirs.reset_infos]


def test_seeds_are_for_one_reset() -> None:
    envs = make(8, pipeline="toy-v1")
    drawn = []
    for seed in (3, None, 3):
        if seed is not None:
            envs.seed(seed)
        envs.reset()
        drawn.append([problem.name for problem in envs.get_attr("problem")])
    assert drawn[0] == drawn[2] != drawn[1]


def test_reset_infos_are_those_of_the_episodes_that_go_on() -> None:
    envs = make(pipeline=["toy_blur", "toy_diamond"])
    envs.reset()
    for _ in range(20):
        _, _, ends, _ = envs.step(np.zeros(COUNT, int))
        masks = envs.env_method("action_masks")
        for index in np.flatnonzero(ends):
            assert envs.reset_infos[index]["num_legal_decisions"] >= masks[index].sum()
            assert np.array_equal(envs.reset_infos[index]["action_mask"], masks[index])


@pytest.mark.skipif(version.parse(gym.__version__) < version.parse("1.4"), reason="Gymnasium counts otherwise")
def test_statistics_of_episodes_are_those_of_the_librarys_own_monitor() -> None:
    native = make().envs
    recorded, monitored = ScheduleVecEnv(RecordEpisodeStatistics(native)), VecMonitor(make())
    for envs in (recorded, monitored):
        envs.seed(0), envs.reset()
    for _ in range(20):
        for ours, theirs in zip(
            recorded.step(np.zeros(COUNT, int))[3], monitored.step(np.zeros(COUNT, int))[3], strict=True
        ):
            assert ("episode" in ours) == ("episode" in theirs)
            if "episode" in ours:
                assert [ours["episode"][key] for key in "rl"] == pytest.approx([theirs["episode"][key] for key in "rl"])
        assert not any("episode" in info for info in recorded.reset_infos)


def test_masks_in_one_call() -> None:
    envs = make()
    envs.reset()
    calls = []
    masks = type(envs.native).action_masks

    class Counting(type(envs.native)):  # type: ignore[misc]
        def action_masks(self) -> Any:
            calls.append(None)
            return masks(self)

    envs.native.__class__ = Counting
    assert is_masking_supported(envs)
    found = get_action_masks(envs)
    assert found.shape == (COUNT, 64) and found.dtype == bool and found.any(1).all()
    assert len(calls) == 1
    assert np.array_equal(envs.env_method("action_masks", indices=1)[0], found[1])
    assert np.array_equal(envs.env_method("action_masks", indices=np.array([2, 0])), found[[2, 0]])


def test_attributes_and_methods() -> None:
    envs = make(render_mode="rgb_array")
    envs.reset()
    assert [problem.name for problem in envs.get_attr("problem")] == ["toy_diamond"] * COUNT
    assert len(envs.get_attr("state", [0, 2])) == 2
    assert envs.get_attr("num_envs", 0) == [COUNT]
    assert not envs.has_attr("fun")
    with pytest.raises(AttributeError, match="fun"):
        envs.get_attr("fun")
    with pytest.raises(AttributeError, match="reward cannot be set for environments 1"):
        envs.set_attr("reward", RewardByCost("speedup"), 1)
    with pytest.raises(AttributeError, match="a native vector has no fun that could be set"):
        envs.set_attr("fun", 1)
    envs.set_attr("reward", RewardByCost("speedup"))
    assert envs.native.reward.form == "speedup"
    assert envs.env_is_wrapped(gym.Wrapper) == [False] * COUNT
    image = envs.render()
    assert image is not None and image.ndim == 3
    envs.set_options({"x": 1})
    with pytest.raises(_core.InvalidParameter, match="options"):
        envs.reset()
    envs.close()


def test_what_each_environment_has_is_that_of_a_single_one() -> None:
    ours, theirs = make(), DummyVecEnv([lambda: HalideSchedule("toy_diamond", max_decisions=64)] * COUNT)
    for name in ("observation_space", "action_space"):
        assert ours.get_attr(name) == theirs.get_attr(name)
    ours.seed(5), theirs.seed(5)
    ours.reset(), theirs.reset()
    assert ours.get_attr("np_random_seed", [2, 0]) == theirs.get_attr("np_random_seed", [2, 0]) == [7, 5]
    drawn = [[generator.random() for generator in envs.get_attr("np_random")] for envs in (ours, theirs)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("arguments", [{"autoreset_mode": "NextStep"}, {"autoreset_mode": "SameStep", "copy": False}])
def test_other_modes_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(_core.InvalidParameter, match=r'autoreset_mode="SameStep", copy=True'):
        ScheduleVecEnv(gym.make_vec("HalideSchedule-v0", pipeline="toy_blur", **arguments))


def test_information_that_is_a_list_already_is_refused() -> None:
    envs = ScheduleVecEnv(DictInfoToList(make().envs))
    with pytest.raises(_core.InvalidParameter, match="leave out DictInfoToList"):
        envs.reset()


def test_other_vectors_are_refused() -> None:
    for other in (gym.make_vec("CartPole-v1"), None):
        with pytest.raises(_core.InvalidParameter, match="no native vector"):
            ScheduleVecEnv(other)  # type: ignore[arg-type]


def test_maskable_ppo_trains_and_is_evaluated() -> None:
    envs = VecMonitor(make(pipeline=["toy_diamond", "toy_blur"], threads=2))
    model = MaskablePPO("MultiInputPolicy", envs, n_steps=16, batch_size=24, n_epochs=2, seed=0, device="cpu")
    model.learn(96)
    assert model.num_timesteps == 96
    assert len(model.ep_info_buffer) > 0
    mean, _ = evaluate_policy(model, VecMonitor(make()), n_eval_episodes=3)
    assert np.isfinite(mean)


def test_without_the_library_the_extra_is_named() -> None:
    script = "import sys; sys.modules['stable_baselines3'] = None\nimport halidegym.training.adapters.sb3"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "pip install halidegym[train]" in run.stderr.splitlines()[-1]
