"""Settings of AggreVaTe."""

from __future__ import annotations

import pydantic

from halidegym.training.imitation.settings import OptimizerSettings, RolloutSettings
from halidegym.training.settings import Settings, TrainingSettings


class LabelSettings(Settings):
    """What is found out of each pipeline.

    Attributes:
        schedules: of the five ways in which the policy may take decisions, by how many it makes a schedule, whose states are
            learned.
        blind, child: decisions of a state that each head draws.
        cheapest: further ones, whose children cost the least.
        random: further ones, drawn uniformly.
        shortlist: children that the policy reads at each decision while it completes a schedule.
    """

    schedules: int = pydantic.Field(ge=1, le=5)
    blind: int = pydantic.Field(ge=1)
    child: int = pydantic.Field(ge=1)
    cheapest: int = pydantic.Field(ge=0)
    random: int = pydantic.Field(ge=0)
    shortlist: int = pydantic.Field(ge=1)


class AggrevateSettings(TrainingSettings):
    """How a policy learns from what its own decisions lead to; besides `TrainingSettings`.

    Attributes:
        rounds: of finding out and learning, the next with the policy that the one before has made.
        pipelines: that a round finds out about, others each time.
        labels: what it finds out.
        epochs: over the states of this round and of those before.
        batch: states in a batch.
        group: states of the same problem that follow each other there.
        optimizer: how it learns.
        rollouts: how it is judged.
    """

    rounds: int = pydantic.Field(ge=1)
    pipelines: int = pydantic.Field(ge=1)
    labels: LabelSettings
    epochs: int = pydantic.Field(ge=1)
    batch: int = pydantic.Field(ge=1)
    group: int = pydantic.Field(ge=1)
    optimizer: OptimizerSettings
    rollouts: RolloutSettings
