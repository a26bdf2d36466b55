"""The native vector does what single environments do, in each mode of reset, for any number of threads."""

from __future__ import annotations

import pickle
import threading
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

import pipelines_for_tests
from batches_for_tests import check_same
from episodes_for_tests import TARGET
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.halide_schedule_vector import HalideScheduleVector
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.rewards import Rating, RewardByCost
from halidegym.envs.sources import load_problem
from halidegym.native import _core

COUNT = 4
MODES = [mode.value for mode in AutoresetMode]


def problems(*names: str) -> list[SchedulingProblem]:
    """Once for all environments, so that their schedules name the same Funcs."""
    return [load_problem(name, target=TARGET, parallelism=16) for name in names]


def make(num_envs: int = COUNT, **arguments: Any) -> HalideScheduleVector:
    made = gym.make_vec("HalideSchedule-v0", num_envs=num_envs, **arguments)
    assert isinstance(made, HalideScheduleVector)
    return made


def synchronous(autoreset_mode: str = "NextStep", **arguments: Any) -> gym.vector.SyncVectorEnv[Any, Any]:
    made = gym.make_vec(
        "HalideSchedule-v0",
        num_envs=COUNT,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": autoreset_mode},
        **arguments,
    )
    assert isinstance(made, gym.vector.SyncVectorEnv)
    return made


