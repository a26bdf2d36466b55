"""What a rollout came to, on episodes that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from halidegym.training.episodes.outcomes import Outcomes


def outcomes(*episodes: tuple[float, dict[str, float]]) -> dict[str, float]:
    """Of two environments, of which one never ends an episode."""
    told: list[str] = []
    watching: Any = Outcomes(told.append)
    watching.model = SimpleNamespace(num_timesteps=2)
    for reward, info in episodes:
        watching.update_locals({"dones": [False, True], "rewards": [9.0, reward], "infos": [{"speedup": 99.0}, info]})
        assert watching.on_step()
    assert told == ["Learning, 2 steps"] * len(episodes)
    return dict(watching.figures())


def test_ratios_to_greedy_are_geometric_means_without_dead_ends() -> None:
    found = outcomes((0.5, {"speedup": 2.0}), (-1.0, {}), (2.0, {"speedup": 8.0, "measured_speedup": 0.5}))
    assert found == pytest.approx(
        {
            "episodes": 3, "reward/mean": 0.5, "reward/best": 2.0, "cost/of_greedy": 1 / 4, "cost/best_of_greedy": 1 / 8,
            "run_time/of_greedy": 2.0, "run_time/best_of_greedy": 2.0,
        }
    )  # fmt: skip


def test_a_rollout_in_which_no_episode_ended_has_no_means() -> None:
    assert outcomes() == {"episodes": 0}
