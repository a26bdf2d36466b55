"""Settings of DQN."""

from __future__ import annotations

import pydantic

from halidegym.training.episodes.settings import EpisodeSettings


class DQNSettings(EpisodeSettings):
    """How the values of decisions are learned; besides `EpisodeSettings`.

    Attributes:
        buffer: steps of episodes that are kept; the oldest episodes go first.
        warm_up: steps of all environments before the first update.
        batch: steps in a batch.
        updates: of the network, after each step of the environments.
        n_steps: rewards that a target sums before it asks the target network; None for those of the whole episode.
        target_steps: of all environments, after which the target network becomes the network again.
        epsilon, final_epsilon: share of random decisions in the first rollouts and in the last ones.
        exploration: share of the rollouts in which it falls from one to the other.
        start_temperature: what the logits of the policy to begin with are multiplied by to be values.
    """

    buffer: int = pydantic.Field(ge=1)
    warm_up: int = pydantic.Field(ge=0)
    batch: int = pydantic.Field(ge=1)
    updates: int = pydantic.Field(ge=1)
    n_steps: int | None = pydantic.Field(default=None, ge=1)
    target_steps: int = pydantic.Field(ge=1)
    epsilon: float = pydantic.Field(ge=0, le=1)
    final_epsilon: float = pydantic.Field(ge=0, le=1)
    exploration: float = pydantic.Field(gt=0, le=1)
    start_temperature: float | None = pydantic.Field(default=None, gt=0)

    @pydantic.model_validator(mode="after")
    def _fit(self) -> DQNSettings:
        if self.batch > self.buffer:
            raise ValueError(f"batch={self.batch} exceeds buffer={self.buffer}; change one of them")
        if self.warm_up >= self.num_rollouts * self.rollout_size:
            raise ValueError(
                f"warm_up={self.warm_up} leaves nothing of steps={self.steps} to learn in; change one of them"
            )
        if self.target_steps < self.num_envs:
            raise ValueError(
                f"target_steps={self.target_steps} is less than num_envs={self.num_envs}, a step of each environment; "
                "change one of them"
            )
        if (self.start_temperature is None) != (self.start is None):
            raise ValueError(
                f"start_temperature={self.start_temperature} with start={self.start!r}: give both, or none of them"
            )
        return self

    @property
    def why_no_more_steps(self) -> str:
        """See `EpisodeSettings`."""
        return "" if self.epsilon == self.final_epsilon else "epsilon goes to final_epsilon over a share of all steps"
