"""Problems, states and environments are copied and sent to other processes, and go on there as they were."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest

import pipelines_for_tests
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.timing.database import TimingDatabase
from halidegym.native import _core
from halidegym.native.weights import builtin_weights

Copy = Callable[[Any], Any]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def cloudpickled(value: Any) -> Any:
    return pickle.loads(cloudpickle.dumps(value))


every_copy = pytest.mark.parametrize("copied", [pickled, cloudpickled, copy.copy, copy.deepcopy])
every_pickle = pytest.mark.parametrize("copied", [pickled, cloudpickled])


def walk(space: _core.Space, seed: int) -> list[_core.State]:
    """The states of a random schedule, the first and the last included."""
    states = [space.initial_state()]
    while not states[-1].is_complete:
        states.append(states[-1].random_decision(seed + len(states))[1])
    return states


def contents(state: _core.State) -> tuple[Any, ...]:
    """All that a state shows."""
    stages, rows = state.features()
    listed = state.expand()
    decisions = [listed.decision(index) for index in range(len(listed))]
    return state.cost(), stages.tolist(), rows.tobytes(), state.hash(9), state.dump(), state.decisions_made, decisions


@every_copy
def test_problems(copied: Copy) -> None:
    problem = toys.problem("toy_blur")
    copy_of_problem = copied(problem)
    assert copy_of_problem == problem
    assert copy_of_problem.name == problem.name
    assert copy_of_problem.pipeline().outputs()[0].name() == problem.pipeline().outputs()[0].name()
    assert copied(problem.native).to_bytes() == problem.native.to_bytes()


@every_copy
@pytest.mark.parametrize(
    "limits", [{}, {"subtiling": False}, {"memory_limit": 2**40}, {"max_recompute": None}], ids=str
)
def test_states(copied: Copy, limits: dict[str, Any]) -> None:
    rules = Rules(**limits)
    for state in walk(rules.space(toys.problem("toy_blur")), seed=1):
        copy_of_state = copied(state)
        assert contents(copy_of_state) == contents(state)
        assert copy_of_state.space.weights == builtin_weights()
        assert copy_of_state.space.memory_limit == state.space.memory_limit
        assert copy_of_state.space.max_recompute == state.space.max_recompute
        assert copy_of_state.space.subtiling == state.space.subtiling


def test_states_of_one_pickle_share_their_space() -> None:
    states = walk(Rules().space(toys.problem("toy_blur")), seed=1)
    assert len({id(state.space) for state in pickled(states)}) == 1
    assert len(pickle.dumps(states)) < 2 * len(pickle.dumps(states[0]))


def test_the_decisions_of_a_state_lead_to_it() -> None:
    *_, last = walk(Rules().space(toys.problem("toy_blur")), seed=1)
    state = last.space.initial_state()
    for decision in last.decisions_made:
        child = state.child_if_legal(decision)
        assert child is not None
        state = child
    assert contents(state) == contents(last)


def test_decisions_that_are_not_legal_make_no_state() -> None:
    first, second, *_ = walk(Rules().space(toys.problem("toy_blur")), seed=1)
    state = _core.State.__new__(_core.State)
    with pytest.raises(_core.FormatError, match=r"no state of 'toy_blur': .* is not legal after 1 decisions"):
        state.__setstate__((first.space, second.decisions_made * 2))  # type: ignore[attr-defined]


def play_on(env: gym.Env[Any, Any], episodes: int) -> list[Any]:
    """All that the rest of an episode and some more show, played by a policy that depends on what it sees."""
    shown: list[Any] = []
    info = {"action_mask": env.get_wrapper_attr("action_masks")()}
    for _ in range(episodes):
        over = False
        while not over:
            legal = np.flatnonzero(info["action_mask"])
            observation, reward, over, _, info = env.step(legal[len(shown) % len(legal)])
            shown.append((reward, {key: value.tobytes() for key, value in observation.items()}, info.get("cost")))
        observation, info = env.reset()
        shown.append({key: value.tobytes() for key, value in observation.items()})
    return shown


@pytest.mark.parametrize("copied", [pickled, cloudpickled, copy.deepcopy])
def test_a_copy_of_an_environment_continues_the_episode(copied: Copy) -> None:
    env = gym.make(
        "HalideSchedule-v0", pipeline=[toys.problem(name) for name in ("toy_blur", "toy_histogram")], max_decisions=64
    )
    env.reset(seed=3)
    env.step(1)
    env.action_space.seed(5)
    twin = copied(env)
    assert twin.action_space.sample() == env.action_space.sample()
    # Which of the pipelines an episode is about is drawn.
    assert play_on(twin, episodes=6) == play_on(env, episodes=6)


def test_copies_of_an_environment_are_independent() -> None:
    env = gym.make("HalideSchedule-v0", pipeline=toys.problem("toy_blur"))
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    before = env.get_wrapper_attr("state").num_decisions_made
    twin.step(0)
    assert env.get_wrapper_attr("state").num_decisions_made == before


@every_pickle
def test_points_of_episodes(copied: Copy) -> None:
    make = {"id": "HalideSchedule-v0", "pipeline": toys.problem("toy_blur")}
    env, other = gym.make(**make).unwrapped, gym.make(**make).unwrapped
    env.reset(seed=0)
    env.step(2)
    other.reset(seed=1)
    observation, _ = other.restore_state(copied(env.clone_state()))
    expected, _ = env.restore_state(env.clone_state())
    assert all((observation[key] == expected[key]).all() for key in expected)


@every_pickle
def test_environments_over_generated_pipelines(copied: Copy) -> None:
    env = gym.make("HalideSchedule-v0", pipeline="random", parallelism=4)
    env.reset(seed=0)
    twin = copied(env)
    assert twin.reset(seed=1)[1]["num_legal_decisions"] == env.reset(seed=1)[1]["num_legal_decisions"]
    assert twin.unwrapped.problem == env.unwrapped.problem


@pytest.mark.parametrize("copied", [pickled, cloudpickled, copy.deepcopy])
def test_synthetic_trees(copied: Copy) -> None:
    env = gym.make("SyntheticTree-v0", depth=5)
    env.reset(seed=0)
    env.step(1)
    twin = copied(env)
    for action in (0, 1, 2):
        expected, reward, *_ = env.step(action)
        observation, same_reward, *_ = twin.step(action)
        assert (observation == expected).all() and same_reward == reward
    assert twin.unwrapped.node == env.unwrapped.node
    assert (twin.reset()[0] == env.reset()[0]).all()


def test_vector_environments_in_processes_of_their_own() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur(), parallelism=4)
    envs = gym.make_vec(
        "HalideSchedule-v0",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"context": "spawn"},
        pipeline=problem,
        max_decisions=64,
    )
    try:
        _, info = envs.reset(seed=0)
        observations, *_ = envs.step(np.zeros(2, np.int64))
    finally:
        envs.close()
    alone = gym.make("HalideSchedule-v0", pipeline=problem, max_decisions=64)
    _, expected = alone.reset(seed=0)
    assert info["num_legal_decisions"].tolist() == [expected["num_legal_decisions"]] * 2
    observation, *_ = alone.step(0)
    assert all((observations[key] == observation[key]).all() for key in observation)


@every_copy
def test_what_holds_a_record_says_why_it_cannot_be_copied(copied: Copy, tmp_path: Path) -> None:
    with (
        TimingDatabase(tmp_path / "times.db") as database,
        pytest.raises(TypeError, match=r"TimingDatabase has an open file.*open it again by its path"),
    ):
        copied(database)
