"""DQN trains, goes on where it was interrupted, and says what came of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.envs.sources import load_problem
from halidegym.native._core import InvalidParameter
from halidegym.training.dqn.settings import DQNSettings
from halidegym.training.dqn.train import train_dqn
from trainings_for_tests import DQN, interrupt_after


def settings(**changes: object) -> DQNSettings:
    return DQNSettings.model_validate({**DQN, **changes})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    result = train_dqn(settings(), folder)
    assert [row["step"] for row in result.curve] == [32, 64, 96]
    return folder


def test_a_policy_schedules_and_tells_how_it_was_made(trained: Path) -> None:
    problem = load_problem("toy_blur", target=DQN["target"], parallelism=16)
    assert PolicyAgent(policy=trained / "policy.npz", samples=2).plan(problem).cost > 0
    story = load_policy_file(trained / "policy.npz").training
    assert (story["recipe"], story["pipelines"]) == ("dqn", ["toy_blur"])
    names = (trained / "curve.csv").read_text().splitlines()[0].split(",")
    assert {"reward/mean", "cost/of_greedy", "train/loss", "train/epsilon", "rollouts/blind_argmax_of_beam"} <= set(
        names
    )
    assert list((trained / "tensorboard").iterdir())


def test_the_policy_is_kept_that_schedules_best(trained: Path) -> None:
    lines = [line.split(",") for line in (trained / "curve.csv").read_text().splitlines()]
    column = lines[0].index("rollouts/log_ratio_to_greedy")
    scores = {int(line[0]): float(line[column]) for line in lines[1:] if line[column]}
    assert set(scores) == {64, 96}
    step = load_policy_file(trained / "policy.npz").training["step"]
    assert scores[step] == min(scores.values())


def test_it_goes_on_bit_for_bit_from_the_last_rollout(trained: Path, tmp_path: Path) -> None:
    """The buffer is full by then, and holds episodes of both sides of the interruption."""
    interrupt_after(train_dqn, 40, settings(), tmp_path)  # in the third rollout
    train_dqn(settings(), tmp_path)
    for name in ("curve.csv", "policy.npz"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes()
    before = (tmp_path / "curve.csv").stat().st_mtime_ns
    train_dqn(settings(), tmp_path)  # there is nothing left to do
    assert (tmp_path / "curve.csv").stat().st_mtime_ns == before


def test_other_settings_do_not_go_on_in_the_same_folder(trained: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"n_steps=2, now None"):
        train_dqn(settings(n_steps=None), trained)


def test_a_training_that_has_ended_is_given_more_steps(tmp_path: Path) -> None:
    constant = {"epsilon": 0.2, "final_epsilon": 0.2}
    whole = train_dqn(settings(**constant, steps=128), tmp_path / "whole")
    train_dqn(settings(**constant, steps=64), tmp_path / "more")
    assert train_dqn(settings(**constant, steps=128), tmp_path / "more").curve == whole.curve
    train_dqn(settings(**constant, steps=96), tmp_path / "judged")  # after the third rollout, which is not its turn
    with pytest.raises(InvalidParameter, match="ended after 3 rollouts and was judged out of turn"):
        train_dqn(settings(**constant, steps=128), tmp_path / "judged")


def test_a_training_whose_exploration_falls_over_its_steps_is_not(trained: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"steps=96, now 128 \(epsilon goes to final_epsilon"):
        train_dqn(settings(steps=128), trained)


def test_it_starts_from_a_policy(trained: Path, tmp_path: Path) -> None:
    changes = {key: value for key, value in DQN.items() if key not in ("network", "judging")}
    start = str(trained / "policy.npz")
    begun = DQNSettings.model_validate(
        {**changes, "start": start, "start_temperature": 0.5, "learning_rate": 1e-12, "steps": 32}
    )
    train_dqn(begun, tmp_path)
    ours, theirs = load_policy_file(tmp_path / "policy.npz"), load_policy_file(start)
    assert ours.training["started_from"]["recipe"] == "dqn"
    for name, array in theirs.arrays.items():
        factor = 0.5 if name.startswith("blind.logit") else 1.0
        np.testing.assert_allclose(ours.arrays[name], factor * array, atol=1e-6)


@pytest.mark.slow
def test_generated_pipelines_are_judged_by_those_of_the_validation_split(tmp_path: Path) -> None:
    generated = settings(
        pipelines=["random"], pool=4, judging={"problems": 2, "samples": 2, "temperature": 0.1, "every": 2}
    )
    whole = train_dqn(generated, tmp_path / "whole")
    assert np.isfinite(whole.curve[-1]["rollouts/blind_best_of_beam"])
    interrupt_after(train_dqn, 40, generated, tmp_path / "interrupted")
    assert train_dqn(generated, tmp_path / "interrupted").curve == whole.curve


@pytest.mark.slow
def test_training_on_run_times_is_repeated_from_its_record(tmp_path: Path) -> None:
    """Bit for bit, although run times are not the same twice."""
    of_this_machine = {"target": "host", "parallelism": 2, "database": str(tmp_path / "times.sqlite")}
    measured = train_dqn(settings(reward="measured", **of_this_machine), tmp_path / "measured")
    replayed = train_dqn(settings(reward="replayed", **of_this_machine), tmp_path / "replayed")
    assert "run_time/of_greedy" in measured.curve[-1]
    assert measured.curve == replayed.curve
    ours, theirs = (load_policy_file(result.policy).arrays for result in (measured, replayed))
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
