"""Estimates proposed from the sizes of example inputs."""

from __future__ import annotations

import math
from collections.abc import Callable

import halide as hl
import pytest

from halidegym.envs.problems.snapshot import Estimate
from halidegym.envs.sources import load_problem
from halidegym.native._core import InvalidParameter

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
X, Y, C = hl.Var("x"), hl.Var("y"), hl.Var("c")


def image(dimensions: int = 2) -> hl.ImageParam:
    return hl.ImageParam(hl.UInt(8), dimensions, "image")


def stencil() -> hl.Func:
    source, out = image(), hl.Func("out")
    out[X, Y] = source[X - 1, Y] + source[X + 2, Y - 3]
    return out


def halved() -> hl.Func:
    source, out = image(), hl.Func("out")
    out[X, Y] = source[2 * X - 1, Y] + source[2 * X + 1, 2 * Y]
    return out


def grey() -> hl.Func:
    source, out = image(3), hl.Func("out")
    out[X, Y] = source[X, Y, 0] + source[X, Y, 1] + source[X + 1, Y, 2]
    return out


def clamped() -> hl.Func:
    source, out = image(), hl.Func("out")
    inside = hl.BoundaryConditions.repeat_edge(source)
    out[X, Y] = inside[X - 1, Y] + inside[X + 1, Y]
    return out


def transposed() -> hl.Func:
    source, out = image(), hl.Func("out")
    out[X, Y] = source[Y, X]
    return out


def told() -> hl.Func:
    out = clamped()
    out.set_estimates([(0, 7), (0, 8)])
    return out


def with_scalars() -> hl.Func:
    source, out = image(), hl.Func("out")
    shift, radius, ranged = (
        hl.Param(hl.Int(32), "shift", 5),
        hl.Param(hl.Int(32), "radius"),
        hl.Param(hl.Int(32), "ranged"),
    )
    ranged.set_range(2, 8)
    out[X, Y] = source[X + shift, Y + radius] + source[X + ranged, Y]
    return out


def proposed(build: Callable[[], hl.Func | hl.Pipeline], **examples: tuple[int, ...]) -> dict[str, Estimate]:
    """What is proposed; inputs are then large enough for all that is read."""
    found: dict[str, Estimate] = {}
    problem = load_problem(build, target=TARGET, parallelism=1, example_inputs=examples, on_proposal=found.update)
    assert problem.name == build.__name__
    assert problem.undersized_inputs() == []
    return {name.partition("$")[0]: estimate for name, estimate in found.items()}


@pytest.mark.parametrize(
    ("build", "size", "region"),
    [
        (stencil, (1920, 1080), [(1, 1917), (3, 1077)]),
        (halved, (1920, 1080), [(1, 959), (0, 540)]),
        (grey, (640, 480, 3), [(0, 639), (0, 480)]),
        (clamped, (640, 480), [(0, 640), (0, 480)]),
        (transposed, (640, 480), [(0, 480), (0, 640)]),
    ],
)
def test_outputs_are_as_large_as_inputs_allow(
    build: Callable[[], hl.Func], size: tuple[int, ...], region: list[tuple[int, int]]
) -> None:
    found = proposed(build, image=size)
    assert found == {"image": [(0, extent) for extent in size], "out": region}


def test_an_output_grows_into_the_room_of_larger_inputs() -> None:
    def product() -> hl.Func:
        a, b, c = (hl.ImageParam(hl.Float(32), 2, name) for name in "abc")
        k, out = hl.RDom([(0, 128)], "k"), hl.Func("out")
        out[X, Y] = c[X, Y]
        out[X, Y] += a[k, X] * b[k, Y]
        return out

    assert proposed(product, a=(128, 96), b=(128, 112), c=(96, 112))["out"] == [(0, 96), (0, 112)]


def test_inputs_begin_where_they_promise_to() -> None:
    def shifted() -> hl.Func:
        source, out = image(), hl.Func("out")
        source.dim(0).set_min(-4)
        source.dim(1).set_min(10)
        out[X, Y] = source[X, Y]
        return out

    assert proposed(shifted, image=(200, 100)) == {"image": [(-4, 200), (10, 100)], "out": [(0, 196), (10, 100)]}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_an_output_provides_what_others_read(order: tuple[int, ...]) -> None:
    def chain() -> hl.Pipeline:
        source, stages = image(), [hl.Func("first"), hl.Func("second"), hl.Func("third")]
        stages[0][X, Y] = source[X, Y] + source[X + 1, Y]
        stages[1][X, Y] = stages[0][X, Y] + stages[0][X + 2, Y]
        stages[2][X, Y] = stages[0][X, Y] + stages[1][X, Y + 4]
        return hl.Pipeline([stages[place] for place in order])

    found = proposed(chain, image=(640, 480))
    assert found["first"] == [(0, 639), (0, 480)]
    assert found["second"] == [(0, 637), (0, 480)]
    assert found["third"] == [(0, 637), (0, 476)]


