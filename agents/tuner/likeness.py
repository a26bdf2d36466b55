"""Decisions of one schedule in another one, where they mean something else by number: followed by what they say."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.proposals import Proposal
from halidegym.native._core import Expansion

# What a difference counts, where one unit is a factor of two in a size.
_DIFFERENCES = np.array([3.0, 4.0, 0.0, 4.0])  # of kind, level, depth and vector_dim
_DEPTH, _ANOTHER_NUMBER_OF_SIZES = 0.5, 2.0


@dataclass(frozen=True, eq=False)
class Step:
    """A decision on the way to a schedule.

    Attributes:
        action: its index among the legal ones.
        choices: how many these were.
        words: what `Expansion.describe` says of it.
        codes: its row [4] of what `Expansion.sizes` says.
        sizes: likewise [3, loops].
    """

    action: int
    choices: int
    words: Mapping[str, Any]
    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]


@functools.lru_cache(maxsize=256)
def steps_of(proposal: Proposal) -> tuple[Step, ...]:
    """The decisions of a schedule in words and numbers."""
    state, steps = proposal.state.space.initial_state(), []
    for action in proposal.actions:
        expansion = state.expand()
        codes, sizes = expansion.sizes()
        steps.append(
            Step(action, len(expansion), expansion.describe(action), codes[action].copy(), sizes[action].copy())
        )
        state = expansion.child(action)
    return tuple(steps)


def likest(expansion: Expansion, step: Step) -> int:
    """The legal decision that is most like one of another schedule."""
    if step.action < len(expansion) and expansion.describe(step.action) == step.words:
        return step.action
    return int(np.argmin(distances(expansion, step)))


def distances(expansion: Expansion, step: Step) -> NDArray[np.float64]:
    """How different all legal decisions are from one of another schedule [count]."""
    codes, sizes = expansion.sizes()
    depths, depth = np.maximum(codes[:, 2], 0), max(step.codes[2], 0)
    differing = (codes != step.codes) @ _DIFFERENCES
    return np.asarray(differing + _DEPTH * np.abs(depths - depth) + _factors(sizes, step.sizes).sum(axis=1))


def _factors(all_sizes: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often the sizes of a decision are to be doubled or halved to be those of all others [count, 3]."""
    loops = max(all_sizes.shape[-1], sizes.shape[-1])
    a, b = (np.pad(some, [*[(0, 0)] * (some.ndim - 1), (0, loops - some.shape[-1])]) for some in (all_sizes, sizes))
    factors = np.abs(np.log2(np.maximum(a, 1) / np.maximum(b, 1))).sum(axis=-1)
    return np.where((a > 0).sum(axis=-1) == (b > 0).sum(axis=-1), factors, _ANOTHER_NUMBER_OF_SIZES)
