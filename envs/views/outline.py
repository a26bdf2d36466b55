"""A loop nest as a tree of levels with what a reader wants to know of each: its loops by name, and its cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from halidegym.native._core import Environment, LoopNest, ObservationShape, Problem, Stage, State
from halidegym.native.checks import check_given

Kind: TypeAlias = Literal["root", "tasks", "loops", "compute", "inlined", "folded"]


@dataclass(frozen=True)
class Level:
    """A part of a nest; immutable.

    Attributes:
        kind: the root of the nest; loops whose iterations are parallel tasks; other loops; the innermost loops, which
            compute the Func; a Func that is inlined here; several parts in one, see `folded`.
        name: of the stage; of `folded`, how many parts it stands for.
        depth: of the level in the nest, 0 at the root.
        loops: variables and trip counts of the loops with more than one iteration, innermost first; without vectors.
        tile: points of the stage that one iteration covers, by variable, innermost first.
        lanes: of the vectors that the innermost loops compute; 1 without vectors.
        vector: variable of these vectors.
        calls: of an inlined Func, here.
        kept: Funcs stored in each iteration and computed deeper inside, so that later iterations there find old values.
        cost: what the cost model says about this level and all that is in it; 0 for what has no cost.
        parts: levels in the body, in the order of their execution.
    """

    kind: Kind
    name: str
    depth: int
    loops: tuple[tuple[str, int], ...] = ()
    tile: tuple[tuple[str, int], ...] = ()
    lanes: int = 1
    vector: str = ""
    calls: int = 0
    kept: tuple[str, ...] = ()
    cost: float = 0.0
    parts: tuple[Level, ...] = ()

    @property
    def computes(self) -> Level | None:
        """The innermost loops, if this is nothing but loops around them: a reader takes both for one."""
        alone = self.parts[0] if len(self.parts) == 1 and not self.kept else None
        return alone if alone is not None and alone.kind == "compute" and not alone.parts else None

    @property
    def own_cost(self) -> float:
        """The cost without that of the parts that are shown by themselves."""
        return self.cost - (0.0 if self.computes else sum(part.cost for part in self.parts))

    @property
    def num_rows(self) -> int:
        """Lines that it takes to show the level with all that is in it."""
        return 1 if self.computes else 1 + sum(part.num_rows for part in self.parts)

    def walk(self) -> Iterator[Level]:
        """This level and all in it, in the order of execution."""
        yield self
        for part in self.parts:
            yield from part.walk()


def outline(state: State) -> Level:
    """The nest of a partial or complete schedule.

    Raises:
        InvalidParameter: `state` is none.
    """
    check_given(State, state=state)
    problem = state.space.problem
    nest = state.nest
    inlined = Counter(name for level in _walk(nest) for name, _ in level.inlined)
    return _level(nest, 0, _Names(problem), _stage_costs(state), inlined)


class _Names:
    """Stages and dimensions by the names of their Funcs."""

    def __init__(self, problem: Problem) -> None:
        self.stages = problem.stages
        self.nodes = {node.name: node for node in problem.nodes}

    def stage(self, func: str, index: int) -> Stage:
        return self.stages[self.nodes[func].first_stage + index]


def _walk(nest: LoopNest) -> Iterator[LoopNest]:
    yield nest
    for child in nest.children:
        yield from _walk(child)


def _level(nest: LoopNest, depth: int, names: _Names, costs: Mapping[int, float], inlined: Mapping[str, int]) -> Level:
    parts = [_level(child, depth + 1, names, costs, inlined) for child in reversed(nest.children)]
    for func, calls in nest.inlined:
        node = names.nodes[func]
        # The model rates an inlined Func once, wherever it is inlined: each place gets an equal part.
        cost = sum(costs.get(node.first_stage + i, 0.0) for i in range(node.num_stages)) / inlined[func]
        parts.append(Level("inlined", func, depth, calls=calls, cost=cost))
    total = sum(part.cost for part in parts)
    computed_here = {child.func for child in nest.children}
    kept = tuple(func for func in nest.store_at if func not in computed_here)
    if not nest.func:
        return Level("root", "", depth, kept=kept, cost=total, parts=tuple(parts))
    stage = names.stage(nest.func, nest.stage)
    variables = [loop.variable for loop in stage.loops]
    counts = [size.count for size in nest.sizes]
    lanes, vector = 1, ""
    if nest.innermost and nest.vectorized_loop >= 0:
        lanes, vector = counts[nest.vectorized_loop], variables[nest.vectorized_loop]
        counts[nest.vectorized_loop] = 1
    return Level(
        kind="compute" if nest.innermost else "tasks" if nest.parallel else "loops",
        name=stage.name,
        depth=depth,
        loops=tuple((name, count) for name, count in zip(variables, counts, strict=True) if count > 1),
        tile=tuple(zip(variables, _points_inside(nest), strict=True)),
        lanes=lanes,
        vector=vector,
        kept=kept,
        cost=total + (costs.get(stage.id, 0.0) if nest.innermost else 0.0),
        parts=tuple(parts),
    )


def _points_inside(nest: LoopNest) -> list[int]:
    """Points of the stage that one iteration of a level covers, by loop: the trip counts of its levels inside."""
    points = [1] * len(nest.sizes)
    level: LoopNest | None = nest
    while level is not None and not level.innermost:
        same = (child for child in level.children if (child.func, child.stage) == (nest.func, nest.stage))
        level = next(same, None)
        if level is not None:
            points = [count * size.count for count, size in zip(points, level.sizes, strict=True)]
    return points


def _stage_costs(state: State) -> Mapping[int, float]:
    """What the cost model says about each stage that is scheduled; in milliseconds as trained."""
    if state.num_decisions_made == 0:
        return {}
    environment = Environment(ObservationShape.of(state.space), skip_forced=False)
    environment.start(state)
    seen = environment.observe()
    return {int(stage): math.exp(seen["stage_costs"][stage]) for stage in np.flatnonzero(seen["scheduled"])}


def folded(level: Level, max_rows: int) -> Level:
    """The nest in no more rows than these, as far as that goes: the cheapest parts of each body become one."""
    thresholds = sorted({part.cost for part in level.walk() if part.kind != "root"})
    low, high = -1, len(thresholds) - 1
    while high - low > 1:  # the least threshold that folds enough
        middle = (low + high) // 2
        low, high = (low, middle) if _fold(level, thresholds[middle]).num_rows <= max_rows else (middle, high)
    return level if level.num_rows <= max_rows or not thresholds else _fold(level, thresholds[high])


def _fold(level: Level, threshold: float) -> Level:
    cheap = [part for part in level.parts if part.cost <= threshold and part.kind != "compute"]
    parts = [_fold(part, threshold) for part in level.parts if len(cheap) < 2 or part not in cheap]
    if len(cheap) > 1:
        cost = sum(part.cost for part in cheap)
        parts.insert(0, Level("folded", str(len(cheap)), level.depth + 1, cost=cost))
    return replace(level, parts=tuple(parts))
