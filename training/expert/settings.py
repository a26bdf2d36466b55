"""Settings of expert iteration."""

from __future__ import annotations

from typing import Literal

import pydantic

from halidegym.training.imitation.settings import OptimizerSettings, RolloutSettings
from halidegym.training.settings import Settings


class ImproverSettings(Settings):
    """The search that improves the policy's schedules, `PolicyGuidedMCTS`.

    Attributes:
        evaluations: its budget.
        free_schedules: how many are drawn before the best one is repeated but for a few steps.
        shortlist: children read at each decision that reads any.
    """

    evaluations: int = pydantic.Field(ge=1)
    free_schedules: int = pydantic.Field(ge=1)
    shortlist: int = pydantic.Field(ge=1)


class ExpertSettings(Settings):
    """How a policy improves on itself.

    Attributes:
        seed: of everything random.
        rounds: at most.
        patience: rounds without a gain on validation, after which it ends.
        pipelines: searched in a round.
        rehearsed: further pipelines that a round learns from, with the best plans that are known of them.
        candidates: decisions of a state that are shown at most.
        epochs: over the states of a round.
        batch: states in a batch.
        group: states of the same problem that follow each other there.
        within: plans whose costs exceed the best one's by at most this share are kept besides it.
        weight: of those, that of the best one being 1.
        improver: how schedules are improved.
        optimizer: how the network learns from them, in each round.
        rollouts: how it is judged.
        device: "auto" for a GPU where there is one.
        threads: that search and learn; None for the usable cores.
        wandb_project: to log to Weights & Biases, too.
    """

    seed: int = pydantic.Field(ge=0, lt=2**32)
    rounds: int = pydantic.Field(ge=1)
    patience: int = pydantic.Field(ge=1)
    pipelines: int = pydantic.Field(ge=1)
    rehearsed: int = pydantic.Field(ge=0)
    candidates: int = pydantic.Field(ge=2)
    epochs: int = pydantic.Field(ge=1)
    batch: int = pydantic.Field(ge=1)
    group: int = pydantic.Field(ge=1)
    within: float = pydantic.Field(ge=0)
    weight: float = pydantic.Field(ge=0, le=1)
    improver: ImproverSettings
    optimizer: OptimizerSettings
    rollouts: RolloutSettings
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int | None = pydantic.Field(default=None, ge=1)
    wandb_project: str | None = None
