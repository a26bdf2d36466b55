"""Settings of PPO."""

from __future__ import annotations

from typing import Literal

import pydantic

from halidegym.envs.prepared_problems import RANDOM
from halidegym.training.imitation.settings import NetworkSettings
from halidegym.training.settings import TrainingSettings
from halidegym.training.splits import check_may_be_trained_on


class PPOSettings(TrainingSettings):
    """How a policy learns from its own episodes; besides `TrainingSettings`, whose threads step the environments, too.

    Attributes:
        pipelines: registered names, for a policy of these alone; or "random" alone, for the generated ones to train on.
        pool: how many generated pipelines, each prepared once; None for all of them, prepared when they are drawn.
        target: Halide target string that schedules are made for.
        parallelism: number of cores that schedules are made for.
        max_decisions: that a state shows at most.
        weights: file of the cost model's weights; None for the shipped ones.
        reward: log(greedy's / the schedule's) cost by the cost model; or run time, measured here or replayed.
        database: file that run times are recorded in, or replayed from.
        num_envs: environments that are stepped together.
        group_size: of these that share a pipeline, and are compared with each other.
        rollout_steps: of each environment between updates.
        steps: of all environments together, rounded up to whole rollouts.
        epochs: over the steps of a rollout.
        batch: steps in a minibatch.
        learning_rate: of Adam.
        clip: by how much the probability of an action may change in an update.
        entropy, final_entropy: weight of the entropy in the first and in the last rollout.
        value_weight: of the value's loss.
        gradient_norm: that a gradient has at most.
        start: file or name of the policy to begin with; None for random weights.
        network: what the network is built of, if it begins with random weights.
    """

    pipelines: list[str]
    pool: int | None = pydantic.Field(default=None, ge=1)
    target: str
    parallelism: int = pydantic.Field(ge=1)
    max_decisions: int = pydantic.Field(ge=1)
    weights: str | None = None
    reward: Literal["cost", "measured", "replayed"] = "cost"
    database: str | None = None
    num_envs: int = pydantic.Field(ge=1)
    group_size: int = pydantic.Field(default=1, ge=1)
    rollout_steps: int = pydantic.Field(ge=2)
    steps: int = pydantic.Field(ge=1)
    epochs: int = pydantic.Field(ge=1)
    batch: int = pydantic.Field(ge=2)
    learning_rate: float = pydantic.Field(gt=0, le=1)
    clip: float = pydantic.Field(gt=0, le=1)
    entropy: float = pydantic.Field(ge=0)
    final_entropy: float = pydantic.Field(ge=0)
    value_weight: float = pydantic.Field(ge=0)
    gradient_norm: float = pydantic.Field(gt=0)
    start: str | None = None
    network: NetworkSettings = NetworkSettings()

    @pydantic.field_validator("pipelines")
    @classmethod
    def _may_be_trained_on(cls, pipelines: list[str]) -> list[str]:
        if not pipelines:
            raise ValueError("there are none; give names, or random")
        if pipelines != [RANDOM]:
            for name in pipelines:
                check_may_be_trained_on(name)
        return pipelines

    @pydantic.model_validator(mode="after")
    def _fit(self) -> PPOSettings:
        size = self.num_envs * self.rollout_steps
        if self.num_envs % self.group_size:
            raise ValueError(
                f"group_size={self.group_size} does not divide num_envs={self.num_envs}; change one of them"
            )
        if size % self.batch:
            raise ValueError(f"batch={self.batch} does not divide num_envs * rollout_steps={size}; change one of them")
        if self.pool is not None and not self.is_random:
            raise ValueError(f"pool={self.pool} is for pipelines: [{RANDOM}]; leave it out")
        if self.reward == "cost" and self.database is not None:
            raise ValueError(f"database={self.database!r} is for run times; leave it out, or give reward: measured")
        if self.reward != "cost" and self.database is None:
            raise ValueError(f"reward={self.reward} needs a database of run times; give its path")
        if self.start is not None and "network" in self.model_fields_set:
            raise ValueError(f"start={self.start!r} has a network already; leave network out")
        return self

    @property
    def is_random(self) -> bool:
        """Whether each episode has a generated pipeline."""
        return self.pipelines == [RANDOM]

    @property
    def rollout_size(self) -> int:
        """Steps of all environments between updates."""
        return self.num_envs * self.rollout_steps

    @property
    def num_rollouts(self) -> int:
        """Of the whole training."""
        return -(-self.steps // self.rollout_size)
