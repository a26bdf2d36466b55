"""TransformPlan-v0, alone and in vectors."""

from __future__ import annotations

import copy
import math
import pickle
import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import halidegym  # noqa: F401
from batches_for_tests import check_same
from halidegym.envs.transform.costs import ModelCosts, PlanRating
from halidegym.envs.transform.plan_env import TransformPlanEnv
from halidegym.envs.transform.records import TransformProblemKey
from halidegym.native._core import InvalidParameter, TransformSpace

SIZES = (16, 360, 1024)


def play(env: TransformPlanEnv, seed: int, rng: np.random.Generator) -> list[Any]:
    """All that a random episode returns."""
    seen: list[Any] = [env.reset(seed=seed)]
    while not env.state.is_complete:
        seen.append(env.step(int(rng.choice(np.flatnonzero(env.action_masks())))))
    return seen


@pytest.mark.parametrize("n", [1024, SIZES])
@pytest.mark.parametrize("rules", ["basic", "lanes"])
def test_gymnasium_accepts_it(n: Any, rules: Any) -> None:
    check_env(gym.make("TransformPlan-v0", n=n, space=rules, render_mode="ansi").unwrapped)


def test_observations_are_of_the_space_and_add_up() -> None:
    env, rng = TransformPlanEnv(SIZES), np.random.default_rng(0)
    for episode in range(30):
        for observation, *rest in play(env, episode, rng):
            info = rest[-1]
            assert env.observation_space.contains(observation)
            table = env.tables(observation)["steps"]
            used = int(observation["step_mask"].sum())
            assert observation["step_mask"][:used].all()
            assert not table[used:].any()
            assert (table[:used, 13] <= used).all()
            leaves = [row for row in range(used) if not (table[:used, 14] == row + 1).any()]
            assert table[leaves, 16].sum() <= 1 + 1e-5  # what steps cost themselves is missing
            assert (observation["action_mask"] == info["action_mask"]).all()
            assert info["num_legal_decisions"] == info["action_mask"].sum()
            open_rows = np.flatnonzero(table[:used, 15] == 0)
            if len(open_rows):
                assert (table[open_rows[0], :14] == observation["problem"]).all()
            else:
                assert not observation["problem"].any()


def test_estimates_are_what_the_fallback_costs() -> None:
    env, rng = TransformPlanEnv(360, context=0.5), np.random.default_rng(1)
    observation, _ = env.reset(seed=0)
    while not env.state.is_complete:
        here, before = env.clone_state(), env.state.model_cost
        legal = np.flatnonzero(env.action_masks())
        for action in legal.tolist():
            env.step(action)
            assert observation["estimates"][action] == pytest.approx(math.log(env.state.model_cost / before), abs=1e-6)
            env.restore_state(here)
        assert not observation["estimates"][~env.action_masks()].any()
        observation, *_ = env.step(int(rng.choice(legal)))
    assert "estimates" not in TransformPlanEnv(16, estimates=False).observation_space.spaces  # type: ignore[attr-defined]


def test_actions_mean_the_same_for_all_sizes() -> None:
    assert len(TransformPlanEnv(1024).actions) == 22
    assert len(TransformPlanEnv((1024, 3 * 5 * 7 * 4)).actions) == 3 + 1 + 9 * 3
    small, large = TransformPlanEnv((16, 1024)), TransformPlanEnv((1024, 16))
    assert small.actions == large.actions
    small.reset(seed=0)
    for action in np.flatnonzero(small.action_masks()).tolist():
        small.reset(seed=0)
        small.step(action)
        assert small.state.text.startswith(small.actions[action])


def test_room_makes_environments_of_one_shape() -> None:
    small, large = TransformPlanEnv((16, 64), room=4096), TransformPlanEnv(4096, room=(64, 16))
    assert small.actions == large.actions
    assert small.observation_space == large.observation_space
    assert {small.reset(seed=seed) and small.space.n for seed in range(20)} == {16, 64}


def test_rewards() -> None:
    plan, rng = "split 4 inplace (codelet 1) (codelet 4)", np.random.default_rng(2)
    space = TransformSpace(16, space="lanes")
    reference = space.cost(space.state(plan)) or 0.0
    for baseline, time in [("dp", space.optimum()[0]), (plan, reference), (3, 3.0)]:
        for form in ("log_speedup", "speedup"):
            env = TransformPlanEnv(16, space="lanes", baseline=baseline, form=form)  # type: ignore[arg-type]
            *before, (_, reward, terminated, _, info) = play(env, 0, rng)
            assert terminated
            assert all(step[1] == 0 for step in before[1:])
            assert info["cost"] == space.cost(space.state(info["plan"]))
            speedup = time / info["cost"]
            assert reward == pytest.approx(math.log(speedup) if form == "log_speedup" else speedup)
            assert info["speedup"] == pytest.approx(time / info["cost"])
            assert info["fingerprint"] == "transform 16, lanes, lanes 1 2 4, rules 1, model, context 0"


