"""The strongest oracle: every state that a search evaluates, partial ones included, in order, with features and cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pipelines_for_tests
from halidegym import SchedulingProblem
from halidegym.agents.reference import Adams2019
from halidegym.native._core import BeamOptions, Space, evaluated_states
from halidegym.native.weights import builtin_weights
from oracle.builder_problem import SSE_AVX2
from oracle.trace import record

SETTINGS = [
    ("blur", 16, 2, 100),
    ("hist", 16, 8, 100),
    ("lookthrough", 16, 4, 100),
    ("fanout", 8, 4, 50),
    ("scan", 4, 8, 100),
    ("several_updates", 16, 8, 100),
    ("tuple_of_types", 4, 8, 100),
    ("two_outputs", 8, 4, 100),
    ("triangular", 16, 8, 100),
    ("odd_sizes", 3, 2, 100),
    ("scalar_sum", 16, 8, 100),
    ("stencil3", 1, 4, 80),
]


@pytest.mark.parametrize(("name", "parallelism", "beam_size", "dropout"), SETTINGS)
def test_search_evaluates_what_the_plugin_evaluates(
    name: str, parallelism: int, beam_size: int, dropout: int, tmp_path: Path
) -> None:
    pipeline = pipelines_for_tests.ALL[name]()
    problem = SchedulingProblem.from_pipeline(pipeline, target=SSE_AVX2, parallelism=parallelism)
    plugin = Adams2019(beam_size=beam_size, random_dropout=dropout, random_dropout_seed=3, memoized_features=False)
    result, batches = record(plugin, problem, tmp_path)
    space = Space(problem.native, builtin_weights())
    ours = iter(evaluated_states(space, BeamOptions(beam_size=beam_size, random_dropout=dropout, seed=3)))
    for batch in batches:
        for theirs, their_cost in zip(batch.schedule_features, batch.costs, strict=True):
            features, cost = next(ours)
            np.testing.assert_array_equal(features, theirs)
            assert np.float32(cost) == their_cost
    assert next(ours, None) is None
    assert sum(len(batch.costs) for batch in batches) == result.evaluations
