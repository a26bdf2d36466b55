"""resnet_50: each block computes what the network's layers say, at a reduced size, unscheduled and scheduled."""

from __future__ import annotations

import halide as hl
import numpy as np
import pytest

from halidegym import pipelines
from halidegym.envs.pipelines import resnet_50
from halidegym.envs.problems.snapshot import PipelineSnapshot
from pipeline_runs import SCHEDULED, SCHEDULED_SLOWLY, run

DIVISOR = 8
# Block: width and height of its input, channels of its input.
INPUTS = {
    "b0": (32, 3), "b1": (8, 32), "b3": (8, 32), "b4": (8, 64), "b7": (8, 64),
    "b8": (6, 128), "b13": (6, 128), "b14": (7, 256), "b15": (7, 256),
}  # fmt: skip
Parameters = dict[str, np.ndarray]


def parameters_of(pipeline: hl.Pipeline) -> Parameters:
    """Values that keep activations near 1; arrays are indexed in reverse, e.g. weights (in, row, column, out)."""
    random = np.random.default_rng(0)
    ranges = {"gamma": (0.5, 1.5), "beta": (-0.1, 0.1), "mu": (-0.1, 0.1), "sig": (0.5, 1.5)}
    values: Parameters = {}
    for parameter in PipelineSnapshot.take(pipeline).parameters:
        shape = [parameter.values[f"extent_estimate.{d}"][1] for d in reversed(range(parameter.dimensions))]
        low, high = ranges.get(parameter.name.rpartition("_")[2], (-1.0, 1.0))
        if parameter.name.endswith("weights"):
            high = (3 / np.prod(shape[:-1])) ** 0.5
            low = -high
        values[parameter.name] = random.uniform(low, high, shape).astype(np.float32)
    return values


# The network in NumPy, in float64; activations are indexed (row, column, channel).


def conv(p: Parameters, name: str, layer: np.ndarray, pad: int = 0, stride: int = 1) -> np.ndarray:
    weights = p[f"{name}_weights"].astype(np.float64)
    kernel = weights.shape[1]
    padded = np.pad(layer, ((pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(0, 1))[::stride, ::stride]
    out = np.einsum("hwcyx,cyxo->hwo", windows, weights)
    mu, sig, gamma, beta = (p[f"{name}_{key}"].astype(np.float64) for key in ("mu", "sig", "gamma", "beta"))
    return (out - mu) / np.sqrt(sig + 1e-5) * gamma + beta


def relu(layer: np.ndarray) -> np.ndarray:
    return np.maximum(layer, 0)


def network(block: str, p: Parameters) -> np.ndarray:
    layer = p["input"].astype(np.float64)
    if block == "b0":
        stem = np.pad(relu(conv(p, "stem", layer, pad=3, stride=2)), ((1, 1), (1, 1), (0, 0)))
        layer = np.lib.stride_tricks.sliding_window_view(stem, (3, 3), axis=(0, 1))[::2, ::2].max(axis=(-2, -1))
    stride = 2 if block in ("b3", "b7", "b13") else 1
    main = relu(conv(p, "conv2", relu(conv(p, "conv1", layer)), pad=1, stride=stride))
    shortcut = conv(p, "shortcut", layer, stride=stride) if block in ("b0", "b3", "b7", "b13") else layer
    out = relu(shortcut + conv(p, "conv3", main))
    if block == "b15":
        exponential = np.exp(out.mean(axis=(0, 1)) @ p["fc_weights"] + p["fc_bias"])
        return exponential / exponential.sum()
    return out


def small(block: str) -> hl.Pipeline:
    return pipelines.build(f"resnet_50/{block}", size=INPUTS[block][0], channel_divisor=DIVISOR)


@pytest.mark.parametrize(
    ("block", "scheduled"),
    [(block, False) for block in INPUTS]
    + [
        (block, True) if block in ("b1", "b15") else pytest.param(block, True, marks=pytest.mark.slow)
        for block in INPUTS
    ],
)
def test_blocks_compute_the_network(block: str, scheduled: bool) -> None:
    pipeline = small(block)
    parameters = parameters_of(pipeline)
    assert parameters["input"].shape == (INPUTS[block][0], INPUTS[block][0], INPUTS[block][1])
    expected = network(block, parameters)
    found = run(pipeline, np.zeros(expected.shape, np.float32), scheduled=scheduled, **parameters)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    if block == "b15":
        assert abs(found.sum() - 1) <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("block", ["b0", "b4"])
@SCHEDULED
def test_blocks_at_their_own_size_compute_the_network(block: str, scheduled: bool) -> None:
    pipeline = pipelines.build(f"resnet_50/{block}")
    parameters = parameters_of(pipeline)
    expected = network(block, parameters)
    found = run(pipeline, np.zeros(expected.shape, np.float32), scheduled=scheduled, **parameters)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@SCHEDULED_SLOWLY
def test_identity_block_without_a_main_path_is_a_relu(scheduled: bool) -> None:
    pipeline = small("b1")
    parameters = parameters_of(pipeline)
    for key in ("conv3_gamma", "conv3_beta"):
        parameters[key][:] = 0
    found = run(pipeline, np.zeros(parameters["input"].shape, np.float32), scheduled=scheduled, **parameters)
    np.testing.assert_array_equal(found, relu(parameters["input"]))


def test_multiplicities_are_those_of_sixteen_blocks() -> None:
    assert sum(resnet_50.MULTIPLICITIES.values()) == 16
    ones = dict.fromkeys(resnet_50.MULTIPLICITIES, 1.0)
    assert resnet_50.network_total(ones) == 16
    by_name = {f"resnet_50/{block}": value for block, value in (ones | {"b8": 3.0}).items()}
    assert resnet_50.network_total(by_name) == 16 + 5 * 2
    with pytest.raises(ValueError, match="sum over b0, b1"):
        resnet_50.network_total({"b0": 1.0})


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match=r"'b2'.*b0, b1, b3"):
        resnet_50.build("b2")
    with pytest.raises(ValueError, match="divided by 7"):
        resnet_50.build("b1", channel_divisor=7)
