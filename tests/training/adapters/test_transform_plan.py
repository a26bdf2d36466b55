"""Learners of other packages plan transforms of sizes that they have not seen."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from halidegym.envs.transform.plan_env import TransformPlanEnv
from halidegym.envs.transform.plan_task import PlanState

SMALL = (60, 64, 128, 210, 256, 360, 420, 512, 840, 1000, 1024)
LARGE = (2048, 4096, 1260, 2520, 3600)


def cost_of_random_plan(env: TransformPlanEnv, start: PlanState, rng: np.random.Generator) -> float:
    env.restore_state(start)
    while not env.state.is_complete:
        *_, info = env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
    return float(info["cost"])


@pytest.mark.slow
def test_a_policy_for_small_sizes_plans_large_ones() -> None:
    torch = pytest.importorskip("torch")
    sb3_contrib = pytest.importorskip("sb3_contrib")
    torch.set_num_threads(1)
    env = TransformPlanEnv(SMALL, room=LARGE, space="lanes")
    test = TransformPlanEnv(LARGE, room=SMALL, space="lanes")
    learner = sb3_contrib.MaskablePPO(
        "MultiInputPolicy", env, n_steps=1024, batch_size=256, n_epochs=4, learning_rate=1e-3, gamma=1.0, seed=0
    )
    learner.learn(8192)
    for index, space in enumerate(test.task.spaces):
        start = PlanState(index, space.root())
        rng = np.random.default_rng(index)
        median = statistics.median(cost_of_random_plan(test, start, rng) for _ in range(101))
        observation, _ = test.restore_state(start)
        while not test.state.is_complete:
            action, _ = learner.predict(observation, action_masks=test.action_masks(), deterministic=True)
            observation, *_, info = test.step(action)
        assert info["cost"] < median / 1.5
