"""Settings of PPO."""

from __future__ import annotations

import pydantic

from halidegym.training.episodes.settings import EpisodeSettings


class PPOSettings(EpisodeSettings):
    """How a policy learns from its own episodes; besides `EpisodeSettings`.

    Attributes:
        group_size: environments that share a pipeline, and are compared with each other.
        epochs: over the steps of a rollout.
        batch: steps in a minibatch.
        clip: by how much the probability of an action may change in an update.
        entropy, final_entropy: weight of the entropy in the first and in the last rollout.
        value_weight: of the value's loss.
        start_divergence: weight of KL(policy || start) in nats; needs a `start`.
    """

    group_size: int = pydantic.Field(default=1, ge=1)
    epochs: int = pydantic.Field(ge=1)
    batch: int = pydantic.Field(ge=2)
    clip: float = pydantic.Field(gt=0, le=1)
    entropy: float = pydantic.Field(ge=0)
    final_entropy: float = pydantic.Field(ge=0)
    value_weight: float = pydantic.Field(ge=0)
    start_divergence: float = pydantic.Field(default=0.0, ge=0)

    @pydantic.model_validator(mode="after")
    def _fit(self) -> PPOSettings:
        if self.num_envs % self.group_size:
            raise ValueError(
                f"group_size={self.group_size} does not divide num_envs={self.num_envs}; change one of them"
            )
        if self.rollout_size % self.batch:
            raise ValueError(
                f"batch={self.batch} does not divide num_envs * rollout_steps={self.rollout_size}; change one of them"
            )
        if self.start_divergence and self.start is None:
            raise ValueError(f"start_divergence={self.start_divergence} needs a policy to start from; give start")
        return self

    @property
    def why_no_more_steps(self) -> str:
        """See `EpisodeSettings`."""
        return "" if self.entropy == self.final_entropy else "entropy goes to final_entropy over all steps"
