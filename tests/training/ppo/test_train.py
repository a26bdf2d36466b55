"""PPO trains, goes on where it was interrupted, and says what came of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.envs.sources import load_problem
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.weights import builtin_weights, make_weights, save_weights
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.ppo.train import train_ppo
from trainings_for_tests import PPO, interrupt_after


def settings(**changes: object) -> PPOSettings:
    return PPOSettings.model_validate({**PPO, **changes})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    result = train_ppo(settings(), folder)
    assert [row["step"] for row in result.curve] == [32, 64, 96]
    return folder


def test_a_policy_schedules_and_tells_how_it_was_made(trained: Path) -> None:
    problem = load_problem("toy_blur", target=PPO["target"], parallelism=16)
    assert PolicyAgent(policy=trained / "policy.npz", samples=2).plan(problem).cost > 0
    story = load_policy_file(trained / "policy.npz").training
    assert (story["recipe"], story["step"], story["pipelines"]) == ("ppo", 96, ["toy_blur"])
    names = (trained / "curve.csv").read_text().splitlines()[0].split(",")
    assert {"reward/mean", "cost/of_greedy", "train/entropy", "train/kl"} <= set(names)
    assert list((trained / "tensorboard").iterdir())


def test_it_goes_on_bit_for_bit_from_the_last_rollout(trained: Path, tmp_path: Path) -> None:
    interrupt_after(train_ppo, 10, settings(), tmp_path)  # in the second rollout
    train_ppo(settings(), tmp_path)
    for name in ("curve.csv", "policy.npz"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes()
    before = (tmp_path / "curve.csv").stat().st_mtime_ns
    train_ppo(settings(), tmp_path)  # there is nothing left to do
    assert (tmp_path / "curve.csv").stat().st_mtime_ns == before


@pytest.mark.parametrize("changes", [{"entropy": 1e37, "final_entropy": 1e37}, {"value_weight": 1e39}])
def test_a_training_that_diverges_says_so(changes: dict[str, float], tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"diverged: the .* are not finite\. Train anew, with a lower"):
        train_ppo(settings(learning_rate=1.0, gradient_norm=1e300, epochs=4, **changes), tmp_path)
    assert not (tmp_path / "policy.npz").exists()


def test_a_finished_training_whose_policy_is_gone_says_so(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    (tmp_path / "policy.npz").unlink()
    with pytest.raises(FormatError, match=r"policy\.npz is gone; remove checkpoint\.pt there to train anew"):
        train_ppo(settings(), tmp_path)


def test_other_settings_do_not_go_on_in_the_same_folder(trained: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"clip=0\.2, now 0\.1"):
        train_ppo(settings(clip=0.1), trained)


def test_a_training_that_has_ended_is_given_more_steps(tmp_path: Path) -> None:
    """And ends as if it had been given all of them at once, if nothing in it depends on how many there are."""
    constant = {"entropy": 0.01, "final_entropy": 0.01}
    for steps in (64, 96):
        train_ppo(settings(**constant, steps=steps), tmp_path / "more")
    train_ppo(settings(**constant, steps=96), tmp_path / "whole")
    for name in ("curve.csv", "policy.npz"):
        assert (tmp_path / "more" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    with pytest.raises(InvalidParameter, match="steps=96, now 64"):
        train_ppo(settings(**constant, steps=64), tmp_path / "more")


def test_a_training_whose_weights_fall_over_its_steps_is_not(trained: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"steps=96, now 128 \(entropy goes to final_entropy"):
        train_ppo(settings(steps=128), trained)


def test_it_starts_from_a_policy(trained: Path, tmp_path: Path) -> None:
    changes = {key: value for key, value in PPO.items() if key != "network"}
    start = str(trained / "policy.npz")
    begun = PPOSettings.model_validate({**changes, "start": start, "learning_rate": 1e-12, "steps": 32})
    train_ppo(begun, tmp_path)
    ours, theirs = load_policy_file(tmp_path / "policy.npz"), load_policy_file(start)
    assert ours.training["started_from"]["recipe"] == "ppo"
    for name, array in theirs.arrays.items():
        np.testing.assert_allclose(ours.arrays[name], array, atol=1e-6)
    with pytest.raises(InvalidParameter, match="There is no policy 'nowhere'"):
        train_ppo(begun.model_copy(update={"start": "nowhere"}), tmp_path)


def test_the_policy_that_it_starts_from_is_not_written_over(trained: Path, tmp_path: Path) -> None:
    start = tmp_path / "policy.npz"
    shutil.copy(trained / "policy.npz", start)
    changes = {key: value for key, value in PPO.items() if key != "network"}
    with pytest.raises(InvalidParameter, match="the policy to begin with, is where the training into"):
        train_ppo(PPOSettings.model_validate({**changes, "start": str(start)}), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["policy.npz"]
    assert start.read_bytes() == (trained / "policy.npz").read_bytes()


def test_a_policy_is_held_near_its_start(trained: Path, tmp_path: Path) -> None:
    changes = {key: value for key, value in PPO.items() if key != "network"}
    start = {"start": str(trained / "policy.npz"), "learning_rate": 0.01, "steps": 160, "epochs": 4}
    ends = {}
    for weight in (1e-6, 10.0):
        folder = tmp_path / str(weight)
        held = PPOSettings.model_validate({**changes, **start, "start_divergence": weight})
        ends[weight] = train_ppo(held, folder).curve[-1]["train/start_divergence"]
    assert 0 < ends[10.0] < 0.3 * ends[1e-6]
    interrupt_after(train_ppo, 20, held, tmp_path / "interrupted")  # the start is not what a checkpoint says
    assert train_ppo(held, tmp_path / "interrupted").curve[-1]["train/start_divergence"] == ends[10.0]


@pytest.mark.slow
def test_groups_share_generated_pipelines(tmp_path: Path) -> None:
    generated = settings(pipelines=["random"], pool=4, num_envs=4, group_size=2)
    whole = train_ppo(generated, tmp_path / "whole")
    assert np.isfinite(whole.curve[-1]["cost/of_greedy"])
    interrupt_after(train_ppo, 10, generated, tmp_path / "interrupted")
    assert train_ppo(generated, tmp_path / "interrupted").curve == whole.curve


@pytest.mark.slow
def test_training_on_run_times_is_repeated_from_its_record(tmp_path: Path) -> None:
    """Bit for bit, although run times are not the same twice."""
    of_this_machine = {"target": "host", "parallelism": 2, "database": str(tmp_path / "times.sqlite")}
    measured = train_ppo(settings(reward="measured", **of_this_machine), tmp_path / "measured")
    replayed = train_ppo(settings(reward="replayed", **of_this_machine), tmp_path / "replayed")
    assert "run_time/of_greedy" in measured.curve[-1]
    assert measured.curve == replayed.curve
    ours, theirs = (load_policy_file(result.policy).arrays for result in (measured, replayed))
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_a_cost_model_that_has_changed_is_another_setting(tmp_path: Path) -> None:
    path = tmp_path / "own.weights"
    save_weights(builtin_weights(), path)
    changed = settings(weights=str(path), steps=64)
    interrupt_after(train_ppo, 20, changed, tmp_path / "run")
    tensors = builtin_weights().tensors()
    save_weights(make_weights({**tensors, "conv1_bias": tensors["conv1_bias"] * 1.01}), path)
    with pytest.raises(InvalidParameter, match="was written with other settings: weights_sha256="):
        train_ppo(changed, tmp_path / "run")
