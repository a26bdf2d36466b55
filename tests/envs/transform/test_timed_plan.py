"""The environments of transforms by run times: measured, recorded and replayed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import halidegym  # noqa: F401
from batches_for_tests import check_same
from halidegym.envs.timing.database import DatabaseError, TimingDatabase
from halidegym.envs.timing.timers import Unrecorded
from halidegym.envs.transform.costs import ModelCosts
from halidegym.native._core import InvalidParameter


def play(env: Any, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    seen: list[Any] = [env.reset(seed=seed)]
    while not env.unwrapped.state.is_complete:
        seen.append(env.step(int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))))
    return seen


def test_what_was_measured_is_replayed(tmp_path: Path) -> None:
    record = tmp_path / "plans.sqlite"
    env = gym.make("TransformPlanHardware-v0", n=64, database=record)
    measured = [play(env, seed)[-1] for seed in range(8)]
    env.close()
    lanes = env.unwrapped.space.lanes  # type: ignore[attr-defined]
    for *_, info in measured:
        assert 1e-3 < info["cost"] < 1e5
        assert info["cost"] * info["speedup"] == pytest.approx(measured[0][-1]["cost"] * measured[0][-1]["speedup"])
        assert "measured on" in info["fingerprint"]
        comparison = info["comparison"]
        assert info["outcome"] == comparison.a.outcome == "ok"
        assert info["relative_error"] == comparison.a.relative_error <= 2e-15
        assert info["cost"] == comparison.a.min_s * 1e6
        assert comparison.low <= comparison.ratio <= comparison.high
        assert len(comparison.a.samples_s) == len(comparison.b.samples_s) in (4, 8)

    first, second = (gym.make("TransformPlanReplay-v0", n=64, database=record, lanes=lanes) for _ in range(2))
    for seed, (_, reward, *_, info) in enumerate(measured):
        replayed, again = play(first, seed), play(second, seed)
        check_same(replayed, again)
        assert replayed[-1][1] == reward
        assert {**replayed[-1][-1], "fingerprint": "", "action_mask": ()} == {
            **info,
            "fingerprint": "",
            "action_mask": (),
        }

    envs: Any = gym.make_vec("TransformPlanReplay-v0", num_envs=2, n=64, database=record, lanes=lanes)
    envs.reset(seed=0)
    rng = np.random.default_rng(1)
    with pytest.raises(Unrecorded, match="no time of the plan"):  # noqa: PT012  # sooner or later
        while True:
            envs.step(rng.integers(1000, size=2))
    model = gym.make("TransformPlanReplay-v0", n=64, database=record, lanes=lanes, missing="cost_model")
    infos = [play(model, seed)[-1][-1] for seed in range(30)]
    assert all(info["cost"] > 0 and info["outcome"] == "ok" for info in infos)
    assert {info["comparison"] is None for info in infos} == {True, False}
    assert all((info["comparison"] is None) == (info["relative_error"] is None) for info in infos)


@pytest.mark.parametrize("ending", ["", "raise KeyboardInterrupt"])
def test_what_was_measured_is_on_record_if_a_script_ends_without_closing(ending: str, tmp_path: Path) -> None:
    script = (
        "import gymnasium as gym, halidegym\n"
        "env = gym.make('TransformPlanHardware-v0', n=16, database='plans.sqlite')\n"
        "env.reset(seed=0)\n"
        "while not env.unwrapped.state.is_complete:\n"
        "    env.step(0)\n"
    )
    subprocess.run([sys.executable, "-c", script + ending], cwd=tmp_path, stderr=subprocess.DEVNULL, timeout=60)
    with TimingDatabase(tmp_path / "plans.sqlite", read_only=True) as record:
        assert len(record) > 0


def test_what_was_measured_is_replayed_with_the_same_arguments(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"n": 16, "database": tmp_path / "plans.sqlite"}
    env = gym.make("TransformPlanHardware-v0", **arguments)
    reward = play(env, 0)[-1][1]
    env.close()
    assert play(gym.make("TransformPlanReplay-v0", **arguments), 0)[-1][1] == reward


def test_what_was_measured_with_narrower_vectors_is_replayed_with_them(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"n": 16, "lanes": (1,), "database": tmp_path / "plans.sqlite"}
    env = gym.make("TransformPlanHardware-v0", **arguments)
    reward = play(env, 0)[-1][1]
    env.close()
    assert play(gym.make("TransformPlanReplay-v0", **arguments), 0)[-1][1] == reward
    with pytest.raises(InvalidParameter, match=r"machine='elsewhere' measured nothing in .*plans\.sqlite"):
        gym.make("TransformPlanReplay-v0", **arguments, machine="elsewhere")
    wider = {**arguments, "lanes": (1, 2, 4)}
    with pytest.raises(Unrecorded, match=r"with lanes=\(1, 2, 4\)\. Give the lanes that were recorded"):
        play(gym.make("TransformPlanReplay-v0", **wider), 0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"database": "none.sqlite"}, DatabaseError, "none.sqlite: unable to open"),
        ({"database": "none.sqlite", "missing": "guess"}, InvalidParameter, "missing='guess'"),
        ({"database": 3}, InvalidParameter, "database=3 is no path"),
        ({"database": "none.sqlite", "machine": 3}, InvalidParameter, "machine=3 is a int"),
    ],
)
def test_a_record_that_cannot_be_replayed_is_refused_when_the_environment_is_made(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gym.make("TransformPlanReplay-v0", n=64, **arguments)


@pytest.mark.parametrize(("database", "error"), [(3, InvalidParameter), ("/nowhere/plans.sqlite", DatabaseError)])
def test_a_record_that_cannot_be_written_is_refused_before_anything_is_measured(
    database: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="database"):
        gym.make("TransformPlanHardware-v0", n=64, database=database)


def test_settings_of_another_kind_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="settings=3 is a int; give a TransformTimingSettings"):
        gym.make("TransformPlanHardware-v0", n=64, settings=3)


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
@pytest.mark.parametrize("name", ["TransformPlanHardware-v0", "TransformPlanReplay-v0"])
def test_costs_that_are_not_run_times_are_refused(make: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"costs=<halidegym.*>: plans cost their run times here"):
        make(name, n=64, database=tmp_path / "plans.sqlite", costs=ModelCosts())
