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
from halidegym.envs.problem_pool import ProblemPool
from halidegym.envs.registration import HALIDE_SCHEDULE
from halidegym.evaluation.studies.search_speed import in_turns
from halidegym.native import _core

Clock = Callable[[], float]
Loop = Callable[[float], float]
"""Takes steps for so many seconds; returns the steps per second."""

_STEPS_PER_LOOK = 100  # at the clock
_EPISODES_IN_TURN = 10
_MAX_DECISIONS = 1024
_ARGUMENTS: dict[str, Any] = {"parallelism": 16, "max_decisions": _MAX_DECISIONS}


def cart_pole() -> Loop:
    """Steps of CartPole-v1 per second of CPU time."""
    return _single(gym.make("CartPole-v1"), lambda _: 2)


def schedules(pipeline: str, *, copy: bool = True, max_decisions: int = _MAX_DECISIONS) -> Loop:
    """Steps of HalideSchedule-v0 per second of CPU time, as `gym.make` wraps it."""
    arguments = {**_ARGUMENTS, "copy": copy, "max_decisions": max_decisions}
    return _single(gym.make(HALIDE_SCHEDULE, pipeline=pipeline, **arguments), partial(_num_actions, room=max_decisions))


def vector(
    pipeline: str,
    *,
    num_envs: int = 16,
    threads: int = 1,
    copy: bool = True,
    max_decisions: int = _MAX_DECISIONS,
    autoreset_mode: str = "SameStep",
    clock: Clock = time.process_time,
) -> Loop:
    """Steps of all environments of `gym.make_vec`; in "NextStep", those that only reset an environment do not count.

    Threads are compared by the wall clock, `time.perf_counter`, on an idle machine.
    """
    envs = gym.make_vec(
        HALIDE_SCHEDULE,
        num_envs=num_envs,
        pipeline=pipeline,
        autoreset_mode=autoreset_mode,
        threads=threads,
        copy=copy,
        **{**_ARGUMENTS, "max_decisions": max_decisions},
    )
    return _together(envs, clock, max_decisions)


def native_vector(pipeline: str, *, num_envs: int = 16, threads: int = 1, clock: Clock = time.process_time) -> Loop:
    """Steps of all environments of `_core.VectorEnvironment`: observations, masks and costs, but nothing of Gymnasium.

    Threads are compared by the wall clock, as above.
    """
    env = gym.make(HALIDE_SCHEDULE, pipeline=pipeline, **_ARGUMENTS).unwrapped
    assert isinstance(env, HalideSchedule)
    problem = env.prepared_problem
    envs = _core.VectorEnvironment(env.observation_shape, num_envs=num_envs, threads=threads)
    _ = envs.observation  # from here on, each call keeps it up to date
    rng, everyone = np.random.default_rng(0), np.ones(num_envs, np.bool_)
    num_legal, terminated = envs.num_legal_decisions, envs.terminated

    def step() -> int:
        actions = (rng.random(num_envs) * np.minimum(num_legal, _MAX_DECISIONS)).astype(np.int64)
        envs.step(actions, everyone)
        if np.count_nonzero(terminated):
            envs.restart(terminated)
        return num_envs

    def loop(seconds: float) -> float:
        envs.start([problem.initial_state] * num_envs, [problem.reference_cost] * num_envs)
        return _rate(step, num_envs, seconds, clock)

    return loop


def synchronous(pipeline: str, *, num_envs: int = 16) -> Loop:
    """Steps of all environments of Gymnasium's own vector, which steps one after another, per second of CPU time."""
    return _together(
        gym.make_vec(
            HALIDE_SCHEDULE,
            num_envs=num_envs,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": "SameStep"},
            pipeline=pipeline,
            **_ARGUMENTS,
        ),
        time.process_time,
        _MAX_DECISIONS,
    )


def pooled(size: int) -> Loop:
    """Steps of HalideSchedule-v0 with `pipeline="random"` and a pool of which all is in memory, per second of CPU time."""
    env, pool = _warm_pool(size)
    _visit_all(pool, env)
    return _single(env, _num_actions)


