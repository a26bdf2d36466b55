"""HalideSchedule-v0: the tables that learners need beyond the cost model's input, and what they cost in evaluations."""

from __future__ import annotations

import math
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import pipelines_for_tests
from episodes_for_tests import bare, make, play, random_policy
from halidegym import rewards
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.native import _core

PIPELINES: list[Any] = ["harris", "conv_layer", pipelines_for_tests.hist, pipelines_for_tests.several_updates]


def actions_of(env: HalideSchedule) -> list[int]:
    """The decisions that led to the state, each as an index among the legal ones."""
    state, actions = env.prepared_problem.initial_state, []
    for decision in env.state.decisions_made:
        expansion = state.expand()
        actions.append(next(k for k in range(len(expansion)) if expansion.decision(k) == decision))
        state = expansion.child(actions[-1])
    return actions


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("child_features", [False, True])
def test_observations_are_in_their_space(pipeline: Any, child_features: bool) -> None:
    env = bare(pipeline, child_features=child_features, max_decisions=128)
    spaces = env.observation_space
    assert isinstance(spaces, gym.spaces.Dict)
    for seed in range(3):
        for observation, *_ in play(env, random_policy(seed)):
            assert observation.keys() == spaces.keys()
            for key, space in spaces.items():
                assert space.contains(observation[key]), key
    assert ("decision_features" in observation) == child_features


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_episode_shows_what_its_plan_replays(pipeline: Any) -> None:
    """Bit for bit; what `replay_rows` gives is tested on its own."""
    env = bare(pipeline, child_features=True, max_decisions=10_000)
    loops = env.observation_shape.loops
    observation, info = env.reset()
    shown, policy, terminated = [], random_policy(0), False
    while not terminated:
        action = policy(info)
        shown.append((env.tables(observation), info["num_legal_decisions"], action))
        observation, _, terminated, _, info = env.step(action)
    prepared = env.prepared_problem
    rows = _core.replay_rows(
        prepared.space,
        actions_of(env),
        candidates=10**6,
        loops=loops,
        child_features=True,
        reference_cost=prepared.greedy_cost,
    )
    assert len(shown) == len(rows["phase"])
    for met, (tables, count, action) in enumerate(shown):
        part = slice(rows["offsets"][met], rows["offsets"][met + 1])
        assert (count, action) == (rows["num_legal"][met], rows["taken"][met])
        for key in ("decisions", "decision_stage", "decision_features"):
            assert tables[key][:count].tobytes() == rows[key][part].tobytes(), key
            assert (tables[key][count:] == (-1 if key == "decision_stage" else 0)).all()
        first, num_stages = rows["deciding"][met]
        assert np.flatnonzero(tables["deciding"]).tolist() == list(range(first, first + num_stages))
        assert np.array_equal(tables["places"], rows["places"][met])
        assert tables["decided"].tolist() == [rows["decided"][met]]
        assert np.flatnonzero(tables["phase"]).tolist() == [rows["phase"][met]]
    assert observation["decided"] == 1


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_what_belongs_to_the_problem_is_always_shown(pipeline: Any) -> None:
    env = bare(pipeline)
    expected = _core.problem_rows(env.prepared_problem.space)
    for observation, *_ in play(env, random_policy(0)):
        tables = env.tables(observation)
        for key, rows in expected.items():
            assert tables[key][: len(rows)].tobytes() == rows.tobytes(), key


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_costs_of_stages_add_up(pipeline: Any) -> None:
    env = bare(pipeline)
    for observation, *_ in play(env, random_policy(2)):
        costs = observation["stage_costs"].astype(float)
        assert not costs[observation["scheduled"] == 0].any()
        total = np.exp(costs[observation["scheduled"] == 1]).sum() * env.prepared_problem.greedy_cost
        assert total == pytest.approx(env.state.cost(), rel=1e-5)


def test_costs_are_in_their_own_unit_without_a_greedy_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any, **__: Any) -> None:
        raise _core.SearchExhausted("no schedule within the memory_limit")

    monkeypatch.setattr(_core, "beam_search", exhausted)
    env = rewards.CostModelReward(make(), baseline=1.0)
    bare_env = env.unwrapped
    assert isinstance(bare_env, HalideSchedule)
    for observation, *_ in play(env, random_policy(0)):
        costs = observation["stage_costs"][observation["scheduled"] == 1].astype(float)
        assert np.exp(costs).sum() == pytest.approx(bare_env.state.cost(), rel=1e-5)


