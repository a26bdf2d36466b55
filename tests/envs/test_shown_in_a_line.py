"""Objects of environments say what they are in a line, and not where they lie."""

from __future__ import annotations

import contextlib
from pathlib import Path

from halidegym.envs.pipelines import toys
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.rewards.cost_model import RewardByCost
from halidegym.envs.rewards.hardware import RewardByRunTime
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer, Replay
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.records import TransformReplay
from halidegym.envs.transform.timer import TransformTimer
from halidegym.native.weights import builtin_weights


def test_problems() -> None:
    problem = toys.problem("toy_blur")
    prepared = PreparedProblem(problem, Rules(), builtin_weights())
    assert repr(prepared) == f"PreparedProblem({problem!r}, {Rules()!r})"


def test_rewards_and_timers(tmp_path: Path) -> None:
    path = tmp_path / "times.db"
    assert repr(RewardByCost("speedup", 2)) == "RewardByCost(form='speedup', baseline=2.0)"
    stopwatch = Stopwatch(TimingSettings(threads=1), compilers=2)
    assert repr(stopwatch) == "Stopwatch(threads=1, cpus=(), compilers=2)"
    with contextlib.closing(RecordingTimer(path, stopwatch=stopwatch)) as timer:
        assert repr(timer) == f"RecordingTimer(TimingDatabase('{path}'), {stopwatch!r})"
        reward = RewardByRunTime(timer=timer)
        assert repr(reward) == f"RewardByRunTime(form='log_speedup', baseline='greedy', timer={timer!r})"
    assert repr(Replay(path)) == f"Replay('{path}', 0 results, machine='')"


def test_timers_of_transforms(tmp_path: Path) -> None:
    path = tmp_path / "times.db"
    with TimingDatabase(path) as database, TransformTimer(TransformPlan(16, "codelet 1"), database=database) as timer:
        assert repr(timer) == f"TransformTimer('transform 16 basic', {database!r}, evaluations=0)"
    assert (
        repr(TransformReplay(16, path))
        == f"TransformReplay('transform 16 basic', '{path}', 0 plans, 0 ways, machine='')"
    )