def pooled_apart(size: int) -> Loop:
    """The same for the same pipelines, each in an environment of its own with the same room, for some episodes in turn."""
    _, pool = _warm_pool(size)
    least = pool.least_shape()
    room: dict[str, Any] = {"max_stages": least.stages, "max_edges": least.edges, "max_loops": least.loops}
    envs = [gym.make(HALIDE_SCHEDULE, pipeline=pool[i].problem, **_ARGUMENTS, **room) for i in range(size)]
    draw = random.Random(0).random

    def loop(seconds: float) -> float:
        steps, elapsed = 0, 0.0
        while elapsed < seconds:
            for env in envs:
                _play(env, draw)  # into the caches
                start = time.process_time()
                steps += sum(_play(env, draw) for _ in range(_EPISODES_IN_TURN))
                elapsed += time.process_time() - start
        return steps / elapsed

    return loop


def alternate(loops: Mapping[str, Loop], *, rounds: int = 5, seconds: float = 0.5) -> dict[str, list[float]]:
    """The rates of each loop in all rounds; before the first, each loop takes a turn that does not count."""
    measured = in_turns({name: partial(loop, seconds) for name, loop in loops.items()}, rounds + 1)
    return {name: list(rates.values[1:]) for name, rates in measured.items()}


def _together(envs: gym.vector.VectorEnv[Any, Any, Any], clock: Clock, max_decisions: int) -> Loop:
    rng, num_envs = np.random.default_rng(0), envs.num_envs
    resets_take_a_step = envs.metadata["autoreset_mode"] is gym.vector.AutoresetMode.NEXT_STEP
    infos: dict[str, Any] = {}
    ended = 0

    def step() -> int:
        nonlocal infos, ended
        num_actions = np.minimum(infos["num_legal_decisions"], max_decisions)
        resets = ended if resets_take_a_step else 0
        _, _, terminated, _, infos = envs.step((rng.random(num_envs) * num_actions).astype(np.int64))
        ended = int(np.count_nonzero(terminated))
        return num_envs - resets

    def loop(seconds: float) -> float:
        nonlocal infos, ended
        _, infos = envs.reset(seed=0)
        ended = 0
        return _rate(step, num_envs, seconds, clock)

    return loop


def _rate(step: Callable[[], int], num_envs: int, seconds: float, clock: Clock) -> float:
    """Steps of environments per second; each call takes one in all of them, and says how many count."""
    steps_per_look = 1 + _STEPS_PER_LOOK // num_envs
    steps, start = 0, clock()
    while (elapsed := clock() - start) < seconds:
        steps += sum(step() for _ in range(steps_per_look))
    return steps / elapsed


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


def _num_actions(info: Mapping[str, Any], room: int = _MAX_DECISIONS) -> int:
    return min(int(info["num_legal_decisions"]), room)


def _play(env: gym.Env[Any, Any], draw: Callable[[], float]) -> int:
    """Play an episode; returns its length."""
    _, info = env.reset()
    steps, terminated = 0, False
    while not terminated:
        _, _, terminated, _, info = env.step(int(draw() * _num_actions(info)))
        steps += 1
    return steps


def _warm_pool(size: int) -> tuple[gym.Env[Any, Any], ProblemPool]:
    env = gym.make(HALIDE_SCHEDULE, pipeline="random", pool=size, **_ARGUMENTS)
    schedule = env.unwrapped
    assert isinstance(schedule, HalideSchedule)
    pool = schedule.prepared_problems
    assert isinstance(pool, ProblemPool)
    for number in range(size):
        pool[number]
    return env, pool


def _visit_all(pool: ProblemPool, env: gym.Env[Any, Any]) -> None:
    """Play until most problems have been met, so that a measurement is of the steady state."""
    draw = random.Random(1).random
    for _ in range(3 * len(pool)):
        _play(env, draw)