def test_the_best_actions_are_worth_what_the_optimum_is() -> None:
    env = TransformPlanEnv(64, context=2.0)
    env.reset(seed=0)
    cost, decisions = env.space.optimum()
    for decision in decisions:
        action = int(np.flatnonzero(env.action_masks())[decision])
        _, reward, terminated, _, info = env.step(action)
    assert terminated
    assert info["cost"] == cost
    assert reward == math.log(env.space.root().model_cost / cost) > 0


@pytest.mark.parametrize("n", [4, 8, 64])
def test_observations_have_room_for_the_largest_context(n: int) -> None:
    env, rng = TransformPlanEnv(n, context=10**6), np.random.default_rng(n)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            assert env.observation_space.contains(observation)
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, _, info = env.step(action)
        assert math.isfinite(reward)


def test_illegal_actions_stand_for_legal_ones() -> None:
    env = TransformPlanEnv(1024)
    for action in [-1, 0, 1, 21, 22, 10**9]:
        _, info = env.reset(seed=0)
        legal = np.flatnonzero(info["action_mask"])
        *_, info = env.step(action)
        is_legal = action in legal
        assert info["illegal_action"] == (not is_legal)
        assert env.state.text.startswith(env.actions[action if is_legal else legal[action % len(legal)]])


def test_equal_seeds_and_actions_give_equal_episodes() -> None:
    first, second = (play(TransformPlanEnv(SIZES), 5, np.random.default_rng(3)) for _ in range(2))
    check_same(first, second)


def test_states_are_restored() -> None:
    env, rng = TransformPlanEnv(SIZES), np.random.default_rng(4)
    env.reset(seed=0)
    env.step(0)
    here = env.clone_state()
    mask = env.action_masks()
    play(env, 1, rng)
    env.restore_state(pickle.loads(pickle.dumps(here)))
    assert env.clone_state() == here
    assert (env.action_masks() == mask).all()
    other = TransformPlanEnv(SIZES)
    check_same(other.restore_state(here), env.restore_state(here))


def test_all_plans_of_a_size_can_be_played() -> None:
    env, found = TransformPlanEnv(16), set()

    def visit() -> None:
        here = env.clone_state()
        for action in np.flatnonzero(env.action_masks()).tolist():
            _, _, terminated, _, info = env.step(action)
            if terminated:
                found.add(info["plan"])
            else:
                visit()
            env.restore_state(here)

    env.reset(seed=0)
    visit()
    assert len(found) == env.space.count_plans()


def test_render() -> None:
    env = TransformPlanEnv(64, render_mode="ansi")
    env.restore_state(type(env.clone_state())(0, env.space.state("split 4 inplace (loop 1 (?)) (codelet 4)")))
    assert env.render().split("\n")[1:] == ["split 4 inplace", "  loop 1", "    ?", "  codelet 4"]  # type: ignore[union-attr]
    assert TransformPlanEnv(64).render() is None


