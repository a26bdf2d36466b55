"""Schedules in the style of people who write them by hand: by rules that the cost model does not know.

Against its favourites, experts cut images into few large tasks matched to the cores, work on long strips that leave the
innermost dimension whole, and nest little (docs/specification/papers.md, section 2).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.proposals import Proposal
from halidegym.agents.proposals.descents import descend
from halidegym.native._core import Decision, Expansion, Space, State

Mask: TypeAlias = NDArray[np.bool_]
Rule: TypeAlias = Callable[[NDArray[np.int32], NDArray[np.int64], int], Mask]
"""Which decisions, as `Expansion.sizes` tells of them, are in the style, for so many cores."""

_FEW = 4  # tasks for each core
_CHEAPEST = 10
_SLIDING = [code for code, kind in enumerate(Decision.KINDS) if kind.startswith("store_at")]
_INLINE = Decision.KINDS.index("inline")


def _few_tasks(_codes: NDArray[np.int32], sizes: NDArray[np.int64], cores: int) -> Mask:
    tasks = np.maximum(sizes[:, 2], 1).prod(axis=1)
    return np.asarray(~sizes[:, 2].any(axis=1) | ((cores <= tasks) & (tasks <= _FEW * cores)))


def _strips(_codes: NDArray[np.int32], sizes: NDArray[np.int64], _cores: int) -> Mask:
    return np.asarray((sizes[:, :, :1] <= 1).all(axis=(1, 2)))


def _one_level(codes: NDArray[np.int32], sizes: NDArray[np.int64], _cores: int) -> Mask:
    return np.asarray(~sizes[:, 1].any(axis=1) & (codes[:, 2] <= 2))


def _no_sliding(codes: NDArray[np.int32], _sizes: NDArray[np.int64], _cores: int) -> Mask:
    return ~np.isin(codes[:, 0], _SLIDING)


def _not_inline(codes: NDArray[np.int32], _sizes: NDArray[np.int64], _cores: int) -> Mask:
    return np.asarray(codes[:, 0] != _INLINE)


RULES: Sequence[Rule] = (_few_tasks, _strips, _one_level, _no_sliding, _not_inline)


def styled_descent(space: Space, rng: random.Random) -> Proposal:
    """A descent by a few of the rules, drawn at random; where no decision follows all of them, the later ones are left out.

    Among the decisions that follow them it takes the cheapest, and now and then any of the ten cheapest.
    """
    style = [rule for rule in RULES if rng.random() < 0.5]
    rate, cores = rng.choice((0.0, 0.1, 0.3)), space.problem.parallelism

    def choose(_state: State, expansion: Expansion) -> int:
        among = _in_style(expansion, style, cores)
        ordered = among[np.argsort(expansion.costs()[among], kind="stable")]
        return int(rng.choice(ordered[:_CHEAPEST]) if rng.random() < rate else ordered[0])

    return descend("styled", space.initial_state(), (), choose)


def _in_style(expansion: Expansion, style: Sequence[Rule], cores: int) -> NDArray[np.intp]:
    """Indices of the legal decisions that follow the rules."""
    codes, sizes = expansion.sizes()
    among = np.ones(len(expansion), dtype=np.bool_)
    for rule in style:
        stricter = among & rule(codes, sizes, cores)
        among = stricter if stricter.any() else among
    return np.flatnonzero(among)
