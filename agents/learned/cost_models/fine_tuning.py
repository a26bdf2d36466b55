"""Cost models fine-tuned on measured schedules: of one pipeline, within seconds, or of many."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halidegym.agents.learned.cost_models.batches import Batch, chunks
from halidegym.agents.learned.cost_models.losses import LEAST_RELATIVE_COST, LOSSES, LossName
from halidegym.agents.learned.cost_models.network import CostNetwork, scaled
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter, Weights
from halidegym.native.checks import check_at_least, check_given, check_present

MIN_SCHEDULES = 3
"""Fewer teach nothing."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is fine-tuned.

    Attributes:
        loss: that is minimised; see `LOSSES`.
        steps: of the optimizer.
        learning_rate: of the first one; it falls along a cosine.
        others_weight: of the loss on other pipelines.
        others_at_once: groups of those that a step reads.
    """

    loss: LossName = "ranks"
    steps: int = 60
    learning_rate: float = 3e-3
    others_weight: float = 0.3
    others_at_once: int = 8


def fine_tuned(
    weights: Weights,
    own: Sequence[MeasuredSchedule],
    *,
    others: Sequence[MeasuredSchedule] = (),
    seed: int = 0,
    recipe: Recipe = Recipe(),
) -> Weights:
    """Return weights that order schedules as these were measured, and whose costs are about their milliseconds.

    Args:
        weights: to begin with.
        own: schedules of the pipeline that matters, or of several. Those that failed teach nothing.
        others: of other pipelines, so that what is known of them is not forgotten.
        seed: of the draws among the others.
        recipe: how.

    Raises:
        InvalidParameter: fewer than `MIN_SCHEDULES` of the own schedules ran, or an argument is something else.
    """
    return _FineTuning(own, others, seed, recipe).tuned(weights)


def fine_tuned_ensemble(
    weights: Weights,
    own: Sequence[MeasuredSchedule],
    *,
    others: Sequence[MeasuredSchedule] = (),
    seed: int = 0,
    members: int = 4,
    recipe: Recipe = Recipe(),
) -> tuple[Weights, ...]:
    """Return several weights whose differences show what the schedules leave open; see `fine_tuned`.

    Each member takes the schedules for more or less often than they are, at random (the Bayesian bootstrap).

    Raises:
        InvalidParameter: see `fine_tuned`; or there is to be no member.
    """
    check_at_least(1, **check_present(members=members))
    tuning, random = _FineTuning(own, others, seed, recipe), np.random.default_rng(seed)
    draws = random.exponential(size=(members, tuning.num_schedules))
    return tuple(tuning.tuned(weights, draws[member]) for member in range(members))


def adam(network: CostNetwork, learning_rate: float) -> torch.optim.Adam:
    """The optimizer of the reference (docs/specification/search-and-cost-model.md, section 4.2)."""
    return torch.optim.Adam(network.parameters(), lr=learning_rate, eps=1e-5)


def trainable(schedules: Sequence[MeasuredSchedule]) -> list[MeasuredSchedule]:
    """Those with a run time.

    Raises:
        InvalidParameter: one is said to have run, but its time is no positive number.
    """
    ran = [measured for measured in schedules if measured.ran]
    for measured in ran:
        if not (math.isfinite(measured.run_time_s) and measured.run_time_s > 0):
            raise InvalidParameter(
                f"A schedule of {measured.pipeline} ran for {measured.run_time_s} seconds; measure it again, or leave it out"
            )
    return ran


def in_milliseconds(weights: Weights, schedules: Sequence[MeasuredSchedule]) -> Weights:
    """Weights that differ in the unit of their costs: half of these schedules take longer than they say."""
    costs = np.maximum(predicted_costs(weights, schedules), LEAST_RELATIVE_COST)
    return scaled(weights, float(np.median(1e3 * np.array([measured.run_time_s for measured in schedules]) / costs)))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute on one thread: on matrices this small, two are forty times slower on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _FineTuning:
    def __init__(
        self, own: Sequence[MeasuredSchedule], others: Sequence[MeasuredSchedule], seed: int, recipe: Recipe
    ) -> None:
        check_given(Sequence, own=own, others=others)
        self._recipe, self._schedules = recipe, trainable(own)
        if len(self._schedules) < MIN_SCHEDULES:
            raise InvalidParameter(
                f"{len(self._schedules)} of {len(own)} schedules ran; give at least {MIN_SCHEDULES} to learn from"
            )
        self._own = Batch.of(self._schedules)
        self._others = chunks(trainable(others), recipe.others_at_once, np.random.default_rng(seed))

    @property
    def num_schedules(self) -> int:
        return len(self._own)

    @_one_thread()
    def tuned(self, weights: Weights, draws: NDArray[np.float64] | None = None) -> Weights:
        """Fine-tuned weights; with `draws`, as if each own schedule were there so many times."""
        check_given(Weights, weights=weights)
        recipe = self._recipe
        network = CostNetwork(in_milliseconds(weights, self._schedules))
        optimizer = adam(network, recipe.learning_rate)
        falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, recipe.steps)
        importance = torch.ones(len(self._own)) if draws is None else torch.from_numpy(draws).float()
        for step in range(recipe.steps):
            optimizer.zero_grad()
            loss = self._loss(network, self._own, importance)
            if self._others:
                other = self._others[step % len(self._others)]
                loss = loss + recipe.others_weight * self._loss(network, other, torch.ones(len(other)))
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            falling.step()
        return in_milliseconds(network.weights(), self._schedules)

    def _loss(self, network: CostNetwork, batch: Batch, importance: Tensor) -> Tensor:
        return LOSSES[self._recipe.loss](network(batch), batch, importance) / batch.num_groups
