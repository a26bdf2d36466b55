"""All kinds of models, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native.weights import builtin_weights
from halidegym.training.cost_model import yardsticks
from halidegym.training.cost_model.compare import COLUMNS, compare, ensemble_costs
from halidegym.training.cost_model.judgement import judge
from halidegym.training.cost_model.settings import CostModelSettings
from halidegym.training.cost_model.yardsticks import Kind, fitted, relative_features
from measured_for_tests import measured_by, perturbed, pipelines
from trainings_for_tests import COST_MODEL

TRUTH = perturbed(5, 1.0)
TRAIN, VALIDATION = pipelines(0, 16), pipelines(100, 5)


@pytest.mark.parametrize("kind", ["trees", "linear"])
def test_plain_models_learn_other_pipelines(kind: Kind) -> None:
    train = [measured for seed in range(20) for measured in measured_by(TRUTH, seed, 20)]
    unseen = pipelines(200, 6)
    assert judge(fitted(kind, train).predict(unseen), unseen).correlation > 0.6


def test_what_plain_models_read_is_relative_to_the_group() -> None:
    features = relative_features(TRAIN)
    assert np.isfinite(features).all()
    np.testing.assert_allclose(features[:12].mean(0), 0, atol=1e-9)


def test_a_comparison_has_a_line_for_each_model(tmp_path: Path) -> None:
    settings = CostModelSettings(**{**COST_MODEL, "members": 2, "epochs": 1})
    compared = compare(settings, TRAIN, VALIDATION, tmp_path)
    names = [model.name for model in compared]
    assert names == [
        "shipped", "throughput", "throughput, 2 together", "log_time", "log_time, 2 together", "ranks",
        "ranks, 2 together", "from scratch", "linear", "trees",
    ]  # fmt: skip
    assert {len(model.cells(compared[0].found)) for model in compared} == {len(COLUMNS)}
    assert compared[1].schedules == len(TRAIN)


def test_the_seed_is_that_of_all_models_also_of_those_that_learn_from_fewer_schedules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = list[int]()

    def noting(kind: Kind, schedules: Sequence[MeasuredSchedule], seed: int = 0) -> yardsticks.Yardstick:
        seeds.append(seed)
        return fitted(kind, schedules, seed)

    monkeypatch.setattr(yardsticks, "fitted", noting)
    monkeypatch.setattr("halidegym.training.cost_model.compare._CURVE", (len(TRAIN) // 2,))
    settings = CostModelSettings(**{**COST_MODEL, "seed": 7, "members": 1, "epochs": 1})
    assert compare(settings, TRAIN, VALIDATION, tmp_path)[-1].name == f"trees, {len(TRAIN) // 2}"
    assert seeds == [7, 7, 7]


def test_an_ensemble_of_one_is_itself() -> None:
    one = ensemble_costs([builtin_weights()], VALIDATION)
    np.testing.assert_allclose(ensemble_costs([builtin_weights()] * 2, VALIDATION), one)
