"""Cost models learn what the times of other pipelines follow, go on when killed, and say what they cannot learn from."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.weights import builtin_weights
from halidegym.training.cost_model.judgement import judge
from halidegym.training.cost_model.settings import CostModelSettings
from halidegym.training.cost_model.train import first_groups, start_weights, train_cost_model
from measured_for_tests import perturbed, pipelines
from trainings_for_tests import COST_MODEL

SETTINGS = CostModelSettings(**COST_MODEL)
TRAIN, VALIDATION = pipelines(0, 16), pipelines(100, 5)
OTHER = perturbed(6)


def with_settings(**changes: Any) -> CostModelSettings:
    return SETTINGS.model_copy(update=changes)


@pytest.mark.parametrize("loss", ["log_time", "ranks"])
def test_unseen_pipelines_are_ordered_better(loss: str, tmp_path: Path) -> None:
    trained = train_cost_model(with_settings(loss=loss, epochs=20), TRAIN, VALIDATION, tmp_path)
    unseen = pipelines(200, 6)
    before, after = (judge(predicted_costs(w, unseen), unseen) for w in (builtin_weights(), trained.best))
    assert after.gain_over(before).value > 0.01
    assert trained.scores[0] == min(row["validation/loss"] for row in trained.curve)
    costs = predicted_costs(trained.best, unseen)
    ratios = costs / [1e3 * measured.run_time_s for measured in unseen]
    assert 0.2 < np.median(ratios) < 5, "costs are about milliseconds"


def test_a_training_that_was_cut_off_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_settings(members=2, epochs=4)
    whole = train_cost_model(settings, TRAIN, VALIDATION, tmp_path / "whole")
    assert len(set(whole.members)) == 2
    for epochs in (0, 3, 6):
        left = iter(range(epochs))

        def cut_off(_text: str, left: Any = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        folder = tmp_path / f"after_{epochs}"
        with pytest.raises(KeyboardInterrupt):
            train_cost_model(settings, TRAIN, VALIDATION, folder, on_step=cut_off)
        again = train_cost_model(settings, TRAIN, VALIDATION, folder)
        assert (again.members, again.scores, again.curve) == (whole.members, whole.scores, whole.curve)
        assert (folder / "curve.csv").read_bytes() == (tmp_path / "whole/curve.csv").read_bytes()


def test_it_stops_when_validation_stands_still(tmp_path: Path) -> None:
    still = with_settings(learning_rate=1e-12, final_learning_rate=1e-12, epochs=50, patience=2)
    trained = train_cost_model(still, TRAIN, VALIDATION, tmp_path)
    assert trained.curve[-1]["epoch"] < 10


def test_other_settings_or_schedules_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    train_cost_model(SETTINGS, TRAIN, VALIDATION, tmp_path)
    with pytest.raises(InvalidParameter, match="loss=log_time, now ranks"):
        train_cost_model(with_settings(loss="ranks"), TRAIN, VALIDATION, tmp_path)
    with pytest.raises(InvalidParameter, match="learned_from"):
        train_cost_model(SETTINGS, TRAIN[12:], VALIDATION, tmp_path)
    others = [dataclasses.replace(schedule, run_time_s=2 * schedule.run_time_s) for schedule in TRAIN]
    with pytest.raises(InvalidParameter, match="schedules_sha256"):
        train_cost_model(SETTINGS, others, VALIDATION, tmp_path)
    (tmp_path / "checkpoint.pt").write_bytes((tmp_path / "checkpoint.pt").read_bytes()[:1000])
    with pytest.raises(FormatError, match="Cannot read the checkpoint"):
        train_cost_model(SETTINGS, TRAIN, VALIDATION, tmp_path)


def test_too_few_pipelines_and_times_that_are_none_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(InvalidParameter, match=r"1 pipelines of the train split .* 2 are needed"):
        train_cost_model(SETTINGS, TRAIN[:12], VALIDATION, folder)
    with pytest.raises(InvalidParameter, match="0 pipelines of the validation split"):
        train_cost_model(SETTINGS, TRAIN, [], folder)
    broken = [*TRAIN, dataclasses.replace(TRAIN[0], run_time_s=math.nan)]
    with pytest.raises(InvalidParameter, match="ran for nan seconds"):
        train_cost_model(SETTINGS, broken, VALIDATION, folder)
    assert not folder.exists()


def test_learning_curves_take_whole_pipelines() -> None:
    assert len(first_groups(TRAIN, 30)) == 36
    assert first_groups(TRAIN, None) == TRAIN
    failed = dataclasses.replace(TRAIN[3], outcome="timeout", run_time_s=math.nan)
    assert first_groups([failed, *TRAIN[:12]], 1) == TRAIN[:12]


def test_weights_to_begin_with(tmp_path: Path) -> None:
    (tmp_path / "some.weights").write_bytes(OTHER.to_bytes())
    assert start_weights(SETTINGS) == builtin_weights()
    assert start_weights(with_settings(start=str(tmp_path / "some.weights"))) == OTHER
    assert start_weights(with_settings(start="example")) == example_weights()
    random = start_weights(with_settings(start="random"))
    assert all(np.abs(tensor).max() <= 0.5 for tensor in random.tensors().values())
    assert (
        random == start_weights(with_settings(start="random")) != start_weights(with_settings(start="random", seed=1))
    )
    with pytest.raises(FormatError, match=r"nowhere\.weights"):
        start_weights(with_settings(start="nowhere.weights"))
