"""How many steps environments take in a second, next to Gymnasium's CartPole-v1.

Every loop draws a legal action at random, the same way in all environments, and resets at the end of an episode, which
counts, too. Rates of one machine mean little elsewhere, and those of different minutes little on a machine that is shared;
so `alternate` lets loops take turns, and ratios of rates of the same round are what to compare.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.registration import HALIDE_SCHEDULE
from halidegym.evaluation.studies.search_speed import in_turns
from halidegym.native import _core

Loop = Callable[[float], float]
"""Takes steps for so many seconds; returns the steps per second."""

_STEPS_PER_LOOK = 100  # at the clock
_MAX_DECISIONS = 1024
_ARGUMENTS: dict[str, Any] = {"parallelism": 16, "max_decisions": _MAX_DECISIONS}


def cart_pole() -> Loop:
    """Steps of CartPole-v1 per second of CPU time."""
    return _single(gym.make("CartPole-v1"), lambda _: 2)


def schedules(pipeline: str) -> Loop:
    """Steps of HalideSchedule-v0 per second of CPU time, as `gym.make` wraps it."""
    env = gym.make(HALIDE_SCHEDULE, pipeline=pipeline, **_ARGUMENTS)
    return _single(env, lambda info: min(info["num_legal_decisions"], _MAX_DECISIONS))


def vector(pipeline: str, *, num_envs: int = 256, threads: int = 1) -> Loop:
    """Steps of all environments of a native vector, per second of wall-clock time."""
    env = gym.make(HALIDE_SCHEDULE, pipeline=pipeline, **_ARGUMENTS).unwrapped
    assert isinstance(env, HalideSchedule)
    space, least = env.prepared_problem.space, env.prepared_problem.shape
    shape = _core.ObservationShape(stages=least.stages, edges=least.edges, loops=least.loops, decisions=_MAX_DECISIONS)
    native = _core.VectorEnvironment(shape, num_envs=num_envs, threads=threads)
    native.start([space.initial_state()] * num_envs)
    rng = np.random.default_rng(0)
    everyone = np.ones(num_envs, np.bool_)
    num_legal, terminated = native.num_legal_decisions, native.terminated

    def loop(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            native.step((rng.random(num_envs) * np.minimum(num_legal, _MAX_DECISIONS)).astype(np.int64), everyone)
            native.restart(terminated)
            steps += num_envs
        return steps / elapsed

    return loop


def alternate(loops: Mapping[str, Loop], *, rounds: int = 5, seconds: float = 0.5) -> dict[str, list[float]]:
    """The rates of each loop in all rounds; before the first, each loop takes a turn that does not count."""
    measured = in_turns({name: partial(loop, seconds) for name, loop in loops.items()}, rounds + 1)
    return {name: list(rates.values[1:]) for name, rates in measured.items()}


def _single(env: gym.Env[Any, Any], num_actions: Callable[[dict[str, Any]], int]) -> Loop:
    draw = random.Random(0).random
    env.reset(seed=0)

    def loop(seconds: float) -> float:
        _, info = env.reset()
        count = num_actions(info)
        steps, start = 0, time.process_time()
        while (elapsed := time.process_time() - start) < seconds:
            for _ in range(_STEPS_PER_LOOK):
                _, _, terminated, truncated, info = env.step(int(draw() * count))
                if terminated or truncated:
                    _, info = env.reset()
                count = num_actions(info)
            steps += _STEPS_PER_LOOK
        return steps / elapsed

    return loop
