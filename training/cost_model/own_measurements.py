"""What a few measurements of the pipeline itself are worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.learned.cost_models.fine_tuning import fine_tuned
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter, Weights
from halidegym.training.cost_model.judgement import FEWEST, Judgement, good_groups, judge

_REPETITIONS = 4  # draws of a group, over which figures are averaged


def judge_after_own(
    weights: Weights,
    schedules: Sequence[MeasuredSchedule],
    count: int,
    *,
    tuned: bool = True,
) -> Judgement:
    """Judge weights that were fine-tuned on some good schedules of a group by the group's other ones.

    Args:
        weights: to begin with.
        schedules: of pipelines that these have not seen.
        count: schedules of a group to learn from. Groups that have no `FEWEST` more are left out.
        tuned: False to leave the weights as they are, and judge them by the same schedules.

    Raises:
        InvalidParameter: no group has enough schedules.
    """
    groups = groups_to_judge(schedules, count)
    found = [
        [_after(weights, [schedules[index] for index in group], count, tuned, seed) for seed in range(_REPETITIONS)]
        for group in groups
    ]
    return Judgement(
        tuple(schedules[group[0]].pipeline for group in groups),
        np.array([np.mean([draw.correlations for draw in draws]) for draws in found]),
        np.exp([np.mean([np.log(draw.regrets) for draw in draws]) for draws in found]),
        np.exp([np.mean([np.log(draw.regrets_by_halves) for draw in draws]) for draws in found]),
    )


def groups_to_judge(schedules: Sequence[MeasuredSchedule], count: int) -> list[NDArray[np.int64]]:
    """Of each group that has so many good schedules to learn from and `FEWEST` more, the indices of these.

    Raises:
        InvalidParameter: no group has as many.
    """
    groups = [group for group in good_groups(schedules) if len(group) >= count + FEWEST]
    if not groups:
        purpose, remedy = (f", of which {count} could be learned from", ", or learn from fewer") if count else ("", "")
        raise InvalidParameter(
            f"No pipeline has {count + FEWEST} good schedules that ran{purpose}; collect more of a pipeline{remedy}"
        )
    return groups


def _after(weights: Weights, group: Sequence[MeasuredSchedule], count: int, tuned: bool, seed: int) -> Judgement:
    order = np.random.default_rng(seed).permutation(len(group))
    own, rest = ([group[index] for index in part] for part in (order[:count], order[count:]))
    if tuned:
        weights = fine_tuned(weights, own, seed=seed)
    return judge(predicted_costs(weights, rest), rest)
