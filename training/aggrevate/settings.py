"""Settings of AggreVaTe."""

from __future__ import annotations

import pydantic

from halidegym.training.imitation.settings import RoundSettings
from halidegym.training.settings import Settings


class LabelSettings(Settings):
    """What is found out of each pipeline.

    Attributes:
        schedules: of the five ways in which the policy may take decisions, by how many it makes a schedule, whose states are
            learned.
        blind, child: decisions of a state that each head draws.
        cheapest: further ones, whose children cost the least.
        random: further ones, drawn uniformly.
        shortlist: children that the policy reads at each decision while it completes a schedule.
        draws: completions of each, besides the policy's favourites.
    """

    schedules: int = pydantic.Field(ge=1, le=5)
    blind: int = pydantic.Field(ge=1)
    child: int = pydantic.Field(ge=1)
    cheapest: int = pydantic.Field(ge=0)
    random: int = pydantic.Field(ge=0)
    shortlist: int = pydantic.Field(ge=1)
    draws: int = pydantic.Field(ge=0)


class AggrevateSettings(RoundSettings):
    """How a policy learns from what its own decisions lead to; besides `RoundSettings`.

    Attributes:
        labels: what it finds out.
        temperature: of what is learned of it; the higher, the more the policy stays as it is.
    """

    labels: LabelSettings
    temperature: float = pydantic.Field(gt=0)
