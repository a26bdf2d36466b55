"""HalideSchedule-v0: episodes from their first step to their outcome, their copies, their determinism, and training."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import halide as hl
import numpy as np
import pytest

import pipelines_for_tests
from episodes_for_tests import TARGET, Policy, bare, digest, make, outcome, play, random_policy
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.rules import Rules
from halidegym.envs.rewards import DEAD_END_SPEEDUP
from halidegym.native import _core
from halidegym.native.weights import builtin_weights, make_weights, weights_hash


def test_forced_decisions_change_nothing_but_the_number_of_steps() -> None:
    for pipeline in (pipelines_for_tests.blur, pipelines_for_tests.hist, pipelines_for_tests.scan):
        skipping = bare(pipeline)
        stepping = bare(skipping.problem, skip_forced=False)
        for seed in range(5):
            choices: list[int] = []
            policy = random_policy(seed)
            num_steps = 0

            def choose(info: dict[str, Any], policy: Policy = policy, choices: list[int] = choices) -> int:
                choices.append(policy(info))
                return choices[-1]

            reward, info = outcome(skipping, choose)
            remaining = iter(choices)

            def replay(info: dict[str, Any], remaining: Iterator[int] = remaining) -> int:
                return 0 if info["num_legal_decisions"] == 1 else next(remaining)

            steps = list(play(stepping, replay))
            num_steps = len(steps)
            assert next(remaining, None) is None
            assert num_steps == 2 * skipping.problem.num_nodes
            assert (steps[-1][1], steps[-1][3]["cost"]) == (reward, info["cost"])
            assert steps[-1][3]["schedule"] == info["schedule"]


def test_a_state_of_other_rules_or_weights_is_not_gone_on_from() -> None:
    env = bare(memory_limit=100_000)
    env.reset(seed=0)
    for arguments, message in (
        ({}, r"is under Rules\(.*memory_limit=None.*, and not under Rules\(.*memory_limit=100000"),
        ({"memory_limit": 100_000, "subtiling": False}, "is under Rules"),
        ({"memory_limit": 100_000, "max_recompute": None}, "is under Rules"),
        (
            {
                "memory_limit": 100_000,
                "weights": make_weights({**builtin_weights().tensors(), "conv1_bias": np.zeros(32, np.float32)}),
            },
            "other weights than the one here",
        ),
        (
            {"memory_limit": 100_000, "parallelism": 3},
            "the state is of 'blur', for another target, or with other cores",
        ),
    ):
        other = bare(**arguments)
        other.reset(seed=0)
        with pytest.raises(_core.InvalidParameter, match=message):
            env.restore_state(other.clone_state())
    same = bare(memory_limit=100_000, weights=builtin_weights(), max_decisions=7)
    same.reset(seed=0)
    env.restore_state(pickle.loads(pickle.dumps(same.clone_state())))


def ramp() -> hl.Func:
    x, f = hl.Var("x"), hl.Func("ramp")
    f[x] = x
    f.set_estimates([(0, 1024)])
    return f


def test_an_episode_without_any_choice_has_one_step() -> None:
    (step,) = play(make(ramp, parallelism=1), lambda _: 0)
    assert step[1] == 0.0
    assert step[3]["speedup"] == 1.0


def test_only_the_last_step_is_rewarded_and_reports_the_outcome() -> None:
    env = bare("harris")
    *before, (_, reward, terminated, info) = play(env, random_policy(3))
    assert [step[1] for step in before] == [0.0] * len(before)
    assert not any("cost" in step[3] for step in before)
    assert terminated
    assert info["cost"] == env.state.cost()
    assert info["speedup"] == env.greedy_state.cost() / info["cost"]
    assert reward == pytest.approx(np.log(info["speedup"]), rel=1e-12)
    assert info["schedule"] == env.schedule
    assert info["fingerprint"].problem_hash == env.problem.hash
    assert info["fingerprint"].weights_hash == weights_hash(builtin_weights())
    assert pickle.loads(pickle.dumps(info["schedule"])) == info["schedule"]


def test_the_schedule_is_one_that_halide_accepts() -> None:
    env = bare()
    _, info = outcome(env, random_policy(5))
    pipeline = env.problem.pipeline()
    info["schedule"].apply(pipeline)
    pipeline.compile_to_module(pipeline.infer_arguments(), "blur", hl.Target(TARGET))


def test_following_the_greedy_plan_gives_a_speedup_of_one() -> None:
    env = bare(skip_forced=False)
    actions = iter(Greedy().plan(env.problem).actions)
    reward, info = outcome(env, lambda _: next(actions))
    assert (reward, info["speedup"]) == (0.0, 1.0)
    assert info["cost"] == pytest.approx(0.933969, abs=5e-7)  # docs/specification/search-space.md, section 18


def test_clone_and_restore() -> None:
    env = bare("harris")
    env.reset(seed=0)
    observation, _, _, _, _ = env.step(0)
    here = env.clone_state()
    ends = []
    for _ in range(2):
        again, info = env.restore_state(here)
        assert all(np.array_equal(observation[key], again[key]) for key in observation)
        policy, terminated = random_policy(7), False
        while not terminated:
            _, reward, terminated, _, info = env.step(policy(info))
        ends.append((reward, info["cost"], info["schedule"]))
    assert ends[0] == ends[1]
    over = env.clone_state()
    env.restore_state(here)
    env.step(0)
    env.restore_state(over)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_a_dead_end_ends_the_episode() -> None:
    # A limit that the greedy schedule keeps, and some others do not.
    env = make(pipelines_for_tests.fanout, memory_limit=500_000)
    dead_ends = []
    for seed in range(30):
        reward, info = outcome(env, random_policy(seed))
        dead_ends.append(info["dead_end"])
        if info["dead_end"]:
            assert "cost" not in info
            assert reward == pytest.approx(np.log(DEAD_END_SPEEDUP))
    assert any(dead_ends)
    assert not all(dead_ends)


def test_where_greedy_search_finds_nothing_a_wider_beam_may() -> None:
    env = make(pipelines_for_tests.scan, memory_limit=10_000)
    with pytest.raises(_core.SearchExhausted):
        Greedy(memory_limit=10_000).plan(env.unwrapped.problem)
    beam = BeamSearch(beam_size=8, passes=1, memory_limit=10_000).plan(env.unwrapped.problem)
    reward, info = outcome(env, random_policy(0))
    assert env.unwrapped.greedy_state.cost() == beam.cost
    assert info["dead_end"] or reward == pytest.approx(np.log(beam.cost / info["cost"]))


def test_a_pipeline_that_the_reference_cannot_schedule_can_be_if_more_may_be_recomputed() -> None:
    with pytest.raises(_core.SearchExhausted, match="max_recompute"):
        make(pipelines_for_tests.three_lookups).reset()
    for seed in range(10):
        _, info = outcome(make(pipelines_for_tests.three_lookups, max_recompute=None), random_policy(seed))
        assert not info["dead_end"] and info["cost"] > 0


def test_a_limit_that_no_schedule_keeps_is_reported_by_reset() -> None:
    with pytest.raises(_core.SearchExhausted, match="memory_limit"):
        make(memory_limit=0).reset()


def test_equal_seeds_and_actions_agree_in_all_processes() -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import pipelines_for_tests\n"
        "from episodes_for_tests import digest, make\n"
        "print(digest(make([pipelines_for_tests.blur, 'mat_mul']), 5))"
    )
    tests = str(Path(__file__).parents[1])
    results = {
        subprocess.run(
            [sys.executable, "-c", script, tests],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).anchor,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert results == {digest(make([pipelines_for_tests.blur, "mat_mul"]), 5)}


# Memory and training


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(env: gym.Env[Any, Any], warm_up: int, episodes: int) -> int:
    for seed in range(warm_up):
        outcome(env, random_policy(seed))
    before = resident_bytes()
    for seed in range(episodes):
        outcome(env, random_policy(seed))
    return resident_bytes() - before


def test_memory_stays_flat() -> None:
    assert growth(make(max_decisions=128), 100, 300) < 4_000_000


def test_problems_that_are_met_once_leave_nothing_behind() -> None:
    problem = bare("harris").problem
    env = _core.Environment(bare("harris").observation_shape)

    def meet(count: int) -> None:
        for _ in range(count):
            env.start(Rules().space(problem).initial_state())

    meet(100)
    before = resident_bytes()
    meet(300)
    assert resident_bytes() - before < 2_000_000


@pytest.mark.slow
def test_memory_stays_flat_over_ten_thousand_episodes() -> None:
    assert growth(make(max_decisions=128), 1000, 10_000) < 8_000_000


@pytest.mark.slow
def test_maskable_ppo_learns() -> None:
    from sb3_contrib import MaskablePPO

    env = make(max_decisions=128)
    random_costs = [np.log(outcome(env, random_policy(seed))[1]["cost"]) for seed in range(100)]
    model = MaskablePPO("MultiInputPolicy", env, n_steps=256, batch_size=64, n_epochs=4, seed=0)
    model.learn(4000)
    costs = []
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=False)
            observation, _, terminated, _, info = env.step(action)
        costs.append(np.log(info["cost"]))
    assert np.mean(costs) < np.mean(random_costs) - np.std(random_costs) / 2