def test_what_one_output_reads_does_not_hide_what_another_does() -> None:
    def two() -> hl.Pipeline:
        source, left, right = image(), hl.Func("left"), hl.Func("right")
        left[X, Y] = source[X - 2, Y] + source[X + 1, Y]
        right[X, Y] = source[X - 1, Y] + source[X + 3, Y]
        return hl.Pipeline([left, right])

    found = proposed(two, image=(640, 480))
    assert (found["left"], found["right"]) == ([(2, 637), (0, 480)], [(1, 636), (0, 480)])


def test_what_the_pipeline_says_is_not_proposed() -> None:
    assert set(proposed(told, image=(640, 480))) == {"image"}


def test_what_the_pipeline_says_of_a_dimension_stays() -> None:
    def frames(say: Callable[[hl.Func], object]) -> dict[str, Estimate]:
        def build() -> hl.Pipeline:
            out, differences = hl.Func("out"), hl.Func("differences")
            out[X, Y, C] = image()[X, Y] * hl.u8(C)
            differences[X, Y] = out[X, Y, 3] - out[X + 1, Y, 5]
            say(out)
            return hl.Pipeline([differences, out])

        return proposed(build, image=(640, 480))

    whole = [(0, 640), (0, 480)]
    for said in (frames(lambda out: out.set_estimate(C, 2, 16)), frames(lambda out: out.bound(C, 2, 16))):
        assert (said["out"], said["differences"]) == ([*whole, (2, 16)], [(0, 639), (0, 480)])
    narrow = frames(lambda out: out.set_estimate(C, 3, 3).set_estimate(X, 10, 300))
    assert (narrow["out"], narrow["differences"]) == ([(10, 300), (0, 480), (3, 3)], [(10, 299), (0, 480)])


def test_scalars_are_their_value_or_the_middle_of_their_range_or_one() -> None:
    found = proposed(with_scalars, image=(640, 480))
    assert {name: found[name] for name in ("shift", "radius", "ranged")} == {"shift": 5, "radius": 1, "ranged": 5}
    assert found["out"] == [(0, 635), (0, 479)]


def test_a_scalar_whose_value_is_zero_is_proposed_as_zero() -> None:
    def build() -> hl.Func:
        source, out = image(), hl.Func("out")
        out[X, Y] = source[X + hl.Param(hl.Int(32), "shift", 0), Y]
        return out

    assert proposed(build, image=(640, 480))["shift"] == 0


def test_a_scalar_with_one_limit_is_proposed_within_it() -> None:
    def build() -> hl.Func:
        source, out = image(), hl.Func("out")
        least, most, wide = (hl.Param(hl.Int(32), name) for name in ("least", "most", "wide"))
        least.set_min_value(3)
        most.set_max_value(-2)
        wide.set_max_value(7)
        endless = hl.Param(hl.Float(32), "endless")
        endless.set_range(2, math.inf)
        out[X, Y] = source[X + least, Y + most] + source[X + wide, Y] * endless
        return out

    found = proposed(build, image=(640, 480))
    scalars = ("least", "most", "wide", "endless")
    assert {name: found[name] for name in scalars} == {"least": 3, "most": -2, "wide": 1, "endless": 2}


def test_a_value_beyond_its_own_limits_is_not_proposed() -> None:
    def build() -> hl.Func:
        out, shift = hl.Func("out"), hl.Param(hl.Int(32), "shift", 5)
        shift.set_range(6, 8)
        out[X, Y] = image()[X + shift, Y]
        return out

    assert proposed(build, image=(640, 480))["shift"] == 7


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        ({"photo": (640, 480)}, "no input 'photo'"),
        ({"image": (640,)}, "give 2 extents"),
        ({"image": (640, 0)}, "at least 1"),
    ],
)
def test_examples_have_to_fit(examples: dict[str, tuple[int, ...]], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        proposed(stencil, **examples)


def test_single_values_have_no_size() -> None:
    def scaled() -> hl.Func:
        factor, out = hl.ImageParam(hl.UInt(8), 0, "factor"), hl.Func("out")
        out[X, Y] = image()[X, Y] * factor[()]
        return out

    assert set(proposed(scaled, image=(640, 480))) == {"image", "out"}


def test_every_input_needs_a_size() -> None:
    def two() -> hl.Func:
        other, out = hl.ImageParam(hl.UInt(8), 1, "other"), hl.Func("out")
        out[X, Y] = image()[X, Y] + other[X]
        return out

    with pytest.raises(InvalidParameter, match="--estimate-from other=EXTENT"):
        proposed(two, image=(640, 480))


def test_an_input_needs_a_size_in_each_dimension() -> None:
    def two() -> hl.Func:
        other, out = hl.ImageParam(hl.UInt(8), 2, "other"), hl.Func("out")
        other.dim(1).set_estimate(0, 480)
        out[X, Y] = image()[X, Y] + other[X, Y]
        return out

    with pytest.raises(InvalidParameter, match=r"neither all estimates nor .* --estimate-from other=EXTENT,EXTENT"):
        proposed(two, image=(640, 480))
