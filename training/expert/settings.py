"""Settings of expert iteration."""

from __future__ import annotations

from typing import Literal

import pydantic

from halidegym.training.imitation.settings import PlanLearningSettings, RoundSettings
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


class ExpertSettings(PlanLearningSettings, RoundSettings):
    """How a policy improves on itself; besides `PlanLearningSettings` and `RoundSettings`.

    Attributes:
        patience: rounds without a gain on validation, after which it ends.
        rehearsed: further pipelines that a round learns from, with the best plans that are known of them.
        within: plans whose costs exceed the best one's by at most this share are kept besides it.
        weight: of those, that of the best one being 1.
        improver: how schedules are improved.
        targets: what is learned of an improved schedule: "best", its decisions; "tree", what the search that found it made
            of all decisions that it has tried there.
        temperature: of the targets "tree", the shares of decisions in proportion to (best cost below)^(-1 / temperature).
    """

    patience: int = pydantic.Field(ge=1)
    rehearsed: int = pydantic.Field(ge=0)
    within: float = pydantic.Field(ge=0)
    weight: float = pydantic.Field(ge=0, le=1)
    improver: ImproverSettings
    targets: Literal["best", "tree"] = "best"
    temperature: float = pydantic.Field(default=0.1, gt=0)