@pytest.mark.parametrize("room", [{"max_stages": 40}, {"max_edges": 50}, {"max_loops": 9}, {"max_decisions": 2000}])
def test_more_room_changes_nothing_but_padding(room: dict[str, int]) -> None:
    """So a policy that reads rows decides alike: whatever is not shared is 0, or -1 for no stage."""
    small, large = (bare("conv_layer", child_features=True, **{"max_decisions": 1000, **more}) for more in ({}, room))
    loops, more_loops = small.observation_shape.loops, large.observation_shape.loops
    policy = random_policy(0)
    observation, info = small.reset()
    other, _ = large.reset()
    terminated = False
    while not terminated:
        tables, others = small.tables(observation), large.tables(other)
        for key, table in tables.items():
            rest = others[key]
            if key == "decisions":
                rest = np.delete(rest, columns_beyond(loops, more_loops), axis=1)
            assert rest[: len(table)].tobytes() == table.tobytes(), key
            assert (rest[len(table) :] == (-1 if key in ("edges", "decision_stage") else 0)).all(), key
        beyond = others["decisions"][:, columns_beyond(loops, more_loops)]
        assert not beyond.any()
        action = policy(info)
        observation, _, terminated, _, info = small.step(action)
        other, *_ = large.step(action)


def columns_beyond(loops: int, more_loops: int) -> list[int]:
    return [11 + part * more_loops + loop for part in range(3) for loop in range(loops, more_loops)]


def test_evaluations_are_what_was_shown() -> None:
    plain, rich = bare("harris"), bare("harris", child_features=True, max_decisions=50)
    for env in (plain, rich):
        for seed in range(2):
            observation, info = env.reset()
            policy, terminated, expected = random_policy(seed), False, 0
            while True:
                expected += bool(observation["scheduled"].any())
                if env is rich:
                    expected += min(50, info["num_legal_decisions"])
                assert info["evaluations"] == expected
                if terminated:
                    break
                observation, _, terminated, _, info = env.step(policy(info))


def test_evaluations_go_on_where_a_point_is_restored() -> None:
    """What was seen cannot be unseen."""
    env = bare("harris")
    _, info = env.reset()
    here = env.clone_state()
    _, _, _, _, info = env.step(0)
    assert info["evaluations"] == 2
    _, info = env.restore_state(here)
    assert info["evaluations"] == 3
    _, _, _, _, info = env.step(1)
    assert info["evaluations"] == 4
    _, info = env.reset()
    assert info["evaluations"] == 1


def test_a_copy_shows_the_same() -> None:
    env = bare("harris", child_features=True, max_decisions=64)
    policy = random_policy(1)
    _, info = env.reset()
    for _ in range(3):
        _, _, _, _, info = env.step(policy(info))
    copy = pickle.loads(pickle.dumps(env))
    assert copy.observation_shape.child_features
    action = policy(info)
    ours, theirs = env.step(action), copy.step(action)
    assert all(ours[0][key].tobytes() == theirs[0][key].tobytes() for key in ours[0])
    assert ours[4]["evaluations"] == theirs[4]["evaluations"]


def test_forced_decisions_are_not_evaluated() -> None:
    free, forced = bare(pipelines_for_tests.blur), bare(pipelines_for_tests.blur, skip_forced=False)
    counts = []
    for env in (free, forced):
        *_, (_, _, _, info) = play(env, lambda _: 0)
        counts.append(info["evaluations"])
    assert counts[0] < counts[1] <= 2 * len(forced.problem.nodes)


@pytest.mark.parametrize("reference_cost", [0.0, -1.0, math.nan, math.inf])
def test_a_reference_that_is_no_positive_number_is_refused(reference_cost: float) -> None:
    env = bare()
    native = _core.Environment(env.observation_shape)
    with pytest.raises(_core.InvalidParameter, match=r"reference_cost=.*give a positive number"):
        native.start(env.prepared_problem.initial_state, reference_cost)


@pytest.mark.parametrize("argument", ["child_features", "copy"])
def test_switches_are_bools(argument: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=argument):
        make(**{argument: 1})
