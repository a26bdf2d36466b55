"""Inference against the plugin's compiled cost model, bit for bit.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from halidegym.agents.reference.process import plugin_path
from halidegym.native._core import InstructionSet, InvalidParameter, Network, available_instruction_sets
from halidegym.native.weights import builtin_weights, make_weights
from oracle.plugin_cost_model import Request, plugin_predict


def bits(costs: NDArray[np.float32]) -> list[str]:
    assert costs.dtype == np.float32
    return [f"{word:08x}" for word in costs.view(np.uint32)]


def predict(request: Request, instruction_set: InstructionSet) -> NDArray[np.float32]:
    model = Network(make_weights(request.weights), instruction_set)
    return model.predict(request.pipeline_features, request.schedule_features, request.parallelism)


def random_request(rng: np.random.Generator, batch: int, stages: int, noise: float) -> Request:
    """Feature values over many magnitudes, with the zeros and ones that select the cases of the formula."""
    features = np.exp(rng.uniform(0, 17, (batch, stages, 39))).astype(np.float32)
    features = np.where(rng.random(features.shape) < 0.5, np.floor(features), features)
    features[rng.random(features.shape) < 0.1] = 0
    features[rng.random(features.shape) < 0.1] = 1
    features[:, :, 17] *= rng.random((batch, stages)) < 0.3  # mostly not inlined
    features[:, :, 9] = np.minimum(features[:, :, 9], 4096)
    pipeline = np.floor(np.exp(rng.uniform(-3, 4, (stages, 7, 40)))).astype(np.float32)
    weights = {
        name: (tensor + rng.normal(0, 1, tensor.shape) * noise).astype(np.float32)
        for name, tensor in builtin_weights().tensors().items()
    }
    return Request(weights, pipeline, features, int(rng.integers(1, 65)))


def test_random_features_agree_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    sizes = [(b, s) for b in (1, 3, 7, 8, 9, 16, 33, 130) for s in (0, 1, 2, 5, 12, 19)] + [(1024, 4)]
    requests = [random_request(rng, b, s, noise) for b, s in sizes for noise in (0, 0.3)]
    # Weights so large that the logistic function reaches both of its ends.
    requests += [random_request(rng, 40, 6, 100.0)]
    reference = plugin_predict(plugin_path("Adams2019"), requests)
    assert sum(map(len, reference)) > 4000
    for request, expected in zip(requests, reference, strict=True):
        for instruction_set in available_instruction_sets():
            costs = predict(request, instruction_set)
            np.testing.assert_array_equal(costs.view(np.uint32), expected.view(np.uint32))


ROW_A = np.arange(1, 40, dtype=np.float64)
ROW_B = np.where(np.arange(39) == 17, 0, ROW_A)
ROW_C = np.where(np.arange(39) == 9, 1, ROW_B)
PIPELINE = np.fromfunction(lambda s, y, x: (7 * x + y) % 3 + 0 * s, (3, 7, 40))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([ROW_A], "3c2cf1c4"),
        ([ROW_B], "3c2d4b3c"),
        ([ROW_C], "3abc408b"),
        ([ROW_A, ROW_B, ROW_C], "3cb8ddf6"),
    ],
    ids="ABCD",
)
def test_published_vectors(rows: list[NDArray[np.float64]], expected: str) -> None:
    model = Network(builtin_weights())
    assert bits(model.predict(PIPELINE[: len(rows)], np.array(rows), 16)) == [expected]


@pytest.mark.parametrize(("value", "expected"), [(1, "369182d9"), (0, "00000000")])
def test_constant_vectors(value: int, expected: str) -> None:
    model = Network(builtin_weights())
    assert bits(model.predict(np.full((1, 7, 40), value), np.full((1, 39), value), 16)) == [expected]


def test_a_real_schedule() -> None:
    """The best state of the AVX-512 blur of section 2.12."""
    by = {(0, 3): 2, (0, 5): 1, (2, 3): 8, (4, 3): 2, (4, 5): 2, (7, 5): 1, (20, 5): 3, (24, 5): 3}
    by |= {(27, 5): 1, (28, 5): 3, (31, 5): 1, (32, 5): 3, (35, 5): 1, (36, 5): 3, (39, 5): 1}
    edge = {(0, 3): 4, (2, 3): 4, (9, 3): 2, (10, 3): 2, (20, 5): 1, (22, 3): 2}
    edge |= {(row, 5): 1 for row in (27, 31, 35, 39)}
    pipeline = np.zeros((3, 7, 40))
    for stage, counts in enumerate((by, by, edge)):
        for (row, scalar_type), count in counts.items():
            pipeline[stage, scalar_type, row] = count
    rows = [
        "1 1 4194304 4194304 4194304 4194304 8 8 8 128 1 16777216 16777216 16777216 8192 8192 8192 0 768 6 768 13104 "
        "16 16 262144 0 0 3 3 131072 8192 192 3 147456 18 13104 16790320 16790320 16790320",
        "32768 32768 192 192 6291456 4198400 12 12 12 1 128 768 768 16793600 128 128 8192 0 816 6 12336 0 16 16 393216 "
        "0 0 3 3 768 128 72 1 0 0 13104 768 768 16790320",
        "512 2048 9252 3168 4737024 4202500 198 198 1 1 128 37008 12336 16810000 2056 2056 8200 0 37008 18 "
        "16777216 0 16 16 294912 18432 16 0 1 37008 2056 64 1 0 0 13104 768 13104 16790320",
    ]
    features = np.array([row.split() for row in rows], np.float64)
    assert Network(builtin_weights()).predict(pipeline, features, 16)[0] == np.float32(0.86437875)


@pytest.mark.parametrize(
    ("pipeline_shape", "schedule_shape"),
    [((2, 7, 40), (3, 39)), ((1, 40, 7), (1, 39)), ((1, 7, 40), (1, 38)), ((1, 7, 40), (39,)), ((280,), (1, 39))],
)
def test_wrong_shapes_are_refused(pipeline_shape: tuple[int, ...], schedule_shape: tuple[int, ...]) -> None:
    model = Network(builtin_weights())
    with pytest.raises(InvalidParameter, match="do not fit"):
        model.predict(np.zeros(pipeline_shape), np.zeros(schedule_shape), 16)


def test_arrays_may_lie_anywhere() -> None:
    model = Network(builtin_weights())
    features = np.arange(2 * 39, dtype=np.float64).reshape(2, 39)
    pipeline = np.arange(2 * 280, dtype=np.float32).reshape(2, 7, 40)
    odd_features = np.frombuffer(b"\0" + features.tobytes(), np.float64, offset=1).reshape(2, 39)
    odd_pipeline = np.frombuffer(b"\0" + pipeline.tobytes(), np.float32, offset=1).reshape(2, 7, 40)
    assert not odd_features.flags.aligned and not odd_pipeline.flags.aligned
    assert bits(model.predict(odd_pipeline, odd_features, 16)) == bits(model.predict(pipeline, features, 16))


def test_no_cores_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="parallelism is 0"):
        Network(builtin_weights()).predict(np.zeros((1, 7, 40)), np.zeros((1, 39)), 0)
