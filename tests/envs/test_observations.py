"""HalideSchedule-v0: what an observation tells, which decisions it presents, and what actions do."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pipelines_for_tests
from episodes_for_tests import bare, make, play, random_policy


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
            assert table.shape == (1024, 29 + 3 * loops)
            assert len(np.unique(rows, axis=0)) == count
            assert not table[count:].any()
            for k, row in enumerate(rows):
                about = expansion.describe(k)
                kind = kinds[int(np.flatnonzero(row[:9])[0])]
                seen.add(kind)
                assert kind == about["kind"]
                assert row[9] == about.get("depth", 0)
                assert row[10] == about.get("vector_dim", -1) + 1
                for column, key in ((11 + loops, "outer_tile"), (11 + 2 * loops, "inner_tile")):
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


@pytest.mark.parametrize("child_features", [False, True])
def test_without_copies_arrays_show_the_same_and_last_through_the_next_step(child_features: bool) -> None:
    pipelines = [pipelines_for_tests.blur, pipelines_for_tests.several_updates, "harris"]
    kept, copying = (bare(pipelines, max_decisions=64, child_features=child_features, copy=c) for c in (False, True))
    names, arrays = set(), set()

    def check(shown: Any, expected: Any) -> None:
        assert list(shown) == list(expected)
        assert all(shown[key].dtype == expected[key].dtype and not shown[key].flags.writeable for key in shown)
        assert all(shown[key].tobytes() == expected[key].tobytes() for key in shown)
        arrays.update(map(id, shown.values()))

    for seed in range(12):
        (shown, info), (expected, _) = kept.reset(seed=seed), copying.reset(seed=seed)
        check(shown, expected)
        names.add(kept.problem.name)
        start, policy, is_over = kept.clone_state(), random_policy(seed), False
        while not is_over:
            action, before, expected_before = policy(info), shown, expected
            shown, _, is_over, _, info = kept.step(action)
            expected, *_ = copying.step(action)
            check(before, expected_before)
            check(shown, expected)
        check(kept.restore_state(start)[0], copying.restore_state(start)[0])
        check(shown, expected)
    assert len(names) == len(pipelines)
    assert len(arrays) == 3 * len(expected)


def test_gymnasium_has_nothing_to_say_about_observations_without_copies() -> None:
    env = make(copy=False)
    for seed in range(3):
        env.reset(seed=seed)
    for _ in play(env, random_policy(0)):
        pass


def test_a_copy_of_an_environment_without_copies_has_arrays_of_its_own() -> None:
    env = bare(copy=False)
    observation, info = env.reset(seed=0)
    before = {key: array.copy() for key, array in observation.items()}
    other = pickle.loads(pickle.dumps(env))
    shown, *_ = other.step(random_policy(0)(info))
    assert not any(array.flags.writeable for array in shown.values())
    assert all(np.array_equal(observation[key], before[key]) for key in before)