def drawn_actions(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(-3, 60, COUNT)


# Equality


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("mode", MODES)
def test_equal_to_gymnasiums_synchronous_vector(mode: str, threads: int, copy: bool) -> None:
    """With several pipelines, illegal actions, and subsets of decisions."""
    arguments: dict[str, Any] = {"pipeline": problems("harris", "toy_blur", "toy_scan"), "max_decisions": 40}
    native = make(autoreset_mode=mode, threads=threads, copy=copy, **arguments)
    sync = synchronous(mode, **arguments)
    assert native.metadata == sync.metadata
    assert native.observation_space == sync.observation_space
    assert native.single_observation_space == sync.single_observation_space
    assert native.action_space == sync.action_space
    rng = np.random.default_rng(0)
    check_same(native.reset(seed=7), sync.reset(seed=7))
    for step in range(60):
        actions = drawn_actions(rng)
        ours, theirs = native.step(actions), sync.step(actions)
        check_same(ours, theirs, f"step {step}")
        if mode == "Disabled" and ours[2].any():
            options = {"reset_mask": ours[2]}
            seeds = [None, 3, None, None] if step % 2 else None
            check_same(native.reset(seed=seeds, options=dict(options)), sync.reset(seed=seeds, options=dict(options)))
    check_same(native.reset(seed=[3, 1, 4, 1]), sync.reset(seed=[3, 1, 4, 1]))


@pytest.mark.parametrize(("mode", "child_features"), [("NextStep", False), ("SameStep", True)])
def test_equal_to_single_environments_in_a_loop(mode: str, child_features: bool) -> None:
    arguments: dict[str, Any] = {"max_decisions": 30, "child_features": child_features}
    pipelines = problems("toy_diamond", "toy_blur")
    singles = [HalideSchedule(pipelines, **arguments) for _ in range(COUNT)]
    vector = make(pipeline=pipelines, autoreset_mode=mode, **arguments)
    observations, infos = vector.reset(seed=11)
    ended = [False] * COUNT
    rng = np.random.default_rng(1)
    for index, env in enumerate(singles):
        observation, info = env.reset(seed=11 + index)
        check_row(observations, infos, index, observation, info)
    for _ in range(80):
        actions = drawn_actions(rng)
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        for index, env in enumerate(singles):
            reward, ends = 0.0, False
            if mode == "NextStep" and ended[index]:
                observation, info = env.reset()
            else:
                observation, reward, ends, _, info = env.step(actions[index])
                if ends and mode == "SameStep":
                    check_same(infos["final_obs"][index], observation)
                    final = infos["final_info"]
                    assert all(final[key][index] == info[key] for key in ("cost", "speedup", "illegal_action"))
                    observation, info = env.reset()
            ended[index] = ends
            assert (rewards[index], terminated[index], truncated[index]) == (reward, ends, False)
            check_row(observations, infos, index, observation, info)


def check_row(observations: Any, infos: Any, index: int, observation: Any, info: dict[str, Any]) -> None:
    check_same({key: array[index] for key, array in observations.items()}, observation)
    for key, value in info.items():
        assert infos[f"_{key}"][index], key
        assert np.array_equal(infos[key][index], value), key
    assert not any(array[index] for key, array in infos.items() if key[0] == "_" and key[1:] not in {*info, *FINAL})


FINAL = {"final_obs", "final_info"}


class OwnReward(RewardByCost):
    """Tells of some schedules more, and of some something else."""

    def rate_schedule(self, problem: PreparedProblem, state: _core.State, cost: float) -> Rating:
        rating = super().rate_schedule(problem, state, cost)
        if cost < problem.greedy_cost:
            return Rating(2 * rating.reward, {"is_new": True, "cost": 7.0})
        return rating


def test_rewards_of_ones_own_count_as_in_single_environments() -> None:
    arguments: dict[str, Any] = {"pipeline": problems("toy_scan")[0]}
    native, sync = make(reward=OwnReward(), **arguments), synchronous(**arguments)
    for env in sync.envs:
        env.unwrapped.reward = OwnReward()
    rng = np.random.default_rng(4)
    check_same(native.reset(seed=0), sync.reset(seed=0))
    told = set()
    for _ in range(60):
        actions = drawn_actions(rng)
        ours = native.step(actions)
        check_same(ours, sync.step(actions))
        told |= {frozenset(ours[4])}
    assert {"is_new" in keys for keys in told if "cost" in keys} == {True, False}


def test_dead_ends_count_as_in_single_environments() -> None:
    arguments: dict[str, Any] = {"pipeline": problems("harris")[0], "memory_limit": 1 << 16}
    native, sync = make(reward=RewardByCost(baseline=1.0), **arguments), synchronous(**arguments)
    for env in sync.envs:
        env.unwrapped.reward = RewardByCost(baseline=1.0)
    rng = np.random.default_rng(2)
    check_same(native.reset(seed=0), sync.reset(seed=0))
    has_dead_end = False
    for _ in range(100):
        actions = drawn_actions(rng)
        ours = native.step(actions)
        check_same(ours, sync.step(actions))
        has_dead_end |= bool(ours[4].get("dead_end", np.zeros(1)).any())
    assert has_dead_end


# Observations


def test_copies_belong_to_the_caller_and_views_do_not() -> None:
    pipeline = problems("toy_diamond")[0]
    for copy in (True, False):
        envs = make(pipeline=pipeline, copy=copy)
        observations, infos = envs.reset(seed=0)
        before = {key: array.copy() for key, array in observations.items()}
        later = envs.step(np.zeros(COUNT, np.int64))[0]
        changed = [key for key in before if not np.array_equal(before[key], observations[key])]
        assert bool(changed) is not copy
        assert later in envs.observation_space
        for key, array in later.items():
            assert array.flags.c_contiguous and array.flags.writeable is copy
            assert np.shares_memory(array, observations[key]) is not copy
            assert not np.shares_memory(infos["action_mask"], array)


def test_helpers_are_those_of_single_environments() -> None:
    pipeline = problems("harris")[0]
    envs, single = make(pipeline=pipeline, max_decisions=100, render_mode="ansi"), HalideSchedule(pipeline)
    observations, infos = envs.reset(seed=0)
    single.reset(seed=0)
    assert np.array_equal(envs.action_masks(), infos["action_mask"].astype(bool))
    tables = envs.tables(observations)
    assert tables["algorithm_features"].shape == (COUNT, 13, 280)
    assert [state.decisions_made for state in envs.states] == [single.state.decisions_made] * COUNT
    assert envs.problems == (pipeline,) * COUNT
    texts = envs.render()
    assert texts is not None and len(texts) == COUNT and "harris" in str(texts[0])
    assert make(pipeline=pipeline).render() is None


def test_wrappers_of_gymnasium_count_episodes() -> None:
    envs = gym.wrappers.vector.RecordEpisodeStatistics(
        make(pipeline=problems("toy_blur")[0], autoreset_mode="SameStep")
    )
    envs.reset(seed=0)
    lengths: list[int] = []
    for _ in range(20):
        *_, infos = envs.step(np.zeros(COUNT, np.int64))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert lengths and min(lengths) >= 1


# Seeds and groups


def test_equal_seeds_give_equal_episodes_and_none_gives_others() -> None:
    envs = make(pipeline=problems("toy_blur", "toy_scan", "toy_diamond", "mat_mul"), num_envs=16)
    envs.reset(seed=3)
    first = envs.problems
    assert envs.np_random_seed == tuple(range(3, 19))
    envs.reset()
    envs.reset(seed=3)
    assert envs.problems == first
    envs.reset(seed=np.arange(3, 19))
    assert envs.problems == first
    assert len(set(first)) > 1


def test_members_of_a_group_share_the_pipeline_of_each_episode() -> None:
    envs = make(
        pipeline=problems("toy_blur", "toy_scan", "toy_diamond", "toy_pointwise"),
        num_envs=6,
        group_size=3,
        autoreset_mode="SameStep",
    )
    for seed in (0, None):
        envs.reset(seed=seed)
        played: list[list[str]] = [[problem.name] for problem in envs.problems]
        rng = np.random.default_rng(0)
        for _ in range(100):
            _, _, terminated, _, _ = envs.step(rng.integers(0, 60, 6))
            for index in np.flatnonzero(terminated):
                played[index].append(envs.problems[index].name)
        shortest = min(map(len, played))
        heads = [tuple(names[:shortest]) for names in played]
        assert heads[0] == heads[1] == heads[2] != heads[3] == heads[4] == heads[5]
    assert len(envs.np_random) == 6


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs=0"),
        ({"num_envs": 2.5}, r"num_envs=2\.5"),
        ({"threads": 0}, "threads=0"),
        ({"threads": 5}, "threads=5 is more than num_envs=4.*give 4 or fewer"),
        ({"group_size": 3}, "group_size=3 does not divide num_envs=4"),
        ({"group_size": 0}, "group_size=0"),
        ({"copy": 1}, "copy=1"),
        ({"autoreset_mode": "never"}, "'never' is unknown: use one of 'NextStep', 'SameStep', 'Disabled'"),
        ({"reward": "cost"}, "reward='cost'"),
        ({"max_decisions": 0}, "max_decisions=0"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=message):
        HalideScheduleVector(**{"num_envs": COUNT, "pipeline": pipelines_for_tests.blur, **arguments})


def test_copies_are_refused() -> None:
    envs = make(pipeline=problems("toy_blur")[0])
    for copied in (deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"make another by gym\.make_vec"):
            copied(envs)


@pytest.mark.parametrize("name", ["HalideSchedule-v0", "TransformPlan-v0"])
def test_arguments_for_wrappers_are_refused(name: str) -> None:
    for arguments in ({"max_episode_steps": 5}, {"disable_env_checker": True}):
        with pytest.raises(_core.InvalidParameter, match=r'.*=.* leave it out, or use .*vectorization_mode="sync"'):
            gym.make_vec(name, num_envs=2, **arguments)


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(TypeError, match="pipelines"):
        make(pipelines=["harris"])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0, 0], r"shape \(3,\): give one for each of 4"),
        (0, "give one for each of 4"),
        ([[1], [2, 3], 0, 0], "of different lengths: give one for each of 4"),
        ([0.0] * 4, "not an integer"),
        ([0, 0, "0", 0], "action='0' is a str, not an integer"),
        ([0, 0, 0, 0.5], "action=0.5 is a float, not an integer"),
        (np.full(4, 2**63, np.uint64), "64 bits"),
    ],
)
def test_bad_actions_are_refused_before_any_environment_takes_its_step(actions: Any, message: str) -> None:
    envs = make(pipeline=problems("toy_diamond")[0])
    envs.reset(seed=0)
    with pytest.raises(_core.InvalidParameter, match=message):
        envs.step(actions)
    assert {state.num_decisions_made for state in envs.states} == {envs.states[0].num_decisions_made}
    envs.step(np.zeros(4, np.int32))
    envs.step([0, 0, 0, 0])


