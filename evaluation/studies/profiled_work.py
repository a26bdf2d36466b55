"""The work that a build with HALIDEGYM_PROFILE is optimized for, in the same amounts each time (`native/profile.cmake`).

Its pipelines are small, of all kinds, and one large one; what is not done here is compiled as without a profile.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from halidegym.agents import MB2FBS, MCTS, TAG, BeamSearch, PolicyAgent, RandomSearch
from halidegym.envs.registration import HALIDE_SCHEDULE
from halidegym.envs.sources import load_problem

_TARGET, _PARALLELISM = "x86-64-linux-avx-avx2-f16c-fma-sse41", 16
_BEAM_SIZES = {
    "harris": 32,
    "hist": 32,
    "iir_blur": 32,
    "bilateral_grid": 8,
    "camera_pipe": 4,
    "local_laplacian": 1,
} | {f"random-train-v1/{number}": 8 for number in range(8)}
_TREES = ("harris", "camera_pipe")
_ENVIRONMENTS = ("toy_blur", "harris", "camera_pipe")
_SCHEDULES = 500  # drawn at random, of each pipeline
_EVALUATIONS = 10_000  # of each search in a tree or a graph
_STEPS = 2000
_NUM_ENVS = 16
_MAX_DECISIONS = 1024
_ARGUMENTS: dict[str, Any] = {"parallelism": _PARALLELISM, "max_decisions": _MAX_DECISIONS}


def main() -> None:
    """Search in all ways, and play."""
    problems = {name: load_problem(name, target=_TARGET, parallelism=_PARALLELISM) for name in _BEAM_SIZES}
    for name, problem in problems.items():
        BeamSearch(beam_size=_BEAM_SIZES[name], passes=2).plan(problem)
        RandomSearch().plan(problem, evaluations=_SCHEDULES)
    for name in _TREES:
        for agent in (MCTS.preset("mcts_replay"), MB2FBS(), TAG()):
            agent.plan(problems[name], evaluations=_EVALUATIONS)
        PolicyAgent(samples=16).plan(problems[name])
    for name in _ENVIRONMENTS:
        _play_one(gym.make(HALIDE_SCHEDULE, pipeline=name, **_ARGUMENTS))
        _play_many(
            gym.make_vec(
                HALIDE_SCHEDULE, pipeline=name, num_envs=_NUM_ENVS, autoreset_mode=AutoresetMode.SAME_STEP, **_ARGUMENTS
            )
        )


def _play_one(env: gym.Env[Any, Any]) -> None:
    rng, done = np.random.default_rng(0), True
    for _ in range(_STEPS):
        if done:
            _, info = env.reset(seed=0)
        _, _, done, _, info = env.step(rng.integers(min(info["num_legal_decisions"], _MAX_DECISIONS)))


def _play_many(envs: gym.vector.VectorEnv[Any, Any, Any]) -> None:
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    for _ in range(_STEPS // _NUM_ENVS):
        infos = envs.step(rng.integers(np.minimum(infos["num_legal_decisions"], _MAX_DECISIONS)))[4]


if __name__ == "__main__":
    main()
