"""HalideSchedule-v0: Gymnasium's contract, the mask, forced decisions, determinism, rewards, memory."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import halide as hl
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.rewards import DEAD_END_SPEEDUP, CostModelReward
from halidegym.native import _core
from halidegym.native.weights import builtin_weights, weights_hash

TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"


def make(pipeline: Any = pipelines_for_tests.blur, **options: Any) -> gym.Env[Any, Any]:
    return gym.make("HalideSchedule-v0", pipeline=pipeline, **{"parallelism": 16, "target": TARGET, **options})


def bare(pipeline: Any = pipelines_for_tests.blur, **options: Any) -> HalideSchedule:
    env = make(pipeline, **options).unwrapped
    assert isinstance(env, HalideSchedule)
    return env


Policy = Callable[[dict[str, Any]], int]


def random_policy(seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    return lambda info: int(rng.choice(np.flatnonzero(info["action_mask"])))


def play(
    env: gym.Env[Any, Any], policy: Policy, seed: int | None = None
) -> Iterator[tuple[Any, float, bool, dict[str, Any]]]:
    """Play one episode; yields the outcome of each step."""
    _, info = env.reset(seed=seed)
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(policy(info))
        assert not truncated
        yield observation, float(reward), terminated, info


def outcome(env: gym.Env[Any, Any], policy: Policy, seed: int | None = None) -> tuple[float, dict[str, Any]]:
    *_, (_, reward, _, info) = play(env, policy, seed)
    return reward, info


def digest(env: gym.Env[Any, Any], episodes: int) -> str:
    """Of everything that some random episodes return."""
    result = hashlib.sha256()
    for episode in range(episodes):
        for observation, reward, _, info in play(env, random_policy(episode), seed=episode):
            for key in sorted(observation):
                result.update(observation[key].tobytes())
            result.update(np.float64(reward).tobytes())
            result.update(info["action_mask"].tobytes())
        result.update(np.float64(info["cost"]).tobytes())
        result.update(info["schedule"].problem.hash.encode())
    return result.hexdigest()


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


def test_a_step_after_the_end_asks_for_a_reset() -> None:
    env = bare()
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    outcome(env, random_policy(0))
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


# Pipelines


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pipeline": "haris"}, r"'haris'.*harris, .*mat_mul"),
        ({"pipeline": []}, "empty"),
        ({"pipeline": "harris", "parallelism": 0}, "parallelism"),
        ({"pipeline": "harris", "max_decisions": 0}, "at least 1"),
        ({"pipeline": "harris", "target": "z80"}, "z80"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((_core.InvalidParameter, _core.Error), match=message):
        HalideSchedule(**arguments)


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(_core.InvalidParameter, match="ansi or rgb_array"):
        HalideSchedule(pipelines_for_tests.blur, render_mode="human")


def test_a_problem_for_another_target_is_refused() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur, parallelism=16, target=TARGET)
    with pytest.raises(_core.InvalidParameter, match="target"):
        HalideSchedule(problem, target="x86-64-linux")


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


# The mask and the decisions


@pytest.mark.parametrize(
    "pipeline", [pipelines_for_tests.blur, pipelines_for_tests.hist, pipelines_for_tests.several_updates]
)
def test_every_masked_in_action_leads_to_the_enumerated_child(pipeline: Any) -> None:
    env = bare(pipeline, skip_forced=False)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    while not env.state.is_complete:
        here, expansion = env.clone_state(), env.state.expand()
        assert info["action_mask"].sum() == info["num_legal_decisions"] == expansion.count > 0
        assert np.array_equal(env.action_masks(), info["action_mask"].astype(bool))
        for action in rng.permutation(expansion.count)[:20]:
            _, _, terminated, _, info = env.step(action)
            assert not info["illegal_action"]
            assert terminated == env.state.is_complete
            assert env.state.dump() == expansion.child(int(action)).dump()
            env.restore_state(here)
        _, _, _, _, info = env.step(int(rng.integers(expansion.count)))


def test_descriptors_tell_decisions_apart_and_match_their_description() -> None:
    kinds = ["pass", "inline", "compute_at_level", "compute_at_tile", "store_at_tile", "store_at_tile_split"]
    kinds += ["store_at_level", "store_at_level_split", "parallelize"]
    env = bare(pipelines_for_tests.stencil3)
    loops = max(len(stage.loops) for stage in env.problem.stages)
    seen = set()
    for seed in range(20):
        observation, info = env.reset()
        policy = random_policy(seed)
        while not env.state.is_complete:
            count, expansion = info["num_legal_decisions"], env.state.expand()
            table = env.tables(observation)["decisions"]
            rows = table[:count]
            assert table.shape == (1024, 12 + 3 * loops)
            assert len(np.unique(rows, axis=0)) == count
            assert not table[count:].any()
            for k, row in enumerate(rows):
                about = expansion.describe(k)
                kind = kinds[int(np.flatnonzero(row[:9])[0])]
                seen.add(kind)
                assert kind == about["kind"]
                assert row[9] == about.get("depth", 0)
                assert row[10] == about.get("vector_dim", -1) + 1
                for column, key in ((12 + loops, "outer_tile"), (12 + 2 * loops, "inner_tile")):
                    trips = about.get("tasks" if (kind, key) == ("parallelize", "outer_tile") else key, ())
                    expected = np.zeros(loops, np.float32)
                    expected[: len(trips)] = np.log2(1 + np.array(trips))
                    assert np.allclose(row[column : column + loops], expected)
            observation, _, _, _, info = env.step(policy(info))
    assert {"inline", "compute_at_level", "compute_at_tile", "store_at_tile", "parallelize"} <= seen


def test_features_are_those_of_the_cost_model_in_log_form() -> None:
    env = bare(pipelines_for_tests.hist)
    for observation, *_ in play(env, random_policy(1)):
        stages, features = env.state.features()
        tables = env.tables(observation)
        assert np.array_equal(np.flatnonzero(observation["scheduled"]), np.sort(stages))
        assert np.allclose(tables["schedule_features"][stages], np.log1p(features))
        assert not tables["schedule_features"][observation["scheduled"] == 0].any()
    counts = np.array([stage.features[7:].reshape(40, 7).T.ravel() for stage in env.problem.stages])
    assert np.allclose(tables["algorithm_features"], np.log1p(counts))


def test_edges_are_the_dataflow_between_stages() -> None:
    env = bare(pipelines_for_tests.several_updates, max_edges=50)
    observation, _ = env.reset()
    nodes, stages = env.problem.nodes, env.problem.stages
    last_stage = {node.id: node.first_stage + node.num_stages - 1 for node in nodes}
    expected = {(last_stage[edge.producer], edge.consumer_stage) for edge in env.problem.edges}
    expected |= {(stage.id - 1, stage.id) for stage in stages if stage.index > 0}
    edges = [tuple(edge) for edge in env.tables(observation)["edges"].tolist()]
    assert len(edges) == 50
    assert set(edges) == expected | {(-1, -1)}


def test_more_decisions_than_there_is_room_for_are_evenly_spread() -> None:
    env, full = bare(max_decisions=10), bare()
    _, info = env.reset()
    _, full_info = full.reset()
    assert info["decisions_truncated"]
    assert not full_info["decisions_truncated"]
    count = full_info["num_legal_decisions"]
    assert info["num_legal_decisions"] == count == 40  # docs/specification/search-space.md, section 18
    assert info["action_mask"].tolist() == [1] * 10
    assert env.decision_indices().tolist() == [k * count // 10 for k in range(10)]
    here = env.clone_state()
    for action, decision in enumerate(env.decision_indices()):
        env.restore_state(here)
        expected = here.state.apply(int(decision))
        env.step(action)
        assert env.state.dump() == expected.dump()


def test_an_illegal_action_takes_another_decision_and_says_so() -> None:
    env, reference = bare(), bare()
    _, info = env.reset()
    reference.reset()
    count = info["num_legal_decisions"]
    for illegal, legal in ((count, 0), (env.action_space.n - 1, (env.action_space.n - 1) % count), (-1, count - 1)):
        env.reset()
        reference.reset()
        observation, reward, _, _, info = env.step(illegal)
        expected, expected_reward, _, _, expected_info = reference.step(legal)
        assert info["illegal_action"]
        assert not expected_info["illegal_action"]
        assert all(np.array_equal(observation[key], expected[key]) for key in expected)
        assert reward == expected_reward


def test_episodes_end_whatever_the_actions() -> None:
    env = make("harris")
    rng = np.random.default_rng(0)
    for _ in range(5):
        steps = list(play(env, lambda _: int(rng.integers(env.action_space.n))))
        assert len(steps) <= 2 * env.unwrapped.problem.num_nodes
        assert steps[-1][3]["cost"] > 0


# Episodes


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
    rewarded = CostModelReward(make(pipelines_for_tests.fanout, memory_limit=500_000), form="speedup")
    dead_ends = []
    for seed in range(30):
        reward, info = outcome(env, random_policy(seed))
        dead_ends.append(info["dead_end"])
        if info["dead_end"]:
            assert "cost" not in info
            assert reward == pytest.approx(np.log(DEAD_END_SPEEDUP))
            assert outcome(rewarded, random_policy(seed))[0] == pytest.approx(DEAD_END_SPEEDUP)
    assert any(dead_ends)
    assert not all(dead_ends)


def test_a_limit_that_no_schedule_keeps_is_reported_by_reset() -> None:
    with pytest.raises(_core.SearchExhausted, match="memory_limit"):
        make(memory_limit=0).reset()


# Determinism


def test_equal_seeds_and_actions_agree_in_all_processes() -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import pipelines_for_tests\n"
        "from envs.test_halide_schedule import digest, make\n"
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


# Rewards


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("speedup", lambda b, c: b / c),
        ("log_speedup", lambda b, c: np.log(b / c)),
        ("inverse_time", lambda b, c: 1 / c),
    ],
)
@pytest.mark.parametrize("baseline", ["greedy", 2.5, "plan"])
def test_forms_and_baselines(form: Any, baseline: Any, expected: Callable[[float, float], float]) -> None:
    base = make()
    plan = Greedy().plan(base.unwrapped.problem)
    cost = {"greedy": plan.cost, "plan": plan.cost, 2.5: 2.5}[baseline]
    env = CostModelReward(base, form=form, baseline=plan if baseline == "plan" else baseline)
    *before, (_, reward, _, info) = play(env, random_policy(1))
    assert all(step[1] == 0 for step in before)
    assert reward == pytest.approx(expected(cost, info["cost"]), rel=1e-12)
    assert reward == env.rate(base.unwrapped.state)


def test_bad_rewards_are_refused() -> None:
    with pytest.raises(_core.InvalidParameter, match="inverse_time"):
        CostModelReward(make(), form="fast")  # type: ignore[arg-type]
    for baseline in ("best", 0.0, float("nan")):
        with pytest.raises(_core.InvalidParameter, match="baseline"):
            CostModelReward(make(), baseline=baseline)  # type: ignore[arg-type]
    env = CostModelReward(make(), baseline=Greedy().plan(bare("mat_mul").problem))
    with pytest.raises(_core.InvalidParameter, match="mat_mul"):
        outcome(env, random_policy(0))


# Rendering


def test_ansi_shows_the_nest_and_what_is_next() -> None:
    env = make(render_mode="ansi")
    env.reset()
    assert "place" in env.render() or "parallelize" in env.render()
    _, info = outcome(env, random_policy(0))
    assert info["schedule"].loop_nest() in env.render()
    assert "complete" in env.render()


def test_rgb_array_has_one_size() -> None:
    env = make("harris", render_mode="rgb_array")
    env.reset()
    empty = env.render()
    outcome(env, random_policy(0))
    full = env.render()
    assert empty.shape == full.shape == (720, 960, 3)
    assert (full < 128).sum() > (empty < 128).sum() > 0


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