@pytest.mark.parametrize(
    "mask", [np.zeros(4, bool), np.ones(3, bool), np.ones(4, int), [True] * 4, np.ones((4, 1), bool)]
)
def test_bad_masks_are_refused(mask: Any) -> None:
    envs = make(pipeline=problems("toy_blur")[0], autoreset_mode="Disabled")
    envs.reset(seed=0)
    with pytest.raises(_core.InvalidParameter, match="reset_mask="):
        envs.reset(options={"reset_mask": mask})
    with pytest.raises(_core.InvalidParameter, match="no option but reset_mask"):
        envs.reset(options={"mask": mask})
    with pytest.raises(_core.InvalidParameter, match="options=3 is a int; give a Mapping"):
        envs.reset(options=3)
    with pytest.raises(_core.InvalidParameter, match=r"seed=.* has 3 elements"):
        envs.reset(seed=[1, 2, 3])


def test_steps_without_a_reset_are_refused() -> None:
    envs = make(pipeline=problems("toy_pointwise")[0], autoreset_mode="Disabled")
    with pytest.raises(gym.error.ResetNeeded, match="No episode has begun"):
        envs.step(np.zeros(COUNT, np.int64))
    with pytest.raises(gym.error.ResetNeeded, match="without a reset_mask"):
        envs.reset(options={"reset_mask": np.array([True, False, False, False])})
    envs.reset()
    envs.step(np.zeros(COUNT, np.int64))
    envs.reset(options={"reset_mask": np.array([True, False, True, False])})
    with pytest.raises(gym.error.ResetNeeded, match="environments 1, 3 are over"):
        envs.step(np.zeros(COUNT, np.int64))


