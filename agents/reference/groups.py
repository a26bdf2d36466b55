"""What Mullapudi2016 decides, read off the source that it prints: which Funcs are computed together, in what tiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from halidegym.agents.reference.autoschedulers import Mullapudi2016
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule

_FUNC = re.compile(r"^Func (\w+) = pipeline\.get_func\((\d+)\);", re.MULTILINE)
_BLOCK = re.compile(r"^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_SCHEDULED = re.compile(r"^    (\w+)$", re.MULTILINE)
_UPDATE = re.compile(r"^    \w+\.update\(\d+\)$", re.MULTILINE)  # after the pure definition
_ARGUMENT = re.compile(r"Var (\w+) = \w+\.args\(\)\[(\d+)\]")
_SPLIT = re.compile(r"\.split\((\w+), (\w+), (\w+), (\d+)")
_COMPUTE_AT = re.compile(r"\.compute_at\((\w+), (\w+)\)")
_VECTORIZE, _PARALLEL = re.compile(r"\.vectorize\((\w+)\)"), re.compile(r"\.parallel\((\w+)\)")


@dataclass(frozen=True)
class Placement:
    """Where a Func is computed, which is not inlined.

    Attributes:
        consumer: the Func in whose loops it is computed; empty at the root.
        in_tiles: whether that is inside of the consumer's tiles, and not only of its tasks.
        vector_dim: the dimension that is vectorized; None for none.
        task_sizes: by dimension, the extent of a parallel task; other dimensions are whole.
        tile_sizes: likewise of a tile in a task.
    """

    consumer: str = ""
    in_tiles: bool = False
    vector_dim: int | None = None
    task_sizes: Mapping[int, int] = field(default_factory=dict)
    tile_sizes: Mapping[int, int] = field(default_factory=dict)


def mullapudi_groups(problem: SchedulingProblem, seconds: float | None = None) -> dict[str, Placement]:
    """Where Mullapudi2016 computes the Funcs of a pipeline (Mullapudi et al. 2016), by name; the others are inlined.

    Raises:
        AutoschedulerFailed: the plugin rejected the problem, its process died, or time or memory ran out.
    """
    schedule = Mullapudi2016().plan(problem, seconds=seconds).schedule
    assert isinstance(schedule, ReferenceSchedule)
    pipeline = problem.pipeline()
    names = {variable: pipeline.get_func(int(index)).name() for variable, index in _FUNC.findall(schedule.source)}
    blocks = {
        names[scheduled[1]]: pure
        for pure in (_UPDATE.split(block)[0] for block in _BLOCK.findall(schedule.source))
        if (scheduled := _SCHEDULED.search(pure)) is not None
    }
    return {func: _placement(block, blocks, names) for func, block in blocks.items()}


def _placement(block: str, blocks: Mapping[str, str], names: Mapping[str, str]) -> Placement:
    loops = _Loops.of(block)
    computed = _COMPUTE_AT.search(block)
    consumer = "" if computed is None else names[computed[1]]
    return Placement(
        consumer=consumer,
        in_tiles=computed is not None and consumer in blocks and computed[2] in _Loops.of(blocks[consumer]).of_tiles,
        vector_dim=loops.vector_dim,
        task_sizes=loops.task_sizes,
        tile_sizes=loops.tile_sizes,
    )


@dataclass(frozen=True)
class _Loops:
    """The loops of a Func: which dimension is vectorized, and what the outer ones go through, in steps of what size."""

    vector_dim: int | None
    of_tiles: frozenset[str]
    task_sizes: Mapping[int, int]
    tile_sizes: Mapping[int, int]

    @classmethod
    def of(cls, block: str) -> _Loops:
        vectors, parallel = set(_VECTORIZE.findall(block)), set(_PARALLEL.findall(block))
        dims = {variable: int(index) for variable, index in _ARGUMENT.findall(block)}
        sizes = dict.fromkeys(dims, 1)  # of a step of each loop
        outer, vector_dim = set[str](), None
        for old, outside, inside, size in _SPLIT.findall(block):
            if old not in dims:
                continue
            dims[outside] = dims[inside] = dims[old]
            if inside in vectors:
                vector_dim = dims[inside]
            else:
                outer.add(outside)
                sizes[outside] = int(size)
        tiles = outer - parallel
        return cls(
            vector_dim,
            frozenset(tiles),
            {dims[loop]: sizes[loop] for loop in parallel if loop in sizes},
            {dims[loop]: sizes[loop] for loop in tiles},
        )
