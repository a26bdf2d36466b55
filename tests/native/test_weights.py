"""The .weights format and the built-in weights (docs/specification/search-and-cost-model.md, sections 4.4 and 4.5)."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.pipelines import toys
from halidegym.native._core import FormatError, InvalidParameter, Weights
from halidegym.native.weights import (
    builtin_weights,
    load_weights,
    make_weights,
    resolve_weights,
    save_weights,
    weights_hash,
)


def test_builtin_weights_are_the_published_ones() -> None:
    weights = builtin_weights()
    tensors = weights.tensors()
    assert weights_hash(weights) == "de088dc7285ad431cf3412bb00cc8e86eccc3bb75339e79999d445984d0bc44c"
    sums = [-330.796698527, -2.191671968, 14.710306655, -4.329055076, 923.385075814, 17.559201001]
    assert [float(tensor.sum(dtype=np.float64)) for tensor in tensors.values()] == pytest.approx(sums, abs=1e-8)
    head1 = tensors["head1_filter"]  # [type, operation, channel]
    assert [head1[0, 0, 0], head1[0, 0, 1], head1[0, 1, 0], head1[1, 0, 0]] == pytest.approx(
        [6.51862097, -7.85416603, -0.0144737661, 3.07277489], rel=1e-8
    )


def test_file_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "copy.weights"
    save_weights(builtin_weights(), path)
    assert path.stat().st_size == 17136
    assert load_weights(path) == builtin_weights()
    save_weights(make_weights({**builtin_weights().tensors(), "conv1_bias": np.zeros(32, np.float32)}), path)
    assert not load_weights(path).tensors()["conv1_bias"].any(), "a changed file is read again"


def test_weights_can_be_given_in_three_ways(tmp_path: Path) -> None:
    changed = make_weights({name: np.zeros_like(tensor) for name, tensor in builtin_weights().tensors().items()})
    save_weights(changed, tmp_path / "zero.weights")
    assert resolve_weights(None) == builtin_weights() != changed
    assert resolve_weights(changed) is changed
    assert resolve_weights(tmp_path / "zero.weights") == resolve_weights(str(tmp_path / "zero.weights")) == changed


def test_what_is_no_weights_is_named() -> None:
    with pytest.raises(InvalidParameter, match="weights=5 is a int; give Weights or the path"):
        resolve_weights(5)  # type: ignore[arg-type]


def test_trailing_bytes_are_ignored() -> None:
    data = builtin_weights().to_bytes()
    assert Weights.from_bytes(data + b"more") == builtin_weights()


def test_copies_are_equal() -> None:
    weights = builtin_weights()
    assert pickle.loads(pickle.dumps(weights)) == weights == copy.deepcopy(weights)
    assert hash(pickle.loads(pickle.dumps(weights))) == hash(weights)
    assert make_weights(weights.tensors()) == weights
    other = make_weights({**weights.tensors(), "head1_bias": np.ones(8, np.float32)})
    assert other != weights
    assert weights_hash(other) != weights_hash(weights)


@pytest.mark.parametrize(
    ("offset", "reason"),
    [
        (0, "signature"),
        (4, "version of the algorithm features"),
        (8, "version of the schedule features"),
        (12, "number of tensors"),
        (16, "number of dimensions of head1_filter"),
        (24, "an extent of head1_filter"),
        (9044 - 12, "number of dimensions of head2_filter"),
        (17008 - 4, "an extent of conv1_bias"),
    ],
)
def test_damaged_words_are_named(offset: int, reason: str) -> None:
    data = bytearray(builtin_weights().to_bytes())
    data[offset] ^= 64
    with pytest.raises(FormatError, match=rf"from here: the {reason}|from here: {reason}"):
        Weights.from_bytes(bytes(data), origin="here")


@pytest.mark.parametrize("size", [0, 3, 16, 31, 5000, 17135])
def test_truncated_data_is_refused(size: int) -> None:
    with pytest.raises(FormatError, match="ends too early"):
        Weights.from_bytes(builtin_weights().to_bytes()[:size])


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"absent\.weights: No such file"):
        load_weights(tmp_path / "absent.weights")


def test_a_tensor_of_another_shape_is_refused() -> None:
    with pytest.raises(FormatError, match="an extent of head2_filter is 23 instead of 24"):
        make_weights({**builtin_weights().tensors(), "head2_filter": np.zeros((39, 23), np.float32)})


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_that_is_not_finite_is_refused(value: float) -> None:
    bias = builtin_weights().tensors()["conv1_bias"].copy()
    bias[-1] = value
    with pytest.raises(FormatError, match="conv1_bias has values that are not finite"):
        make_weights({**builtin_weights().tensors(), "conv1_bias": bias})


def test_weights_whose_costs_are_no_numbers_are_refused_when_they_rate() -> None:
    tensors = builtin_weights().tensors()
    weights = make_weights({**tensors, "head2_filter": np.full_like(tensors["head2_filter"], 1e38)})
    with pytest.raises(InvalidParameter, match="'toy_blur'; give weights that are finite"):
        Greedy(weights=weights).plan(toys.problem("toy_blur"))
