"""Settings of the training of cost models."""

from __future__ import annotations

from typing import Any

import pydantic

from halidegym.agents.learned.cost_models.losses import LossName
from halidegym.training.settings import TrainingSettings


class CostModelSettings(TrainingSettings):
    """How a cost model learns; besides `TrainingSettings`.

    Attributes:
        start: "shipped" to begin with the weights of the halide package, "example" with `example_weights`, "random", or the
            path of a `.weights` file.
        loss: "throughput", which is the published one, "log_time" or "ranks".
        epochs: at most.
        patience: epochs without a lower loss on validation pipelines, after which it ends.
        groups: in a batch: pipelines, each on a number of threads.
        learning_rate, final_learning_rate: of the first and of the last step; it falls along a cosine.
        members: models that are trained: the first one on all groups, each other one on those that a draw with
            replacement has.
        schedules: of the train split that are learned from, whole groups; None for all that there are.
    """

    start: str
    loss: LossName
    epochs: int = pydantic.Field(ge=1)
    patience: int = pydantic.Field(ge=1)
    groups: int = pydantic.Field(ge=1)
    learning_rate: float = pydantic.Field(gt=0, le=1)
    final_learning_rate: float = pydantic.Field(gt=0, le=1)
    members: int = pydantic.Field(ge=1, le=64)
    schedules: int | None = pydantic.Field(default=None, ge=1)

    def of_result(self) -> dict[str, Any]:
        """Those that change something of the result."""
        return self.model_dump(exclude={"device", "threads", "wandb_project"})
