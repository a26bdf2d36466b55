"""Models side by side on the same schedules, and what more schedules are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.learned.cost_models.fine_tuning import trainable
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import Weights
from halidegym.native.weights import builtin_weights
from halidegym.training.cost_model.judgement import Judgement, judge
from halidegym.training.cost_model.settings import CostModelSettings
from halidegym.training.cost_model.train import first_groups, train_cost_model

COLUMNS = (
    "Model", "Learned from", "Rank correlation", "Gain, paired", "Regret", "Ratio of regrets, paired", "Median regret",
    "Regret by halves", "Median by halves",
)  # fmt: skip

_CURVE = (300, 1000, 3000)


@dataclass(frozen=True)
class Compared:
    """A model in a comparison.

    Attributes:
        name: of the model.
        schedules: that it learned from.
        found: what it is worth.
    """

    name: str
    schedules: int
    found: Judgement

    def cells(self, shipped: Judgement) -> tuple[str, ...]:
        """The line of a table, see `COLUMNS`."""
        return (
            self.name,
            f"{self.schedules:,}" if self.schedules else "",
            str(self.found.correlation_interval()),
            str(self.found.gain_over(shipped)),
            str(self.found.regret_interval()),
            str(self.found.regret_ratio_to(shipped)),
            str(self.found.median_regret_interval()),
            str(self.found.regret_by_halves_interval()),
            str(self.found.median_regret_by_halves_interval()),
        )


def ensemble_costs(members: Sequence[Weights], schedules: Sequence[MeasuredSchedule]) -> NDArray[np.float64]:
    """Geometric means [N] of the costs of several models."""
    costs = [np.maximum(predicted_costs(member, schedules), 1e-12) for member in members]
    means: NDArray[np.float64] = np.exp(np.mean(np.log(costs), axis=0))
    return means


def compare(
    settings: CostModelSettings,
    train: Sequence[MeasuredSchedule],
    validation: Sequence[MeasuredSchedule],
    folder: Path,
    *,
    on_model: Callable[[str], None] = lambda _text: None,
) -> list[Compared]:
    """Train every kind of model on the same schedules, and judge all of them on validation pipelines.

    The shipped model comes first. Those of the settings' loss are trained on fewer schedules, too.

    Args:
        settings: of the networks; each loss is tried.
        train: to learn from.
        validation: to choose epochs by, and to judge by. The networks' figures are the better for it: choose by them, and
            report those of other pipelines.
        folder: a folder for each training.
        on_model: called before each with its name.
    """
    from halidegym.training.cost_model.yardsticks import fitted

    held_out, learned_from = trainable(validation), first_groups(train, settings.schedules)
    compared = [Compared("shipped", 0, judge(predicted_costs(builtin_weights(), held_out), held_out))]

    def add_networks(name: str, changed: CostModelSettings) -> None:
        on_model(name)
        trained = train_cost_model(changed, learned_from, held_out, folder / name.replace(" ", "-").replace(",", ""))
        count = len(first_groups(learned_from, changed.schedules))
        best = predicted_costs(trained.best, held_out)
        compared.append(Compared(name, count, judge(best, held_out)))
        if changed.members > 1:
            together = ensemble_costs(trained.members, held_out)
            compared.append(Compared(f"{name}, {changed.members} together", count, judge(together, held_out)))

    for loss in ("throughput", "log_time", "ranks"):
        add_networks(loss, settings.model_copy(update={"loss": loss}))
    add_networks("from scratch", settings.model_copy(update={"start": "random", "members": 1}))
    for kind in ("linear", "trees"):
        on_model(kind)
        predicted = fitted(kind, learned_from, settings.seed).predict(held_out)
        compared.append(Compared(kind, len(learned_from), judge(predicted, held_out)))
    for count in _CURVE:
        if count < len(learned_from):
            add_networks(f"{settings.loss}, {count}", settings.model_copy(update={"schedules": count}))
            few = first_groups(learned_from, count)
            predicted = fitted("trees", few, settings.seed).predict(held_out)
            compared.append(Compared(f"trees, {count}", len(few), judge(predicted, held_out)))
    return compared
