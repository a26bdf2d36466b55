"""Schedules in the style of people who write them by hand: by rules that the cost model does not know.

Against its favourites, experts cut images into few large tasks matched to the cores, work on long strips that leave the
innermost dimension whole, and nest little (docs/specification/papers.md, section 2).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from halidegym.agents.proposals import Proposal
from halidegym.agents.proposals.descents import descend
from halidegym.native._core import Expansion, Space, State

Rule: TypeAlias = Callable[[Mapping[str, Any], int], bool]
"""Whether a decision, in words, is in the style, for so many cores."""

_FEW = 4  # tasks for each core
_CHEAPEST = 10


def _few_tasks(words: Mapping[str, Any], cores: int) -> bool:
    return "tasks" not in words or cores <= math.prod(words["tasks"]) <= _FEW * cores


def _strips(words: Mapping[str, Any], _cores: int) -> bool:
    return all(tile[0] == 1 for tile in (words.get("outer_tile"), words.get("inner_tile"), words.get("tasks")) if tile)


def _one_level(words: Mapping[str, Any], _cores: int) -> bool:
    return "inner_tile" not in words and words.get("depth", 0) <= 2


def _no_sliding(words: Mapping[str, Any], _cores: int) -> bool:
    return not str(words["kind"]).startswith("store_at")


def _not_inline(words: Mapping[str, Any], _cores: int) -> bool:
    return str(words["kind"]) != "inline"


RULES: Sequence[Rule] = (_few_tasks, _strips, _one_level, _no_sliding, _not_inline)


def styled_descent(space: Space, rng: random.Random) -> Proposal:
    """A descent by a few of the rules, drawn at random; where no decision follows all of them, the later ones are left out.

    Among the decisions that follow them it takes the cheapest, and now and then any of the ten cheapest.
    """
    style = [rule for rule in RULES if rng.random() < 0.5]
    rate, cores = rng.choice((0.0, 0.1, 0.3)), space.problem.parallelism

    def choose(_state: State, expansion: Expansion) -> int:
        among = _in_style(expansion, style, cores)
        costs = expansion.costs()
        ordered = sorted(among, key=lambda index: float(costs[index]))
        return rng.choice(ordered[:_CHEAPEST]) if rng.random() < rate else ordered[0]

    return descend("styled", space.initial_state(), (), choose)


def _in_style(expansion: Expansion, style: Sequence[Rule], cores: int) -> Sequence[int]:
    among: Sequence[int] = range(len(expansion))
    words = {index: expansion.describe(index) for index in among}
    for rule in style:
        among = [index for index in among if rule(words[index], cores)] or among
    return among
