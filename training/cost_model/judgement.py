"""What predictions are worth, pipeline by pipeline, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.learned.cost_models.batches import group_key
from halidegym.agents.learned.cost_models.figures import rank_correlation, regret, regret_by_halves
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter
from halidegym.training.statistics import Interval, bootstrap

FEWEST = 5
"""Good schedules that a group needs to be judged by."""


@dataclass(frozen=True)
class Judgement:
    """A model on groups of schedules, those of a pipeline on so many threads.

    Attributes:
        pipelines: [G], names.
        correlations: [G], rank correlations of predictions and times among good schedules, all but random walks.
        regrets: [G], how many times longer the model's favourite among these takes than the fastest; of favourites with
            equal costs, the geometric mean.
        regrets_by_halves: [G], the same without luck: the fastest by one half of each schedule's turns, as the other half
            has it. Schedules that took one turn have the same time in both halves.
    """

    pipelines: tuple[str, ...]
    correlations: NDArray[np.float64]
    regrets: NDArray[np.float64]
    regrets_by_halves: NDArray[np.float64]

    @property
    def correlation(self) -> float:
        """The mean."""
        return float(self.correlations.mean())

    @property
    def mean_regret(self) -> float:
        """The geometric mean."""
        return math.exp(float(np.log(self.regrets).mean()))

    def correlation_interval(self) -> Interval:
        """The mean rank correlation."""
        return self._interval(self.correlations, np.mean)

    def regret_interval(self) -> Interval:
        """The geometric mean of the regrets."""
        return self._interval(self.regrets, _geometric_mean)

    def median_regret_interval(self) -> Interval:
        """The median of the regrets."""
        return self._interval(self.regrets, np.median)

    def regret_by_halves_interval(self) -> Interval:
        """The geometric mean of the regrets by halves of the turns."""
        return self._interval(self.regrets_by_halves, _geometric_mean)

    def median_regret_by_halves_interval(self) -> Interval:
        """The median of the regrets by halves of the turns."""
        return self._interval(self.regrets_by_halves, np.median)

    def gain_over(self, other: Judgement) -> Interval:
        """By how much the mean rank correlation is above another model's on the same groups, pipeline by pipeline."""
        return self._interval(self.correlations - other.correlations, np.mean)

    def regret_ratio_to(self, other: Judgement) -> Interval:
        """The geometric mean of the ratios of the regrets to another model's on the same groups."""
        return self._interval(self.regrets / other.regrets, _geometric_mean)

    def _interval(self, values: NDArray[np.float64], mean: Callable[..., NDArray[np.float64]]) -> Interval:
        """Resamples pipelines: the groups of a pipeline come and go together."""
        names = list(dict.fromkeys(self.pipelines))
        members = [np.array([i for i, name in enumerate(self.pipelines) if name == each]) for each in names]

        def of(drawn: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.array([mean(values[np.concatenate([members[i] for i in row])], axis=0) for row in drawn])

        return bootstrap([len(names)], of)


def _geometric_mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    means: NDArray[np.float64] = np.exp(np.log(values).mean(axis))
    return means


def good_groups(schedules: Sequence[MeasuredSchedule]) -> list[NDArray[np.int64]]:
    """Of each group that can be judged, the indices of its good schedules that ran.

    Those of a group are for equally many cores, too: a search compares no others.
    """
    groups: dict[tuple[str, int, int], list[int]] = {}
    for index, measured in enumerate(schedules):
        if measured.ran and measured.kind != "random":
            groups.setdefault((*group_key(measured), measured.parallelism), []).append(index)
    return [np.array(indices) for indices in groups.values() if len(indices) >= FEWEST]


def judge(costs: Sequence[float] | NDArray[np.float64], schedules: Sequence[MeasuredSchedule]) -> Judgement:
    """Judge a model by the costs [N] that it gives to schedules. Groups without an order by costs or times count 0.

    Raises:
        InvalidParameter: a cost is NaN.
    """
    unknown = int(np.isnan(costs).sum())
    if unknown:
        raise InvalidParameter(
            f"{unknown} of {len(costs)} costs are NaN: they order no schedules; train the model again"
        )
    predicted, times = np.asarray(costs), np.array([measured.run_time_s for measured in schedules])
    halves = np.array([measured.repeatability_s for measured in schedules]).reshape(-1, 2)
    even, odd = np.where(np.isnan(halves), times[:, None], halves).T
    groups = good_groups(schedules)
    return Judgement(
        tuple(schedules[group[0]].pipeline for group in groups),
        np.nan_to_num(np.array([rank_correlation(predicted[group], times[group]) for group in groups])),
        np.array([regret(predicted[group], times[group]) for group in groups]),
        np.array([regret_by_halves(predicted[group], even[group], odd[group]) for group in groups]),
    )
