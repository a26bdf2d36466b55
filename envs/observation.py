"""The observations of schedules: their space, and their tables in two dimensions.

Columns of the tables. *log2* of a number x is log2(1 + x), up to 64, so that 0 stands for none and 1 for a single one.
Costs are the cost model's; ratios of costs are natural logarithms from -20 to 20, and a cost of 0 is at these bounds.

`stage_features`, of a stage of the problem, whether scheduled or not:

| Columns | Content | Range |
|---|---|---|
| 0 to 6 | log2 of the extents of its first loops in one run of the pipeline, innermost first; 0: no such loop | 0 to 64 |
| 7 | log2 of the product of all its extents: its iterations | 1 to 64 |
| 8, 9 | log2 of the bytes of a point of its Func, and of the points of the region that the Func computes | 0 to 64 |
| 10 | log2 of the lanes of a vector | 1 to 8 |
| 11, 12 | log2 of the number of stages that read its Func, and of the Funcs that the stage reads | 0 to 64 |
| 13 | log2 of the cores | 1 to 31 |
| 14, 15, 16 | number of its loops, of dimensions of its Func, of its loops over reduction variables | 0 to 16 |
| 17 to 20 | its Func is an input, an output, pointwise, a boundary condition | 0 or 1 |
| 21, 22 | it is an update, it reads an image | 0 or 1 |
| 23 | place of its Func among the nodes: index / number; outputs come first | 0 to 1 |

`edge_features`, of the edge in the same row of `edges`; one that joins two stages of a Func has only the last column. Of the
dimensions of the producer, those are *constant* of which the consumer reads the same whatever its loops do, and *affine*
those that move with one loop by a fixed stride:

| Columns | Content | Range |
|---|---|---|
| 0 | log2 of the calls of the producer in the definition of the consumer | 0 to 64 |
| 1 | log2 of the points that an iteration reads, over the constant and the affine dimensions | 0 to 64 |
| 2 | sum of log2(stride), as it is, over the affine dimensions | 0 to 64 |
| 3, 4 | number of dimensions that are neither, and of constant ones | 0 to 16 |
| 5 | log2 of the number of different load Jacobians: ways in which loads move with the loops | 0 to 64 |
| 6, 7 | it is a load, it joins two stages of a Func | 0 or 1 |

`decisions`, of a legal decision. Trip counts are log2, innermost loop first; L is the observation's number of loops:

| Columns | Content | Range |
|---|---|---|
| 0 to 3 | kind, one-hot: pass, inline, compute_at_level, compute_at_tile, | 0 or 1 |
| 4 to 8 | store_at_tile, store_at_tile_split, store_at_level, store_at_level_split, parallelize | 0 or 1 |
| 9 | depth of the level that the Func is placed in; the root is 0 | 0 to 4 S |
| 10 | 1 + the storage dimension that is vectorized; 0 for kinds that do not place | 0 to 16 |
| 11 to 10 + L | trip counts of the level | 0 to 64 |
| 11 + L to 10 + 2 L | trip counts of the outer tile that the level is split into; for parallelize: the tasks | 0 to 64 |
| 11 + 2 L to 10 + 3 L | trip counts of the outer tile of a second split | 0 to 64 |
| 11 + 3 L to 13 + 3 L | log2 of the products of these three; 0 where there is no such tuple | 0 to 64 |
| 14 + 3 L | there is a second split | 0 or 1 |
| 15 + 3 L | log2 of the iterations of the inner half of the first split, or of a task of the Func's pure stage | 0 to 64 |
| 16 + 3 L | log2(tasks / cores), as it is; 0 for other kinds than parallelize | -31 to 64 |
| 17 + 3 L | share of the cores that idle during the last round of tasks | 0 to 1 |
| 18 + 3 L to 21 + 3 L | log2 of the extents of what is computed of the Func each time that the body is run in which it is \
stored, of the first four storage dimensions | 0 to 64 |
| 22 + 3 L | that of the dimension that is vectorized | 0 to 64 |
| 23 + 3 L to 25 + 3 L | log2 of the number of these times, of the points computed each time, of their bytes | 0 to 64 |
| 26 + 3 L | log2(points in all / points of the Func computed at the root), as it is: redundant work | -64 to 64 |
| 27 + 3 L | log2 of the points each time in the body inside: the inner half of the first split, or the level that a \
window slides in; the same again without one | 0 to 64 |
| 28 + 3 L | log2(points in all / points at the root) there, as it is | -64 to 64 |

`decision_features`, of the state that a legal decision leads to:

| Columns | Content | Range |
|---|---|---|
| 0 | log(cost / greedy cost) | -20 to 20 |
| 1, 2 | log of the part of the cost that is of the Func being decided, and of that of the others | -20 to 20 |
| 3 | log(cost / least cost among the decisions shown) | 0 to 20 |
| 4 to 42 | log(1 + f) of the 39 schedule features, each summed over the stages of the Func being decided | 0 to 64 |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from halidegym.native._core import ObservationShape

Observation = dict[str, Any]
"""Arrays by their names; `HalideSchedule` describes them."""

# Features are log(1 + x) of numbers up to 2^63, trip counts log2(1 + x); stages and depths are small integers. Tasks per
# core can be less than one, and costs are natural logarithms of ratios.
_MAX_SCALED = 64.0
_MAX_LOG_RATIO = 20.0
_MAX_PLACE = 3  # where a Func is computed: undecided, inlined, at the root, within another's loops

# Of the tables in an observation, except for `decisions`, which depends on the problem.
_COLUMNS = {
    "algorithm_features": 280,
    "stage_features": 24,
    "schedule_features": 39,
    "edges": 2,
    "edge_features": 8,
    "decision_features": 43,
}


def observation_space(shape: ObservationShape) -> spaces.Dict:
    """The space of observations of this shape."""
    stages, edges, decisions = shape.stages, shape.edges, shape.decisions

    def scaled(key: str, rows: int, low: float = 0) -> spaces.Box:
        return spaces.Box(low, _MAX_SCALED, (rows * _COLUMNS[key],), np.float32)

    parts = {
        "algorithm_features": scaled("algorithm_features", stages),
        "stage_features": scaled("stage_features", stages),
        "schedule_features": scaled("schedule_features", stages),
        "stage_costs": spaces.Box(-_MAX_LOG_RATIO, _MAX_LOG_RATIO, (stages,), np.float32),
        "stage_mask": spaces.MultiBinary(stages),
        "scheduled": spaces.MultiBinary(stages),
        "deciding": spaces.MultiBinary(stages),
        "places": spaces.Box(0, _MAX_PLACE, (stages,), np.int8),
        "phase": spaces.MultiBinary(2),
        "decided": spaces.Box(0, 1, (1,), np.float32),
        "edges": spaces.Box(-1, stages - 1, (edges * _COLUMNS["edges"],), np.int32),
        "edge_features": scaled("edge_features", edges),
        "decisions": spaces.Box(
            -_MAX_SCALED, _MAX_SCALED + 4 * stages, (decisions * shape.descriptor_size,), np.float32
        ),
        "decision_stage": spaces.Box(-1, stages - 1, (decisions,), np.int32),
        "action_mask": spaces.MultiBinary(decisions),
    }
    if shape.child_features:
        parts["decision_features"] = scaled("decision_features", decisions, -_MAX_LOG_RATIO)
    return spaces.Dict(parts)


def tables(observation: Observation, shape: ObservationShape) -> Observation:
    """The observation with its tables in two dimensions: one row a stage, edge or decision. Views, no copies.

    Takes batches, too: any dimensions before the last one stay.
    """
    columns = {**_COLUMNS, "decisions": shape.descriptor_size}
    return {
        key: value.reshape(*value.shape[:-1], -1, columns[key]) if key in columns else value
        for key, value in observation.items()
    }
