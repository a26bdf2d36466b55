"""Rewards by the cost model: forms, baselines, and that an environment has one object that rates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import halidegym
import pipelines_for_tests
from episodes_for_tests import bare, finish, make, outcome, play, random_policy
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards import DEAD_END_SPEEDUP, CostModelReward, Rating, Reward, RewardByCost, ScheduleReward
from halidegym.native import _core

EXAMPLE = Path(halidegym.__path__[0]) / "agents/learned/shipped/example.weights"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("speedup", lambda b, c: b / c),
        ("log_speedup", lambda b, c: np.log(b / c)),
        ("inverse_time", lambda b, c: 1 / c),
    ],
)
@pytest.mark.parametrize("baseline", ["greedy", 2.5, np.float32(2.5), "plan"])
def test_forms_and_baselines(form: Any, baseline: Any, expected: Callable[[float, float], float]) -> None:
    base = make()
    plan = Greedy().plan(base.unwrapped.problem)
    cost = {"greedy": plan.cost, "plan": plan.cost, 2.5: 2.5}[baseline]
    env = CostModelReward(base, form=form, baseline=plan if baseline == "plan" else baseline)
    *before, (_, reward, _, info) = play(env, random_policy(1))
    assert all(step[1] == 0 for step in before)
    assert reward == pytest.approx(expected(cost, info["cost"]), rel=1e-12)
    assert reward == env.rate(base.unwrapped.state)
    assert env.baseline_time() == cost
    assert info["speedup"] == plan.cost / info["cost"]


def test_bad_rewards_are_refused() -> None:
    with pytest.raises(_core.InvalidParameter, match="inverse_time"):
        CostModelReward(make(), form="fast")  # type: ignore[arg-type]
    for baseline in ("best", 0.0, float("nan"), None, True, np.ones(2)):
        with pytest.raises(_core.InvalidParameter, match="baseline"):
            CostModelReward(make(), baseline=baseline)  # type: ignore[arg-type]
    env = CostModelReward(make(), baseline=Greedy().plan(bare("mat_mul").problem))
    with pytest.raises(_core.InvalidParameter, match="mat_mul"):
        env.reset()
    with pytest.raises(_core.InvalidParameter, match="wrap a HalideSchedule"):
        CostModelReward(gym.make("SyntheticTree-v0"))


def test_a_wrapper_replaces_the_reward_of_the_environment() -> None:
    base = make()
    inner = CostModelReward(base, form="speedup")
    outer = CostModelReward(inner, form="inverse_time")
    for env in (base, inner, outer):
        reward, info = outcome(env, random_policy(2))
        assert reward == 1 / info["cost"]
    assert inner.rate(base.unwrapped.state) == info["speedup"]


def test_only_a_reward_takes_the_place_of_a_reward() -> None:
    single = gym.make("HalideSchedule-v0", pipeline="toy_blur").unwrapped
    native = gym.make_vec("HalideSchedule-v0", num_envs=2, pipeline="toy_blur").unwrapped
    for env in (single, native):
        for other in ("speedup", RewardByCost, None):
            with pytest.raises(_core.InvalidParameter, match=r"reward.* give a Reward"):
                env.reward = other  # type: ignore[attr-defined]
        env.reward = RewardByCost("speedup")  # type: ignore[attr-defined]
        assert env.reward.form == "speedup"  # type: ignore[attr-defined]


def test_the_cost_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    env = CostModelReward(make(), baseline=2.0)
    reward, info = outcome(env, random_policy(3))
    monkeypatch.setattr(_core.State, "cost", None)
    monkeypatch.setattr(_core.State, "features", None)
    again, _ = outcome(env, random_policy(3))
    assert again == reward == math.log(2.0 / info["cost"])


@pytest.mark.parametrize("arguments", [{}, {"baseline": 2.0}, {"form": "inverse_time"}, {"baseline": "plan"}])
def test_greedy_search_runs_once_a_problem(arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reward: observations tell costs relative to it."""
    problem = bare().problem
    plan = Greedy().plan(problem)
    arguments = {name: plan if value == "plan" else value for name, value in arguments.items()}
    searches, beam_search = [], _core.beam_search
    monkeypatch.setattr(_core, "beam_search", lambda *given: searches.append(given) or beam_search(*given))
    env = CostModelReward(make(problem), **arguments)
    assert not searches
    for seed in range(2):
        _, info = env.reset(seed=seed)
        env.unwrapped.restore_state(env.unwrapped.clone_state())
        assert finish(env, info, random_policy(seed))[1]["speedup"] > 0
        assert len(searches) == 1


