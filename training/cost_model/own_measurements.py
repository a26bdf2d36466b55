"""What a few measurements of the pipeline itself are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.learned.cost_models.fine_tuning import Recipe, fine_tuned
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter, Weights
from halidegym.training.cost_model.judgement import FEWEST, Judgement, good_groups, judge


def judge_after_own(
    weights: Weights,
    schedules: Sequence[MeasuredSchedule],
    count: int,
    *,
    tuned: bool = True,
    others: Sequence[MeasuredSchedule] = (),
    repetitions: int = 4,
    recipe: Recipe | None = None,
    on_group: Callable[[str], None] = lambda _text: None,
) -> Judgement:
    """Judge weights that were fine-tuned on some good schedules of a group by the group's other ones.

    Args:
        weights: to begin with.
        schedules: of pipelines that these have not seen.
        count: schedules of a group to learn from. Groups that have no `FEWEST` more are left out.
        tuned: False to leave the weights as they are, and judge them by the same schedules.
        others: of other pipelines, to learn from besides.
        repetitions: draws of a group, over which figures are averaged.
        recipe: of the fine-tuning; None for the default.
        on_group: called with a text for each group.

    Raises:
        InvalidParameter: no group has enough schedules.
    """
    groups = groups_to_judge(schedules, count)
    used = (recipe or Recipe()) if tuned else None
    correlations, log_regrets = list[float](), list[float]()
    for group in groups:
        on_group(f"{schedules[group[0]].pipeline}: {count} own measurements")
        found = [
            _after(weights, [schedules[i] for i in group], count, others, used, seed) for seed in range(repetitions)
        ]
        correlations.append(float(np.mean([judgement.correlation for judgement in found])))
        log_regrets.append(float(np.mean([np.log(judgement.mean_regret) for judgement in found])))
    names = tuple(schedules[group[0]].pipeline for group in groups)
    return Judgement(names, np.array(correlations), np.exp(log_regrets))


def groups_to_judge(schedules: Sequence[MeasuredSchedule], count: int) -> list[NDArray[np.int64]]:
    """Of each group that has so many good schedules to learn from and `FEWEST` more, the indices of these.

    Raises:
        InvalidParameter: no group has as many.
    """
    groups = [group for group in good_groups(schedules) if len(group) >= count + FEWEST]
    if not groups:
        raise InvalidParameter(
            f"No pipeline has {count + FEWEST} good schedules that ran, of which {count} could be learned from; "
            f"collect more of a pipeline, or learn from fewer"
        )
    return groups


def _after(
    weights: Weights,
    group: Sequence[MeasuredSchedule],
    count: int,
    others: Sequence[MeasuredSchedule],
    recipe: Recipe | None,
    seed: int,
) -> Judgement:
    order = np.random.default_rng(seed).permutation(len(group))
    own, rest = ([group[index] for index in part] for part in (order[:count], order[count:]))
    if recipe is not None:
        weights = fine_tuned(weights, own, others=others, seed=seed, recipe=recipe)
    return judge(predicted_costs(weights, rest), rest)
