"""What the coefficients of the cost model are multiplied by: the cost of a stage is linear in them.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NUM_COEFFICIENTS = 32

_LARGEST_PAGE = 4096.0
# The formula gives nanoseconds, and costs are milliseconds of a machine with so many of them.
_UNIT = 1e-9
# Columns of the schedule features (section 3.1).
_REALIZATIONS, _PRODUCTIONS, _INNER_PARALLELISM, _OUTER_PARALLELISM = 0, 1, 9, 10
_BYTES_AT_REALIZATION, _BYTES_AT_PRODUCTION, _INLINED_CALLS = 11, 12, 17
_BYTES_PER_REALIZATION, _LINES_PER_REALIZATION, _WORKING_SET = 18, 19, 21
_VECTOR_SIZE, _VECTORS, _SCALARS = 22, 24, 25
_SCALAR_LOADS_PER_VECTOR, _VECTOR_LOADS_PER_VECTOR, _LOADS_PER_SCALAR = 26, 27, 28
_BYTES_AT_TASK, _INNERMOST_BYTES_AT_TASK = 29, 30
_BYTES_PER_VECTOR, _LINES_PER_VECTOR, _BYTES_PER_TASK, _LINES_PER_TASK = 31, 32, 33, 34


def cost_terms(
    schedule_features: NDArray[np.float64], is_first: NDArray[np.bool_], parallelism: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The terms of section 3.4: what each of the 32 coefficients of a stage contributes to its cost, if it is 1.

    Args:
        schedule_features: [R, 39], of stages.
        is_first: [R], whether a stage is the first one in the model's order, which has coefficients of its own (quirk C4).
        parallelism: [R], cores that the stage is scheduled for.

    Returns:
        [R, 32].
    """
    f = schedule_features.astype(np.float64).T
    terms = np.zeros((NUM_COEFFICIENTS, f.shape[1]))
    inner, outer = f[_INNER_PARALLELISM], f[_OUTER_PARALLELISM]
    realizations, productions, vectors, scalars = f[_REALIZATIONS], f[_PRODUCTIONS], f[_VECTORS], f[_SCALARS]
    tasks = np.maximum(1, inner * outer)
    tasks_per_core = tasks / parallelism
    waste = np.ceil(tasks_per_core) / np.maximum(1, tasks_per_core)
    is_inlined, is_parallel = f[_INLINED_CALLS] != 0, inner > 1
    for is_meant, first in ((~is_inlined, 0), (is_inlined, 2)):
        terms[first] = is_meant * waste * f[_VECTOR_SIZE] * vectors
        terms[first + 1] = is_meant * waste * scalars
    terms[5] = realizations * f[_LINES_PER_REALIZATION]
    terms[6] = realizations * f[_BYTES_PER_REALIZATION]
    terms[7] = vectors * f[_SCALAR_LOADS_PER_VECTOR]
    terms[8] = scalars * f[_LOADS_PER_SCALAR]
    terms[9] = vectors * f[_VECTOR_LOADS_PER_VECTOR]
    terms[10], terms[11] = scalars * f[_BYTES_PER_VECTOR], vectors * f[_BYTES_PER_VECTOR]
    terms[12], terms[13] = scalars * f[_LINES_PER_VECTOR], vectors * f[_LINES_PER_VECTOR]
    terms[14], terms[15] = tasks * f[_BYTES_PER_TASK], tasks * f[_LINES_PER_TASK]
    innermost = np.maximum(1, f[_INNERMOST_BYTES_AT_TASK])
    lines = inner * f[_BYTES_AT_TASK] / innermost
    places = (is_parallel, ~is_parallel & is_first, ~is_parallel & ~is_first)
    for place, is_meant in enumerate(places):  # all that is stored counts twice (quirk C1)
        terms[16 + place] = 2 * is_meant * realizations * lines
        terms[19 + place] = 2 * is_meant * realizations * f[_BYTES_AT_REALIZATION]
    terms[22] = 2 * is_parallel * (vectors + scalars) / innermost
    terms[23] = 2 * f[_BYTES_AT_PRODUCTION] * np.minimum(inner, _LARGEST_PAGE / innermost) * inner * outer
    terms[24] = realizations
    terms[25], terms[26] = productions * is_parallel, productions * (inner - 1)
    terms[27] = f[_WORKING_SET]
    terms *= _UNIT
    by_stage: NDArray[np.float64] = terms.T
    return by_stage
