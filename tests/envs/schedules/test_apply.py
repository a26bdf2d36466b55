"""A schedule is applied to any pipeline that is built like the one that it was made for."""

from __future__ import annotations

import re
from collections.abc import Callable

import halide as hl
import numpy as np
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core
from oracle.builder_problem import SSE_AVX2
from schedules_for_tests import random_schedule, refused_schedule

IMAGE = np.add.outer(5 * np.arange(48), np.arange(64)).astype(np.int32)


def reduction() -> hl.Func:
    """Funcs and reduction domains have other unique names each time."""
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 7)], "r")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x * 3 + y
    g[x, y] = 0
    g[x, y] += f[x + r, y]
    g.set_estimates([(0, 64), (0, 48)])
    return g


def nameless() -> hl.Func:
    """Twelve Funcs that Halide names: their order by name changes from f9 to f10."""
    x, y = hl.Var(), hl.Var()
    funcs = [hl.Func() for _ in range(12)]
    funcs[0][x, y] = x + y
    funcs[1][x, y] = x - y
    for a, b, func in zip(funcs, funcs[1:], funcs[2:], strict=False):
        func[x, y] = a[x, y] + b[x + 1, y] * 2
    funcs[-1].set_estimates([(0, 64), (0, 48)])
    return funcs[-1]


def with_boundary() -> hl.Func:
    """As in docs/how-to/bring-your-own-pipeline.md: the boundary condition is a lambda, which Halide numbers."""
    x, y, image = hl.Var("x"), hl.Var("y"), hl.ImageParam(hl.Int(32), 2)
    inside = hl.BoundaryConditions.repeat_edge(image)
    rows, blurred = hl.Func("rows"), hl.Func("blurred")
    rows[x, y] = inside[x - 1, y] + inside[x, y] + inside[x + 1, y]
    blurred[x, y] = rows[x, y - 1] + rows[x, y] + rows[x, y + 1]
    blurred.set_estimates([(0, 64), (0, 48)])
    image.set_estimates([(0, 64), (0, 48)])
    image.set(hl.Buffer(IMAGE))
    return blurred


@pytest.mark.parametrize("build", [reduction, nameless, with_boundary])
def test_apply_to_a_pipeline_that_is_built_again(build: Callable[[], hl.Func]) -> None:
    schedules = [random_schedule(SchedulingProblem.from_pipeline(build, target="host"), seed) for seed in range(3)]
    expected = np.asarray(build().realize([64, 48]))
    for schedule in schedules:
        again = build()
        schedule.apply(again)
        np.testing.assert_array_equal(np.asarray(again.realize([64, 48])), expected)


def test_each_func_gets_its_own_directives() -> None:
    """`left` and `right` differ in their names and in nothing else but their place."""

    def build(names: tuple[str, str]) -> tuple[hl.Func, hl.Func, hl.Func]:
        x = hl.Var("x")
        left, right, out = hl.Func(names[0]), hl.Func(names[1]), hl.Func("out")
        left[x] = hl.f32(x)
        right[x] = hl.f32(x)
        out[x] = left[x] + left[x + 1] + right[x]
        out.set_estimates([(0, 1 << 16)])
        return left, right, out

    left, right, out = build(("plum", "quince"))
    problem = SchedulingProblem.from_pipeline(out, target=SSE_AVX2)
    schedules = (random_schedule(problem, seed) for seed in range(50))
    # Halide numbers a name that it has met, or another one of the same hash, in this process.
    plum, quince = (func.name().replace("$", "_") for func in (left, right))
    only_left = next(
        found for found in schedules if f"\n{plum}\n" in found.cpp() and f"\n{quince}\n" not in found.cpp()
    )
    for names in (("plum", "quince"), ("quince", "plum")):
        left, right, out = build(names)
        only_left.apply(out)
        assert (is_scheduled(left), is_scheduled(right)) == (True, False)


def is_scheduled(func: hl.Func) -> bool:
    try:
        SchedulingProblem.from_pipeline(func, estimates={func.name(): [(0, 64)]})
    except _core.UnsupportedPipeline:
        return True
    return False


def test_apply_says_what_differs() -> None:
    schedule = random_schedule(SchedulingProblem.from_pipeline(reduction, target=SSE_AVX2), 0)
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 7), (0, 2)], "r")

    def other(dimensions: int, updates: int, calls: bool, two_rvars: bool) -> hl.Func:
        f, g, variables = hl.Func("f"), hl.Func("g"), [x, y, hl.Var("c")][:dimensions]
        f[variables] = x * 3
        g[x, y] = 0
        for _ in range(updates):
            index = r.x + r.y if two_rvars else hl.RDom([(0, 7)])
            g[x, y] += f[[x + index, y, 0][:dimensions]] if calls else hl.i32(index)
        return g

    for arguments, difference in (
        ((3, 1, True, False), "in the place of 'f', which has 3 and not 2 dimensions"),
        ((2, 2, True, False), "in the place of 'g', which has 3 and not 2 definitions"),
        ((2, 1, False, False), "in the place of 'g', which calls 0 and not 1 other Funcs"),
        ((2, 1, True, True), "in the place of 'g', which has 4 and not 3 loops in its update 0"),
    ):
        with pytest.raises(_core.InvalidParameter, match=r"made for, 'reduction': it has a Func") as error:
            schedule.apply(other(*arguments))
        assert difference in re.sub(r"\$\d+", "", str(error.value))
    with pytest.raises(_core.InvalidParameter, match="which has 0 and not 2 dimensions"):
        schedule.apply(hl.Func("undefined"))
    elsewhere = hl.Func("g")
    elsewhere.define_extern("some_function", [], [hl.Int(32)], [x, y])
    with pytest.raises(_core.InvalidParameter, match="which is not defined like 'g"):
        schedule.apply(elsewhere)
    with pytest.raises(_core.InvalidParameter, match="has 2 and not 1 outputs"):
        schedule.apply(hl.Pipeline([reduction(), reduction()]))


@pytest.mark.parametrize("directive", ["compute_root", "store_root", "memoize", "apply"])
def test_apply_refuses_a_scheduled_pipeline(directive: str) -> None:
    schedule = random_schedule(SchedulingProblem.from_pipeline(reduction, target=SSE_AVX2), 0)
    pipeline = hl.Pipeline(reduction())
    if directive == "apply":
        schedule.apply(pipeline)
    else:
        getattr(pipeline.get_func(0), directive)()
    before = hl.serialize_pipeline(pipeline)
    with pytest.raises(_core.InvalidParameter, match="has a schedule already"):
        schedule.apply(pipeline)
    assert hl.serialize_pipeline(pipeline) == before


def test_what_halide_refuses_is_an_exception() -> None:
    schedule = refused_schedule(SchedulingProblem.from_pipeline(reduction, target=SSE_AVX2))
    with pytest.raises(_core.CompileError, match="already used"):
        schedule.pipeline()


@pytest.mark.parametrize("pipeline", [hl.Pipeline(), None, "f", hl.Var("x")])
def test_apply_refuses_what_is_no_pipeline(pipeline: hl.Pipeline) -> None:
    """The core would read beyond an empty one."""
    schedule = random_schedule(SchedulingProblem.from_pipeline(reduction, target=SSE_AVX2), 0)
    with pytest.raises(_core.InvalidParameter, match=r"pipeline=.* has no Funcs to schedule; give the halide\.Func"):
        schedule.apply(pipeline)
