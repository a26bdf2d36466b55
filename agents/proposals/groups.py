"""Schedules in groups: Funcs that are computed together in tiles of one size, as Mullapudi2016 groups them.

The cost model likes small tiles and much recomputation, and where many Funcs follow each other, what it leads to may not
keep up with such groups (docs/reproductions/tuning.md). What is outside the search space, such as a Func inlined that would
be computed more than eight times as often, is replaced by what is most like it.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.proposals.descents import Choice, endless
from halidegym.agents.proposals.proposal import Proposal
from halidegym.agents.reference.groups import Placement
from halidegym.native._core import Decision, Expansion, LoopNest, Space, State

_RATES = (0.0, 0.1, 0.3)  # shares of decisions that are any of the ten that fit best
_LIKEST = 10
_REPETITIONS = 10  # where groups exceed a limit of memory, they mostly do so with some decisions changed, too
_KIND = {kind: code for code, kind in enumerate(Decision.KINDS)}

# How much a decision that differs counts, where one unit is a factor of two in a size.
_ELSEWHERE, _SLIDING, _SPLIT, _VECTOR, _DEPTH = 10.0, 4.0, 3.0, 1.0, 0.5


def grouped_descents(space: Space, groups: Mapping[int, Placement], seed: int = 0) -> Iterator[Proposal]:
    """Descents by the decisions that fit the groups best, of equal ones the cheapest, and now and then any of the ten best.

    Without end, the one that never takes another first; none where there are no groups, or no such schedule is legal.

    Args:
        space: to descend in.
        groups: where Funcs are computed, by node id, as `mullapudi_groups` tells; those that are missing are inlined.
        seed: of the random numbers.
    """
    generator = random.Random(seed)
    rates = itertools.chain(_RATES[:1], iter(lambda: generator.choice(_RATES), None))

    def grouped() -> Choice:
        rate, follow = next(rates), _Follow(space, groups)

        def choose(state: State, expansion: Expansion) -> int:
            order = np.lexsort((expansion.costs(), follow.misfits(state, expansion)))
            index = int(generator.choice(order[:_LIKEST]) if generator.random() < rate else order[0])
            follow.note(state, expansion.describe(index))
            return index

        return choose

    if groups:
        yield from endless("grouped", space, grouped, _REPETITIONS)


class _Follow:
    """How well decisions fit the groups, in one descent."""

    def __init__(self, space: Space, groups: Mapping[int, Placement]) -> None:
        self._groups = groups
        self._nodes = {node.name: node for node in space.problem.nodes}
        # By stage; the last two are for codes -2 and -1: none, and the root.
        self._node_of = np.array([*(stage.node for stage in space.problem.stages), -1, -1])
        self._tiled: dict[int, int] = {}  # depths of the tiles that Funcs were split into

    def misfits(self, state: State, expansion: Expansion) -> NDArray[np.float64]:
        """Of each decision; 0 for those that fit."""
        codes, sizes = expansion.sizes()
        func = self._nodes[state.next_func]
        own = self._groups.get(func.id)
        if state.next_phase == "parallelize":
            if own is None or own.consumer is not None:
                return np.zeros(len(codes))
            return _doublings(sizes[:, 2], _counts(state, func.name, own.task_sizes))
        if own is None:
            return np.asarray(_ELSEWHERE * (codes[:, 0] != _KIND["inline"]))
        unlike = _VECTOR * (codes[:, 3] != own.vector_dim) if own.vector_dim is not None else np.zeros(len(codes))
        if own.consumer is None:
            return np.asarray(unlike + _ELSEWHERE * (codes[:, 1] != -1))
        unlike = unlike + _ELSEWHERE * (self._node_of[codes[:, 1]] != own.consumer)
        unlike = unlike + _SLIDING * ~np.isin(codes[:, 0], [_KIND["compute_at_level"], _KIND["compute_at_tile"]])
        if own.in_tiles and own.consumer not in self._tiled:
            consumer = state.space.problem.nodes[own.consumer].name
            wanted = _counts(state, consumer, self._groups[own.consumer].tile_sizes)
            return np.asarray(
                unlike + _doublings(sizes[:, 0], wanted) + _SPLIT * (codes[:, 0] != _KIND["compute_at_tile"])
            )
        depth = self._tiled.get(own.consumer, 1) if own.in_tiles else 1
        unlike = unlike + _DEPTH * np.abs(codes[:, 2] - depth)
        return np.asarray(unlike + _SPLIT * (codes[:, 0] != _KIND["compute_at_level"]))

    def note(self, state: State, taken: Mapping[str, Any]) -> None:
        """Remember where the tiles of a group are, by the decision that was taken, for those that follow."""
        own = self._groups.get(self._nodes[state.next_func].id)
        if own is not None and own.consumer is not None and own.in_tiles and taken["kind"] == "compute_at_tile":
            self._tiled.setdefault(own.consumer, taken["depth"])


def _doublings(sizes: NDArray[np.int64], wanted: Sequence[int]) -> NDArray[np.float64]:
    """How often tuples [decisions, loops] are to be doubled or halved to be the one that is wanted."""
    loops = sizes.shape[1]
    target = np.ones(loops)
    target[: len(wanted)] = wanted[:loops]
    return np.asarray(np.abs(np.log2(np.maximum(sizes, 1) / target)).sum(axis=1))


def _counts(state: State, func: str, sizes: Mapping[int, int]) -> list[int]:
    """How many parts of these sizes the loops of a Func at the root have."""
    whole = next((level for level in state.nest.children if level.func == func and level.stage == 0), None)
    extents = [] if whole is None else _extents(whole)
    return [math.ceil(extent / sizes.get(dim, extent)) for dim, extent in enumerate(extents)]


def _extents(level: LoopNest) -> list[int]:
    """Of all loops of a stage, from this level on."""
    counts = [size.count for size in level.sizes]
    inner = next((child for child in level.children if (child.func, child.stage) == (level.func, level.stage)), None)
    return counts if inner is None else [own * its for own, its in zip(counts, _extents(inner), strict=True)]
