"""Settings of whatever learns from its own episodes."""

from __future__ import annotations

from typing import Literal

import pydantic

from halidegym.envs.prepared_problems import generated_suites
from halidegym.training.imitation.settings import NetworkSettings
from halidegym.training.settings import Settings, TrainingSettings
from halidegym.training.splits import check_may_be_trained_on


class JudgingSettings(Settings):
    """Rollouts by which the policy that is kept is chosen.

    Attributes:
        problems: of the validation split, how many; None where pipelines are named, on which the policy is judged itself.
        samples: schedules drawn of each problem, beside one of favourites.
        temperature: of these draws.
        every: rollouts of the training between them.
    """

    problems: int | None = pydantic.Field(default=None, ge=1, le=1000)
    samples: int = pydantic.Field(ge=1)
    temperature: float = pydantic.Field(gt=0)
    every: int = pydantic.Field(ge=1)


class EpisodeSettings(TrainingSettings):
    """What a policy learns from, and what it is; besides `TrainingSettings`, whose threads step the environments, too.

    Attributes:
        pipelines: registered names, for a policy of these alone; or suites of generated ones to train on, where "random" is
            `random-train-v1`.
        pool: how many generated pipelines, each prepared once; None for all of them, prepared when they are drawn.
        target: Halide target string that schedules are made for.
        parallelism: number of cores that schedules are made for.
        max_decisions: that a state shows at most.
        weights: file of the cost model's weights; None for the shipped ones.
        reward: log(greedy's / the schedule's) cost by the cost model; or run time, measured here or replayed.
        database: file that run times are recorded in, or replayed from.
        num_envs: environments that are stepped together.
        rollout_steps: of each environment, after which all begin anew and a checkpoint is written.
        steps: of all environments together, rounded up to whole rollouts.
        learning_rate: of Adam.
        gradient_norm: that a gradient has at most.
        start: file or name of the policy to begin with; None for random weights.
        network: what the network is built of, if it begins with random weights.
        judging: how the policy that is kept is chosen; None to keep the last one.
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
    rollout_steps: int = pydantic.Field(ge=2)
    steps: int = pydantic.Field(ge=1)
    learning_rate: float = pydantic.Field(gt=0, le=1)
    gradient_norm: float = pydantic.Field(gt=0)
    start: str | None = None
    network: NetworkSettings = NetworkSettings()
    judging: JudgingSettings | None = None

    @pydantic.field_validator("pipelines")
    @classmethod
    def _may_be_trained_on(cls, pipelines: list[str]) -> list[str]:
        if not pipelines:
            raise ValueError("there are none; give names, or random")
        check_may_be_trained_on(pipelines)
        return pipelines

    @pydantic.model_validator(mode="after")
    def _belong_together(self) -> EpisodeSettings:
        if self.pool is not None and not self.suites:
            raise ValueError(f"pool={self.pool} is for suites of generated pipelines; leave it out")
        if self.reward == "cost" and self.database is not None:
            raise ValueError(f"database={self.database!r} is for run times; leave it out, or give reward: measured")
        if self.reward != "cost" and self.database is None:
            raise ValueError(f"reward={self.reward} needs a database of run times; give its path")
        if self.start is not None and "network" in self.model_fields_set:
            raise ValueError(f"start={self.start!r} has a network already; leave network out")
        if self.judging is not None and (self.judging.problems is not None) != bool(self.suites):
            raise ValueError(
                f"judging.problems={self.judging.problems}: give a number of problems of the validation split for "
                "suites of generated pipelines, and leave it out for others"
            )
        return self

    @property
    def why_no_more_steps(self) -> str:
        """Why a training cannot be given more steps than it was to have: what depends on how many there are; or nothing."""
        return ""

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites of generated pipelines that episodes are drawn from; none where pipelines are named."""
        return generated_suites(self.pipelines)

    @property
    def rollout_size(self) -> int:
        """Steps of all environments in a rollout."""
        return self.num_envs * self.rollout_steps

    @property
    def num_rollouts(self) -> int:
        """Of the whole training."""
        return -(-self.steps // self.rollout_size)