def test_an_episode_whose_end_cannot_be_rated_is_over() -> None:
    class Faulty(RewardByCost):
        def rate(self, *arguments: Any) -> Any:
            raise _core.Error("no rating today")

    for mode in MODES:
        envs = make(pipeline=problems("toy_pointwise")[0], autoreset_mode=mode, reward=Faulty())
        envs.reset(seed=0)
        with pytest.raises(_core.Error, match="no rating"):
            envs.step(np.zeros(COUNT, np.int64))
        if mode == "NextStep":
            assert not envs.step(np.zeros(COUNT, np.int64))[2].any()
        else:
            with pytest.raises(gym.error.ResetNeeded):
                envs.step(np.zeros(COUNT, np.int64))
            envs.reset()


def test_calls_of_two_threads_are_refused() -> None:
    class Waiting(RewardByCost):
        entered, leave = threading.Event(), threading.Event()

        def rate(self, *arguments: Any) -> Any:
            self.entered.set()
            assert self.leave.wait(60)
            return super().rate(*arguments)

    reward = Waiting()
    envs = make(pipeline=problems("toy_pointwise")[0], reward=reward)
    envs.reset(seed=0)
    stepping = threading.Thread(target=envs.step, args=(np.zeros(COUNT, np.int64),))
    stepping.start()
    assert reward.entered.wait(60)
    with pytest.raises(_core.Error, match="Another thread"):
        envs.reset()
    reward.leave.set()
    stepping.join()


def test_closing_closes_the_reward() -> None:
    class Closing(RewardByCost):
        is_closed = False

        def close(self) -> None:
            self.is_closed = True

    reward = Closing()
    make(pipeline=problems("toy_blur")[0], reward=reward).close()
    assert reward.is_closed
