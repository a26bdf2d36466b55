"""Plain models of the run times, to measure the network by: gradient-boosted trees, and a linear one.

They are asked to order schedules of a pipeline, so all that they read and predict is relative to the mean of its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from halidegym.agents.learned.cost_models.batches import Batch, group_key
from halidegym.agents.learned.cost_models.fine_tuning import trainable
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native.weights import builtin_weights

Kind: TypeAlias = Literal["trees", "linear"]


class Yardstick(Protocol):
    """A model that orders schedules."""

    def predict(self, schedules: Sequence[MeasuredSchedule]) -> NDArray[np.float64]:
        """Numbers [N] in the order of the times that it expects, comparable within a group."""


def fitted(kind: Kind, schedules: Sequence[MeasuredSchedule], seed: int = 0) -> Yardstick:
    """Fit a model to those of the schedules that ran."""
    ran = trainable(schedules)
    log_times = np.log([measured.run_time_s for measured in ran])
    group = _groups(ran)
    # As in `log_time_loss`, fast schedules count for more.
    fastest = np.full(group.max() + 1, np.inf)
    np.minimum.at(fastest, group, log_times)
    importance = np.exp(0.5 * (fastest[group] - log_times))
    model = _trees(seed) if kind == "trees" else _Linear()
    with threadpool_limits(1):  # on a busy machine, more are many times slower
        model.fit(relative_features(ran), _centred(log_times, group), sample_weight=importance)
    return _Fitted(model)


class _Fitted:
    def __init__(self, model: HistGradientBoostingRegressor | _Linear) -> None:
        self._model = model

    def predict(self, schedules: Sequence[MeasuredSchedule]) -> NDArray[np.float64]:
        with threadpool_limits(1):
            predicted: NDArray[np.float64] = self._model.predict(relative_features(schedules))
        return np.exp(predicted)


def _trees(seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(
        learning_rate=0.05, max_iter=300, max_leaf_nodes=12, min_samples_leaf=20, l2_regularization=1.0,
        max_features=0.3, early_stopping=False, random_state=seed,
    )  # fmt: skip


class _Linear:
    """Ridge regression on standardised features."""

    def __init__(self) -> None:
        self._ridge = Ridge(alpha=30.0)
        self._scale = np.ones(0)

    def fit(self, x: NDArray[np.float64], y: NDArray[np.float64], sample_weight: NDArray[np.float64]) -> None:
        self._scale = 1 / np.maximum(x.std(0), 1e-3)
        self._ridge.fit(x * self._scale, y, sample_weight)

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        predicted: NDArray[np.float64] = self._ridge.predict(x * self._scale)
        return predicted


def relative_features(schedules: Sequence[MeasuredSchedule]) -> NDArray[np.float64]:
    """[N, F], features of whole schedules less the means of their groups."""
    return _centred(schedule_features(schedules), _groups(schedules))


def schedule_features(schedules: Sequence[MeasuredSchedule]) -> NDArray[np.float64]:
    """[N, F], features of whole schedules: what the network reads stage by stage, and what follows from it.

    Logarithms of: the shipped model's cost; the terms of the cost added up over the stages; the means of the schedule
    features, once by points computed and once by bytes read at a time; the largest of each feature; and, of the loops
    that most points are computed in, how many vectors long they are, how full these are, and how evenly tasks occupy the
    cores.
    """
    batch = Batch.of(schedules)
    of, count = batch.schedule.numpy(), len(schedules)
    rows, terms = batch.log_features.numpy().astype(np.float64), batch.terms.numpy().astype(np.float64)
    points, lines = np.expm1(rows[:, 4]), terms[:, 5] + terms[:, 9] + terms[:, 14]
    cores = np.array([float(measured.parallelism) for measured in schedules])[of]
    tasks_per_core = np.maximum(1, np.expm1(rows[:, 9]) * np.expm1(rows[:, 10])) / cores
    special = np.stack(
        [
            rows[:, 6] - rows[:, 22],  # the innermost loop, in vectors
            rows[:, 22] - rows[:, 23],  # the share of a register that is used
            np.log(np.ceil(tasks_per_core) / tasks_per_core),
            np.log1p(tasks_per_core),
            rows[:, 4] - rows[:, 5],  # what is computed more than once
            rows[:, 11] - rows[:, 12],
        ],
        axis=1,
    )
    largest = np.full((count, rows.shape[1]), -np.inf)
    np.maximum.at(largest, of, rows)
    return np.concatenate(
        [
            np.log(predicted_costs(builtin_weights(), schedules))[:, None],
            np.log(_sums(terms, of, count) + 1e-9),
            _means(np.concatenate([rows, special], axis=1), points, of, count),
            _means(rows, lines, of, count),
            largest,
        ],
        axis=1,
    )


def _sums(values: NDArray[np.float64], of: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, of, values)
    return sums


def _means(
    values: NDArray[np.float64], weights: NDArray[np.float64], of: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    weights = weights[:, None] + 1e-12
    return _sums(values * weights, of, count) / _sums(weights, of, count)


def _groups(schedules: Sequence[MeasuredSchedule]) -> NDArray[np.int64]:
    numbers = {key: number for number, key in enumerate(dict.fromkeys(map(group_key, schedules)))}
    return np.array([numbers[group_key(measured)] for measured in schedules])


def _centred(values: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    columns = values.reshape(len(values), -1)
    means = _sums(columns, group, group.max() + 1) / np.bincount(group)[:, None]
    return (columns - means[group]).reshape(values.shape)