def test_a_vector_renders_what_its_environments_render() -> None:
    arguments: dict[str, Any] = {"n": (64, 48), "render_mode": "ansi"}
    native = gym.make_vec("TransformPlan-v0", 3, **arguments)
    with pytest.raises(gym.error.ResetNeeded):
        native.render()
    single = gym.make_vec("TransformPlan-v0", 3, vectorization_mode="sync", **arguments)
    for envs in (native, single):
        envs.reset(seed=0)
        envs.step([0, 1, 2])
    assert native.render() == single.render()
    assert gym.make_vec("TransformPlan-v0", 3).render() is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": ()}, "has no size"),
        ({"n": "64"}, "n='64' is out of range; give an integer of at least 2"),
        ({"n": (64, 2.5)}, "n=2.5 is out of range; give an integer of at least 2"),
        ({"n": 10**30}, "give an integer of at most 65536"),
        ({"n": None}, "n is None"),
        ({"n": np.array(11)}, "prime factor 11"),
        ({"room": "64"}, "room='64'"),
        ({"room": (64, 1.5)}, "room=1.5"),
        ({"costs": 3}, "costs=3 have not the methods of PlanCosts"),
        ({"n": 11}, "prime factor 11"),
        ({"baseline": 0}, "baseline=0"),
        ({"baseline": True}, "baseline=True"),
        ({"context": "none"}, "context='none'"),
        ({"context": 1e9}, "context=1000000000.0 is out of range; give a number from 0 to 1000000"),
        ({"baseline": "split 2 inplace (?) (codelet 4)"}, "open problems"),
        ({"baseline": "fftw"}, "position 0"),
        ({"form": "slowdown"}, "form='slowdown'"),
        ({"estimates": 1}, "estimates=1"),
        ({"render_mode": "human"}, "render_mode 'human'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        TransformPlanEnv(**arguments)


def test_room_may_be_none() -> None:
    assert TransformPlanEnv(64, room=None).observation_space == TransformPlanEnv(64, room=()).observation_space


def test_a_baseline_may_be_a_number_of_numpy() -> None:
    assert TransformPlanEnv(64, baseline=np.float32(2.5)).task.baseline_of(0) == 2.5  # type: ignore[arg-type]


class ConstantCosts(ModelCosts):
    """Whatever is given, for each plan."""

    def __init__(self, rating: Any) -> None:
        self.rating = rating

    def rate(self, space: TransformSpace, plan: str) -> PlanRating:
        return self.rating  # type: ignore[no-any-return]


@pytest.mark.parametrize("rating", [3.0, None, PlanRating(0.0, {}), PlanRating(None, {}), PlanRating("1", {})])
def test_costs_of_one_s_own_that_are_no_ratings_are_refused(rating: Any) -> None:
    env = TransformPlanEnv(16, costs=ConstantCosts(rating))
    env.reset(seed=0)
    with pytest.raises(InvalidParameter, match=r"ConstantCosts.rate returned .*return a PlanRating"):
        env.step(0)


def test_sizes_may_be_an_array() -> None:
    env = TransformPlanEnv(np.array([64, 128]))  # type: ignore[arg-type]
    assert [space.n for space in env.task.spaces] == [64, 128]


def test_the_mask_stays_when_the_caller_changes_the_observation() -> None:
    env = TransformPlanEnv(64)
    observation, _ = env.reset(seed=0)
    before = env.action_masks()
    observation["action_mask"] *= 0
    assert before.any() and (env.action_masks() == before).all()


def test_copies_go_on_by_themselves() -> None:
    env = TransformPlanEnv(64)
    env.reset(seed=0)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        other.step(0)
        assert other.state.is_complete and not env.state.is_complete


def test_bad_calls() -> None:
    env = TransformPlanEnv(16)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    with pytest.raises(InvalidParameter, match="reset has no options"):
        env.reset(options={"n": 3})
    env.reset(seed=0)
    for other in (TransformPlanEnv(32), TransformPlanEnv(16, space="wide")):
        other.reset(seed=0)
        with pytest.raises(InvalidParameter, match="is not what is planned here"):
            env.restore_state(other.clone_state())
    with pytest.raises(InvalidParameter, match="give a PlanState"):
        env.restore_state(env.state)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="not an integer"):
        env.step(0.5)  # type: ignore[arg-type]
    env.step(0)
    assert env.state.is_complete
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("mode", [mode.value for mode in AutoresetMode])
def test_vectors_do_what_single_environments_do(mode: str) -> None:
    arguments: dict[str, Any] = {"n": SIZES, "context": 0.5}
    ours: Any = gym.make_vec("TransformPlan-v0", num_envs=8, autoreset_mode=mode, **arguments)
    theirs: Any = gym.make_vec(
        "TransformPlan-v0",
        num_envs=8,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode(mode)},
        **arguments,
    )
    assert ours.metadata == theirs.metadata
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    check_same(ours.reset(seed=7), theirs.reset(seed=7))
    rng = np.random.default_rng(5)
    ended = 0
    for _ in range(60):
        actions = rng.integers(-5, 40, 8)
        own = ours.step(actions)
        check_same(own, theirs.step(actions))
        ended += own[2].sum()
        if mode == "Disabled" and own[2].any():
            check_same(ours.reset(options={"reset_mask": own[2]}), theirs.reset(options={"reset_mask": own[2]}))
    assert ended > 20


def test_bad_calls_of_vectors() -> None:
    envs: Any = gym.make_vec("TransformPlan-v0", num_envs=2, n=16, autoreset_mode="Disabled")
    with pytest.raises(gym.error.ResetNeeded):
        envs.step([0, 0])
    with pytest.raises(gym.error.ResetNeeded):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    with pytest.raises(InvalidParameter, match="shape"):
        envs.step([0])
    envs.step([0, 4])
    with pytest.raises(gym.error.ResetNeeded, match="environments 0"):
        envs.step([0, 0])


@pytest.mark.parametrize(
    ("lanes", "message"),
    [
        ("a", "lanes='a' is no sequence of integers; give one, such as (1,)"),
        (2, "lanes=2 is no sequence of integers; give one, such as (1,)"),
        ((1, "a"), "each of lanes='a' is out of range; give an integer of at least 1"),
        ((1, 2.5), "each of lanes=2.5 is out of range; give an integer of at least 1"),
        ((2,), "lanes"),
    ],
)
def test_vectors_that_mean_nothing_are_told_as_such(lanes: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        TransformPlanEnv(16, lanes=lanes)
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        TransformProblemKey.of(16, "basic", lanes)
