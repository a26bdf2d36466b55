"""Fine-tuning finds what schedules' times follow, and says what it cannot learn from."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import numpy as np
import pytest

from collections_for_tests import measured_collection
from halidegym.agents.learned.cost_models.figures import rank_correlation
from halidegym.agents.learned.cost_models.fine_tuning import Recipe, fine_tuned, fine_tuned_ensemble
from halidegym.agents.learned.cost_models.losses import LossName
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter, Weights
from halidegym.native.weights import builtin_weights
from measured_for_tests import measured_by, perturbed

TRUTH = perturbed(5, 1.0)
FEW_STEPS = Recipe(steps=5)


def correlation(weights: Weights, schedules: list[MeasuredSchedule]) -> float:
    return rank_correlation(predicted_costs(weights, schedules), [measured.run_time_s for measured in schedules])


# The published loss looks at the fastest schedules.
@pytest.mark.parametrize(("loss", "gain"), [("throughput", 0.005), ("log_time", 0.03), ("ranks", 0.03)])
def test_what_was_not_seen_is_ordered_better(loss: LossName, gain: float) -> None:
    before, after = [], []
    for seed in range(4):
        schedules = list(measured_by(TRUTH, seed, 120, noise=0.05))
        own, others = schedules[:40], schedules[40:]
        before.append(correlation(builtin_weights(), others))
        after.append(correlation(fine_tuned(builtin_weights(), own, recipe=Recipe(loss=loss)), others))
    assert np.mean(after) > np.mean(before) + gain, (before, after)


def test_costs_are_milliseconds() -> None:
    own = list(measured_by(TRUTH, 0, 40))
    costs = predicted_costs(fine_tuned(builtin_weights(), own, recipe=FEW_STEPS), own)
    assert np.median(costs / [1e3 * measured.run_time_s for measured in own]) == pytest.approx(1, rel=1e-3)


def test_other_pipelines_are_not_forgotten() -> None:
    own, others = list(measured_by(TRUTH, 0, 20)), list(measured_by(TRUTH, 1, 60))
    alone, together = (fine_tuned(builtin_weights(), own, others=seen) for seen in ([], others))
    assert correlation(together, others) > correlation(alone, others)


def test_equal_seeds_give_equal_weights_and_members_differ() -> None:
    own, others = measured_by(TRUTH, 0, 12), [*measured_by(TRUTH, 1, 12), *measured_by(TRUTH, 2, 12)]
    arguments: dict[str, Any] = {"others": others, "seed": 3, "recipe": FEW_STEPS}
    assert fine_tuned(builtin_weights(), own, **arguments) == fine_tuned(builtin_weights(), own, **arguments)
    members = fine_tuned_ensemble(builtin_weights(), own, members=3, **arguments)
    assert members == fine_tuned_ensemble(builtin_weights(), own, members=3, **arguments)
    assert len(set(members)) == 3


def test_an_ensemble_of_forty_schedules_takes_seconds() -> None:
    own, others = measured_by(TRUTH, 0, 40, stages=10), measured_by(TRUTH, 1, 300, stages=10)
    start = time.process_time()
    fine_tuned_ensemble(builtin_weights(), own, others=others)
    assert time.process_time() - start < 10


def test_failures_teach_nothing_and_are_no_hindrance() -> None:
    own = list(measured_by(TRUTH, 0, 12))
    failed = dataclasses.replace(own[0], outcome="crash", run_time_s=math.nan)
    assert fine_tuned(builtin_weights(), [*own, failed], recipe=FEW_STEPS) == fine_tuned(
        builtin_weights(), own, recipe=FEW_STEPS
    )
    with pytest.raises(InvalidParameter, match="2 of 3 schedules ran; give at least 3"):
        fine_tuned(builtin_weights(), [*own[:2], failed])


@pytest.mark.parametrize("seconds", [math.nan, 0.0, math.inf])
def test_times_that_are_none_are_refused(seconds: float) -> None:
    own = list(measured_by(TRUTH, 0, 12))
    own[3] = dataclasses.replace(own[3], run_time_s=seconds)
    with pytest.raises(InvalidParameter, match=f"pipeline_0 ran for {seconds} seconds; measure it again"):
        fine_tuned(builtin_weights(), own)


def test_other_arguments_are_refused() -> None:
    own = list(measured_by(TRUTH, 0, 12))
    for members in (0, -1, 2.5, None):
        with pytest.raises(InvalidParameter, match="members"):
            fine_tuned_ensemble(builtin_weights(), own, members=members)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"weights='machine.weights' is a str; give a Weights"):
        fine_tuned("machine.weights", own)  # type: ignore[arg-type]
    for wrong in ({"own": measured_collection("a")}, {"own": own, "others": None}):
        with pytest.raises(InvalidParameter, match=f"{list(wrong)[-1]}.* give a Sequence"):
            fine_tuned(builtin_weights(), **wrong)  # type: ignore[arg-type]
