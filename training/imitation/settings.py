"""Settings of imitation."""

from __future__ import annotations

import pydantic

from halidegym.training.settings import Settings, TrainingSettings


class NetworkSettings(Settings):
    """See `NetworkConfig`."""

    width: int = pydantic.Field(default=64, ge=16, le=512, multiple_of=16)
    rounds: int = pydantic.Field(default=3, ge=0, le=16)
    loops: int = pydantic.Field(default=8, ge=1, le=16)
    use_stage_features: bool = True
    use_edge_features: bool = True
    use_demands: bool = True


class OptimizerSettings(Settings):
    """AdamW with a rate that falls along a cosine.

    Attributes:
        learning_rate, final_learning_rate: of the first and of the last step.
        weight_decay: of AdamW.
        gradient_norm: that a gradient has at most.
        blind_weight, child_weight, value_weight: of the losses of the three heads.
    """

    learning_rate: float = pydantic.Field(gt=0, le=1)
    final_learning_rate: float = pydantic.Field(gt=0, le=1)
    weight_decay: float = pydantic.Field(ge=0)
    gradient_norm: float = pydantic.Field(gt=0)
    blind_weight: float = pydantic.Field(ge=0)
    child_weight: float = pydantic.Field(ge=0)
    value_weight: float = pydantic.Field(ge=0)


class RolloutSettings(Settings):
    """Rollouts on validation problems, by which checkpoints are chosen.

    Attributes:
        problems: how many; all that have plans, if they are fewer.
        samples: schedules drawn of each.
        shortlist: children read at each decision.
    """

    problems: int = pydantic.Field(ge=1)
    samples: int = pydantic.Field(ge=1)
    shortlist: int = pydantic.Field(ge=1)


class LearningSettings(TrainingSettings):
    """How a network learns from states; besides `TrainingSettings`.

    Attributes:
        epochs: over all states, or over those of a round.
        batch: states in a batch.
        group: states of the same problem that follow each other there.
        optimizer: how it learns.
        rollouts: how it is judged.
    """

    epochs: int = pydantic.Field(ge=1)
    batch: int = pydantic.Field(ge=1)
    group: int = pydantic.Field(ge=1)
    optimizer: OptimizerSettings
    rollouts: RolloutSettings


class PlanLearningSettings(LearningSettings):
    """How a network learns from the decisions of plans; besides `LearningSettings`.

    Attributes:
        candidates: decisions of a state that are shown at most.
    """

    candidates: int = pydantic.Field(ge=2)


class RoundSettings(LearningSettings):
    """How a network learns in rounds; besides `LearningSettings`.

    Attributes:
        rounds: at most.
        pipelines: that the policy meets in a round.
    """

    rounds: int = pydantic.Field(ge=1)
    pipelines: int = pydantic.Field(ge=1)


class ImitationSettings(PlanLearningSettings):
    """How a network learns from the plans of a teacher; besides `PlanLearningSettings`.

    Attributes:
        problems: of the train split that are learned from; None for all that were collected.
        network: what the network is built of.
        rollout_epochs: how many epochs come before it is judged again.
        checkpoint_steps: steps between checkpoints.
    """

    problems: int | None = pydantic.Field(default=None, ge=1)
    network: NetworkSettings = NetworkSettings()
    rollout_epochs: int = pydantic.Field(ge=1)
    checkpoint_steps: int = pydantic.Field(ge=1)
