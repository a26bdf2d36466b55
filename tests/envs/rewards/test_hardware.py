"""Rewards by run time: measured, failed and replayed."""

from __future__ import annotations

import dataclasses
import math
import random
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes import confined
from halidegym.envs.rewards import DEAD_END_SPEEDUP, HardwareTimingReward, RewardByCost
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.timers import Unrecorded
from halidegym.native import _core

QUICK = TimingSettings(time_limit_s=0.05, patience_s=0.05, threads=1)


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=2, name="blur")


class FixedTimer:
    """Says what it is told to, and remembers what it was asked."""

    def __init__(self, seconds: float = 1.0, ratio: float = 4.0, failure: str = "") -> None:
        self.baseline = Timing("ok", (seconds,), 0.0, disturbed=(False,))
        self.timing = Timing("crash", (), 0.0, failure) if failure else dataclasses.replace(self.baseline)
        self.ratio = math.nan if failure else ratio
        self.asked: list[str] = []
        self.closed = False

    def time(self, problem: SchedulingProblem, schedule: Any, *, cost: float | None = None) -> Timing:
        self.asked.append("time")
        return self.timing if self.asked.count("time") > 1 else self.baseline

    def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
        self.asked.append("compare")
        return Comparison(self.ratio, self.ratio, self.ratio, self.timing, self.baseline)

    def close(self) -> None:
        self.closed = True


def episode(env: gym.Env[Any, Any], seed: int = 0) -> tuple[float, dict[str, Any]]:
    generator = random.Random(seed)
    _, info = env.reset(seed=0)
    rewards, terminated = [], False
    while not terminated:
        _, reward, terminated, truncated, info = env.step(generator.randrange(info["num_legal_decisions"]))
        assert not truncated
        rewards.append(float(reward))
    assert not any(rewards[:-1])
    return rewards[-1], info


def episode_of_vector(envs: gym.vector.VectorEnv[Any, Any, Any], seed: int) -> float:
    generator = random.Random(seed)
    _, infos = envs.reset(seed=0)
    terminated = np.array([False])
    while not terminated[0]:
        _, rewards, terminated, _, infos = envs.step([generator.randrange(infos["num_legal_decisions"][0])])
    return float(rewards[0])


def test_forms(problem: SchedulingProblem) -> None:
    env = gym.make("HalideSchedule-v0", pipeline=problem)
    assert episode(HardwareTimingReward(env, "speedup", timer=FixedTimer()))[0] == 4.0
    assert episode(HardwareTimingReward(env, "log_speedup", timer=FixedTimer()))[0] == math.log(4.0)
    assert episode(HardwareTimingReward(env, "inverse_time", timer=FixedTimer(seconds=0.5)))[0] == 2.0
    assert episode(HardwareTimingReward(env, "speedup", 3.0, timer=FixedTimer(seconds=1.5)))[0] == 2.0
    plan = Greedy().plan(problem)
    timer = FixedTimer()
    reward, info = episode(HardwareTimingReward(env, "speedup", plan, timer=timer))
    assert (reward, info["measured_speedup"], timer.asked) == (4.0, 4.0, ["time", "compare"])


def test_the_baseline_is_timed_once_a_problem(problem: SchedulingProblem) -> None:
    timer = FixedTimer()
    env = HardwareTimingReward(gym.make("HalideSchedule-v0", pipeline=problem), timer=timer)
    for seed in range(3):
        episode(env, seed)
    assert timer.asked == ["time", *["compare"] * 3]


def test_a_timer_that_knows_no_ratio_gives_the_penalty(problem: SchedulingProblem) -> None:
    env = gym.make("HalideSchedule-v0", pipeline=problem)
    reward, _ = episode(HardwareTimingReward(env, "speedup", timer=FixedTimer(ratio=math.nan)))
    assert reward == pytest.approx(DEAD_END_SPEEDUP)


def test_the_timer_is_closed_with_the_environment(problem: SchedulingProblem) -> None:
    timer = FixedTimer()
    HardwareTimingReward(gym.make("HalideSchedule-v0", pipeline=problem), timer=timer).close()
    assert timer.closed


def test_a_failed_schedule_gets_the_penalty_and_the_episode_ends(problem: SchedulingProblem) -> None:
    env = gym.make("HalideSchedule-v0", pipeline=problem)
    reward, info = episode(HardwareTimingReward(env, timer=FixedTimer(failure="boom")))
    assert reward == pytest.approx(math.log(DEAD_END_SPEEDUP))
    assert (info["timing"].outcome, info["timing"].error) == ("crash", "boom")
    reward, _ = episode(HardwareTimingReward(env, "speedup", timer=FixedTimer(failure="boom"), failure_speedup=0.25))
    assert reward == pytest.approx(0.25)
    with pytest.raises(_core.InvalidParameter, match="failure_speedup"):
        HardwareTimingReward(env, timer=FixedTimer(), failure_speedup=0.0)
    with pytest.raises(_core.InvalidParameter, match="failure_speedup='no': give a number"):
        HardwareTimingReward(env, timer=FixedTimer(), failure_speedup="no")  # type: ignore[arg-type]


