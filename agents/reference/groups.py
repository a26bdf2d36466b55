"""What Mullapudi2016 decides, read off the source that it prints: which Funcs are computed together, in what tiles."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from halidegym.agents.reference.autoschedulers import Mullapudi2016
from halidegym.agents.reference.process import AutoschedulerFailed
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
        consumer: node id of the Func in whose loops it is computed; None at the root.
        in_tiles: whether that is inside of the consumer's tiles, and not only of its tasks.
        vector_dim: the dimension that is vectorized; None for none.
        task_sizes: by dimension, the extent of a parallel task; other dimensions are whole.
        tile_sizes: likewise of a tile in a task.
    """

    consumer: int | None = None
    in_tiles: bool = False
    vector_dim: int | None = None
    task_sizes: Mapping[int, int] = field(default_factory=dict)
    tile_sizes: Mapping[int, int] = field(default_factory=dict)


def mullapudi_groups(problem: SchedulingProblem, seconds: float | None = None) -> Mapping[int, Placement]:
    """Where Mullapudi2016 computes the Funcs of a pipeline (Mullapudi et al. 2016), by node id; the others are inlined.

    Nothing if the plugin rejects the problem, its process dies, or it takes longer than so many seconds. Else it is asked
    once, as it takes a second and more in a process of its own.
    """
    try:
        return _groups(problem, seconds)
    except AutoschedulerFailed:
        return {}


@functools.lru_cache(maxsize=8)
def _groups(problem: SchedulingProblem, seconds: float | None) -> Mapping[int, Placement]:
    schedule = Mullapudi2016().plan(problem, seconds=seconds).schedule
    assert isinstance(schedule, ReferenceSchedule)
    pipeline, ids = problem.pipeline(), {node.name: node.id for node in problem.nodes}
    nodes = {variable: ids[pipeline.get_func(int(index)).name()] for variable, index in _FUNC.findall(schedule.source)}
    blocks = {
        nodes[scheduled[1]]: pure
        for pure in (_UPDATE.split(block)[0] for block in _BLOCK.findall(schedule.source))
        if (scheduled := _SCHEDULED.search(pure)) is not None
    }
    loops = {node: _Loops.of(block) for node, block in blocks.items()}
    groups = {}
    for node, own in loops.items():
        at = _COMPUTE_AT.search(blocks[node])
        consumer = None if at is None else nodes[at[1]]
        in_tiles = at is not None and consumer in loops and at[2] in loops[consumer].of_tiles
        groups[node] = Placement(consumer, in_tiles, own.vector_dim, own.task_sizes, own.tile_sizes)
    return groups


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
