"""Decisions of one schedule in another one, where they mean something else by number: followed by what they say."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halidegym.agents.proposals import Proposal
from halidegym.native._core import Expansion

# What a difference counts, where one unit is a factor of two in a size.
_DIFFERENCES = {"kind": 3.0, "level": 4.0, "vector_dim": 4.0}
_DEPTH, _ANOTHER_NUMBER_OF_SIZES = 0.5, 2.0


@dataclass(frozen=True)
class Step:
    """A decision on the way to a schedule.

    Attributes:
        action: its index among the legal ones.
        choices: how many these were.
        words: what `Expansion.describe` says of it.
    """

    action: int
    choices: int
    words: Mapping[str, Any]


@functools.lru_cache(maxsize=256)
def steps_of(proposal: Proposal) -> tuple[Step, ...]:
    """The decisions of a schedule in words."""
    state, steps = proposal.state.space.initial_state(), []
    for action in proposal.actions:
        expansion = state.expand()
        steps.append(Step(action, len(expansion), expansion.describe(action)))
        state = expansion.child(action)
    return tuple(steps)


def likest(expansion: Expansion, step: Step) -> int:
    """The legal decision that is most like one of another schedule."""
    if step.action < len(expansion) and expansion.describe(step.action) == step.words:
        return step.action
    return int(np.argmin(distances(expansion, step)))


def distances(expansion: Expansion, step: Step) -> list[float]:
    """How different all legal decisions are from one of another schedule."""
    return [_distance(step.words, expansion.describe(index)) for index in range(len(expansion))]


def _distance(a: Mapping[str, Any], b: Mapping[str, Any]) -> float:
    distance: float = sum(weight for key, weight in _DIFFERENCES.items() if a.get(key) != b.get(key))
    distance += _DEPTH * abs(a.get("depth", 0) - b.get("depth", 0))
    return distance + sum(_factors(a.get(key), b.get(key)) for key in ("outer_tile", "inner_tile", "tasks"))


def _factors(a: Sequence[int] | None, b: Sequence[int] | None) -> float:
    if a is None or b is None or len(a) != len(b):
        return 0.0 if a == b else _ANOTHER_NUMBER_OF_SIZES
    return sum(abs(math.log2(max(own, 1) / max(other, 1))) for own, other in zip(a, b, strict=True))