def test_what_cannot_be_rated_or_restored_is_refused() -> None:
    env, other = bare(), bare(pipelines_for_tests.hist)
    env.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(_core.InvalidParameter, match="is not complete"):
        CostModelReward(env).rate(env.state)
    with pytest.raises(_core.InvalidParameter, match="the state is of 'hist', and not of 'blur'"):
        env.restore_state(other.clone_state())
    with pytest.raises(_core.InvalidParameter, match="the state is of 'hist', and not of 'blur'"):
        CostModelReward(env).rate(other.greedy_state)
    with pytest.raises(_core.InvalidParameter, match="state is None; give a State"):
        CostModelReward(env).rate(None)  # type: ignore[arg-type]
    several = bare([pipelines_for_tests.blur, pipelines_for_tests.hist])
    several.reset(seed=0)
    here = several.clone_state()
    with pytest.raises(_core.InvalidParameter, match="is of problem 1 of an environment, and here are 1"):
        env.restore_state(dataclasses.replace(here, problem_index=1))
    for nothing in (None, env.state):
        with pytest.raises(_core.InvalidParameter, match="give a EpisodeState"):
            env.restore_state(nothing)  # type: ignore[arg-type]
    same = bare()
    same.reset(seed=0)
    env.restore_state(same.clone_state())
    with pytest.raises(_core.InvalidParameter, match="is none; give a Reward"):
        ScheduleReward(env, lambda *_: 1.0)  # type: ignore[arg-type]


def test_costs_by_other_weights_are_not_compared() -> None:
    env = bare()
    other = bare(env.problem, weights=EXAMPLE)
    plan = Greedy(weights=EXAMPLE).plan(env.problem)
    with pytest.raises(_core.InvalidParameter, match="a plan without a cost by the weights of the environment"):
        CostModelReward(env, baseline=plan).reset()
    reward, info = outcome(CostModelReward(other, baseline=plan), random_policy(1))
    assert reward == math.log(plan.cost / info["cost"])
    reward, info = outcome(CostModelReward(env), random_policy(1))
    with pytest.raises(_core.InvalidParameter, match="the cost model of the state has other weights"):
        CostModelReward(env).rate(other.state)


def test_a_restored_environment_rates_by_the_baseline_of_its_problem() -> None:
    env = bare([pipelines_for_tests.blur, pipelines_for_tests.hist])
    _, info = env.reset(seed=0)
    here, first, greedy_cost = env.clone_state(), env.problem, env.greedy_state.cost()
    expected = finish(env, info, random_policy(0))
    while env.problem == first:
        env.reset()
    assert env.greedy_state.cost() != greedy_cost
    _, info = env.restore_state(here)
    reward, info = finish(env, info, random_policy(0))
    assert (reward, info["speedup"]) == (expected[0], expected[1]["speedup"])
    assert reward == math.log(greedy_cost / info["cost"])


def test_dead_ends_count_as_very_slow_schedules() -> None:
    # A limit that the greedy schedule keeps, and some others do not.
    options = {"pipeline": pipelines_for_tests.fanout, "memory_limit": 500_000}
    plain, inverse = make(**options), CostModelReward(make(**options), form="inverse_time")
    speedup = CostModelReward(make(**options), form="speedup")
    seed = next(seed for seed in range(100) if outcome(plain, random_policy(seed))[1]["dead_end"])
    assert outcome(plain, random_policy(seed))[0] == pytest.approx(math.log(DEAD_END_SPEEDUP))
    assert outcome(speedup, random_policy(seed))[0] == pytest.approx(DEAD_END_SPEEDUP)
    assert outcome(inverse, random_policy(seed))[0] == pytest.approx(DEAD_END_SPEEDUP / inverse.baseline_time())


