"""Random numbers of groups: the k-th episode of each member is about the same pipeline."""

from __future__ import annotations

import numpy as np

from episodes_for_tests import TARGET
from halidegym.envs.halide_schedule_vector import HalideScheduleVector


def test_members_that_are_reset_when_their_episodes_are_over_go_on_by_themselves() -> None:
    """Though they may happen to end together, after different numbers of episodes."""
    envs = HalideScheduleVector(
        3, group_size=3, pipeline=["toy_blur", "toy_scan", "toy_diamond"], autoreset_mode="Disabled",
        max_decisions=32, target=TARGET, parallelism=16,
    )  # fmt: skip
    envs.reset(seed=0)
    played: list[list[str]] = [[problem.name] for problem in envs.problems]
    rng, ended_together = np.random.default_rng(0), 0
    for _ in range(200):
        _, _, terminated, _, _ = envs.step(rng.integers(0, 60, 3))
        if terminated.any():
            ended_together += terminated.all() and len(set(map(len, played))) > 1
            envs.reset(options={"reset_mask": terminated})
            for index in np.flatnonzero(terminated):
                played[index].append(envs.problems[index].name)
    assert ended_together > 0
    shortest = min(map(len, played))
    assert len({tuple(names[:shortest]) for names in played}) == 1
    envs.reset()  # begins anew together
    assert len({problem.name for problem in envs.problems}) == 1
