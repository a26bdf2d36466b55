"""Tests of the recorder itself, and of our inference on what real searches feed to the cost model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from halidegym.agents.reference import Adams2019
from halidegym.native._core import Network
from halidegym.native.weights import builtin_weights
from oracle.builder_problem import AVX512, BuilderProblem
from oracle.trace import record


@pytest.mark.parametrize("name", ["blur", "matmul", "hist", "scan", "fanout", "several_updates", "two_outputs"])
def test_every_evaluation_is_recorded_and_predicted_to_the_bit(name: str, tmp_path: Path) -> None:
    result, batches = record(Adams2019(beam_size=2), BuilderProblem(name, parallelism=8), tmp_path)
    assert sum(len(batch.costs) for batch in batches) == result.evaluations
    assert max(len(batch.costs) for batch in batches) <= 1024

    stages = len(result.featurization) // 1304
    assert {batch.num_stages for batch in batches} <= set(range(1, stages + 1))
    complete = np.concatenate([batch.costs for batch in batches if batch.num_stages == stages])
    assert np.float32(result.cost) in complete

    model = Network(builtin_weights())
    for batch in batches:
        costs = model.predict(batch.pipeline_features, batch.schedule_features, batch.parallelism)
        np.testing.assert_array_equal(costs.view(np.uint32), batch.costs.view(np.uint32))


def test_batches_of_a_tabulated_pass(tmp_path: Path) -> None:
    """Pass 0 of the AVX-512 blur, as tabulated in docs/specification/search-and-cost-model.md, section 2.12."""
    _, batches = record(Adams2019(), BuilderProblem("blur", 16, AVX512), tmp_path)
    sizes = [(batch.num_stages, len(batch.costs)) for batch in batches]
    expected = [(1, 1), (1, 40), *[(2, 1024)] * 10, (2, 175), (2, 120), *[(3, 1024)] * 9, (3, 278), (3, 99)]
    assert sizes[: len(expected)] == expected
    assert {batch.parallelism for batch in batches} == {16}