def test_without_a_greedy_schedule_other_baselines_still_rate() -> None:
    with pytest.raises(_core.SearchExhausted, match="memory_limit"):
        make(memory_limit=0).reset()
    env = CostModelReward(make(memory_limit=0), baseline=1.0)
    reward, info = outcome(env, random_policy(0))
    assert info["dead_end"]
    assert reward == pytest.approx(math.log(DEAD_END_SPEEDUP))


def test_the_speedup_is_unknown_without_a_greedy_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any, **__: Any) -> None:
        raise _core.SearchExhausted("no schedule within the memory_limit")

    env = CostModelReward(make(), baseline=1.0)
    monkeypatch.setattr(_core, "beam_search", exhausted)
    reward, info = outcome(env, random_policy(0))
    assert math.isnan(info["speedup"])
    assert reward == math.log(1 / info["cost"])


def test_the_specification_makes_the_same_reward() -> None:
    env = CostModelReward(make("mat_mul"), form="speedup", baseline=3.0)
    assert env.spec is not None
    again = gym.make(env.spec)
    assert outcome(again, random_policy(0))[0] == outcome(env, random_policy(0))[0]
    assert isinstance(again.unwrapped.reward, RewardByCost)
    assert (again.unwrapped.reward.form, again.unwrapped.reward.baseline) == ("speedup", 3.0)


class CountOfDirectives(Reward):
    """A reward of one's own."""

    def baseline_time(self, problem: PreparedProblem) -> float:
        return 1.0

    def rate_schedule(self, problem: PreparedProblem, state: _core.State, cost: float) -> Rating:
        return Rating(float(len(state.directives())), {"rated": problem.problem.name, "known_cost": cost})


class Bare(CountOfDirectives):
    """One that forgets the information."""

    def rate_schedule(self, problem: PreparedProblem, state: _core.State, cost: float) -> Rating:
        return -cost  # type: ignore[return-value]


def step_on(envs: gym.vector.VectorEnv[Any, Any, Any]) -> None:
    while True:
        envs.step([0, 0])


class Told(CountOfDirectives):
    """One that says what it is told to, and calls no `__init__` but its own."""

    def __init__(self, rating: Rating) -> None:
        self.rating = rating

    def rate_schedule(self, problem: PreparedProblem, state: _core.State, cost: float) -> Rating:
        return self.rating


@pytest.mark.parametrize(
    ("reward", "info"),
    [(None, {}), ("fast", {}), (np.ones(1), {}), (True, {}), (math.nan, {}), (1.0, None), (1.0, [("a", 1)])],
)
def test_a_rating_is_of_a_number_and_a_mapping(reward: Any, info: Any) -> None:
    told = Told(Rating(reward, info))
    env = ScheduleReward(make(), told)
    _, info = env.reset(seed=0)
    with pytest.raises(_core.InvalidParameter, match=r"Told.rate_schedule returned Rating\(.*: return a Rating"):
        finish(env, info, random_policy(0))
    envs = gym.make_vec("HalideSchedule-v0", num_envs=2, pipeline=pipelines_for_tests.blur, reward=told)
    envs.reset(seed=0)
    with pytest.raises(_core.InvalidParameter, match=r"Told.rate_schedule returned Rating\(.*: return a Rating"):
        step_on(envs)


def test_a_reward_of_one_s_own_that_is_no_rating_is_refused() -> None:
    with pytest.raises(_core.InvalidParameter, match=r"Bare.rate_schedule returned -.*: return a Rating"):
        outcome(ScheduleReward(make("mat_mul"), Bare()), random_policy(0))


def test_a_reward_of_one_s_own() -> None:
    env = ScheduleReward(make("mat_mul"), CountOfDirectives(baseline=1.0))
    for rewarded in (env, gym.make(env.spec)):
        reward, info = outcome(rewarded, random_policy(0))
        assert reward == len(info["schedule"].directives) > 0
        assert (info["rated"], info["known_cost"]) == ("mat_mul", info["cost"])