def test_a_baseline_that_fails_later_is_not_the_schedules_fault(problem: SchedulingProblem) -> None:
    """What was known of it before counts: it was timed once."""
    timer = FixedTimer(seconds=1.0)
    timer.timing = dataclasses.replace(timer.baseline, samples_s=(0.25,))
    killed = Timing("crash", (), 0.0, "the compiler: died of SIGKILL")
    timer.compare = lambda *_, **__: Comparison(math.nan, math.nan, math.nan, timer.timing, killed)  # type: ignore[method-assign]
    reward, info = episode(
        HardwareTimingReward(gym.make("HalideSchedule-v0", pipeline=problem), "speedup", timer=timer)
    )
    assert reward == info["measured_speedup"] == 4.0


def test_a_baseline_that_fails_is_an_error(problem: SchedulingProblem) -> None:
    timer = FixedTimer()
    timer.baseline = Timing("timeout", (), 0.0, "still running")
    with pytest.raises(_core.Error, match="blur: the baseline cannot be timed: timeout: still running"):
        episode(HardwareTimingReward(gym.make("HalideSchedule-v0", pipeline=problem), timer=timer))


def test_the_specification_keeps_all_arguments(problem: SchedulingProblem) -> None:
    timer = FixedTimer(failure="boom")
    env = HardwareTimingReward(
        gym.make("HalideSchedule-v0", pipeline=problem), "speedup", timer=timer, failure_speedup=0.5
    )
    assert env.spec is not None
    reward, info = episode(gym.make(env.spec))
    assert reward == pytest.approx(0.5)
    assert info["timing"] is timer.timing


def test_ids() -> None:
    assert gym.spec("HalideScheduleHardware-v0").nondeterministic
    assert not gym.spec("HalideScheduleReplay-v0").nondeterministic


@pytest.mark.parametrize("name", ["HalideScheduleHardware-v0", "HalideScheduleReplay-v0"])
def test_vectors_refuse_a_reward_that_would_be_replaced(name: str, problem: SchedulingProblem, tmp_path: Path) -> None:
    with pytest.raises(_core.InvalidParameter, match=r"reward=RewardByCost.*: rewards are run times here"):
        gym.make_vec(name, 2, pipeline=problem, database=tmp_path / "timings.db", reward=RewardByCost("speedup"))


def test_a_reward_that_is_refused_is_told_in_a_few_words(problem: SchedulingProblem) -> None:
    with pytest.raises(_core.InvalidParameter, match="reward=") as caught:
        gym.make_vec("HalideScheduleHardware-v0", 2, pipeline=problem, reward=np.zeros(900))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 240


def test_replay_repeats_what_was_measured(
    problem: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "timings.db"
    env = gym.make("HalideScheduleHardware-v0", pipeline=problem, database=database, settings=QUICK)
    live = [episode(env, seed) for seed in range(3)]
    env.close()
    for reward, info in live:
        assert info["timing"].outcome == "ok"
        assert info["timing"].machine is not None
        assert info["fingerprint"].problem_hash == problem.hash
        assert reward == pytest.approx(math.log(info["comparison"].ratio))

    # No compiler, no clock: no process at all.
    monkeypatch.setattr(confined, "RUNNER", "/nonexistent")
    replayed = gym.make("HalideScheduleReplay-v0", pipeline=problem, database=database)
    again = [episode(replayed, seed) for seed in range(3)]
    assert [reward for reward, _ in again] == [reward for reward, _ in live]
    assert [info["timing"] for _, info in again] == [info["timing"] for _, info in live]
    assert replayed.spec is not None
    assert [episode(gym.make(replayed.spec), seed)[0] for seed in range(3)] == [reward for reward, _ in live]
    envs = gym.make_vec("HalideScheduleReplay-v0", 1, pipeline=problem, database=database)
    assert [episode_of_vector(envs, seed) for seed in range(3)] == [reward for reward, _ in live]
    envs.close()
    unknown = 100
    with pytest.raises(Unrecorded, match="blur"):
        episode(replayed, unknown)
    estimated = gym.make("HalideScheduleReplay-v0", pipeline=problem, database=database, missing="cost_model")
    reward, info = episode(estimated, unknown)
    assert info["timing"].is_estimate
    assert reward == pytest.approx(math.log(info["speedup"]))
