"""States with more legal decisions than an environment has actions: what is left out is evenly spread, and announced."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from halidegym.envs.pipelines import records as suite_records
from oracle.builder_problem import SSE_AVX2


@pytest.mark.parametrize(
    ("pipeline", "max_decisions"), [("nl_means", 1024), ("max_filter", 1024), ("resnet_50/b14", 16), ("harris", 16)]
)
def test_what_is_left_out_is_announced_and_evenly_spread(pipeline: str, max_decisions: int) -> None:
    setting = {"target": SSE_AVX2, "parallelism": 16, "skip_forced": False}
    made = gym.make("HalideSchedule-v0", pipeline=pipeline, max_decisions=max_decisions, **setting)
    env = made.unwrapped
    random = np.random.default_rng(0)
    truncated = 0
    for episode in range(3):
        _, info = made.reset(seed=episode)
        done = False
        while not done:
            count, indices = info["num_legal_decisions"], env.decision_indices()
            assert count == env.state.expand().count
            assert info["decisions_truncated"] == (count > max_decisions)
            assert info["action_mask"].sum() == len(indices) == min(count, max_decisions)
            if count > max_decisions:
                truncated += 1
                assert indices[0] == 0
                gaps = np.diff([*indices, count])
                assert set(gaps.tolist()) <= {count // max_decisions, -(-count // max_decisions)}
            else:
                assert indices.tolist() == list(range(count))
            action = int(random.integers(len(indices)))
            chosen = env.state.apply(int(indices[action]))
            _, _, done, _, info = made.step(action)
            assert env.state.dump() == chosen.dump()
    assert truncated > 0


def test_the_default_is_enough_for_some_pipelines_and_too_small_for_others() -> None:
    """Over 1,000 random episodes each, as `halidegym list` shows them."""
    largest = {name: record.largest_legal for name, record in suite_records.read_records()["papers-v1"].items()}
    assert {name for name, most in largest.items() if most <= 1024} == {
        "stencil_chain", "harris", "conv_layer", "iir_blur", "mat_mul",
    }  # fmt: skip


def test_the_documented_numbers_are_those_on_record() -> None:
    page = (Path(__file__).parents[2] / "docs" / "pipelines" / "benchmarks.md").read_text()
    for name, record in suite_records.read_records()["papers-v1"].items():
        numbers = (record.nodes, record.stages, record.decisions, f"{record.median_legal:g}", record.largest_legal)
        size = " x ".join(map(str, record.size))
        assert f"| {' | '.join(map(str, (name, *numbers, size)))} |" in page
        assert record.episodes == 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", suite_records.read_records()["papers-v1"])
def test_a_thousand_episodes_give_the_numbers_on_record(name: str) -> None:
    assert suite_records.measure(name, episodes=1000) == suite_records.read_records()["papers-v1"][name]
