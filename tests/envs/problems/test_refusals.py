"""`SchedulingProblem.from_pipeline`: what it refuses (section 11).

Sections and quirks are those of docs/specification/function-dag.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import halide as hl
import pytest

from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
x, y = hl.Var("x"), hl.Var("y")


def extract(pipeline: hl.Func | hl.Pipeline) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipeline, target=TARGET, parallelism=4)


# Arguments.


@pytest.mark.parametrize("target", ["x86-64", "x86-64-linux-avx9", "nonsense", ""])
def test_invalid_targets(target: str) -> None:
    with pytest.raises(_core.InvalidParameter, match="x86-64-linux-avx2"):
        SchedulingProblem.from_pipeline(pipelines.build("mat_mul"), target=target)


@pytest.mark.parametrize("parallelism", [0, -3])
def test_invalid_parallelism(parallelism: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SchedulingProblem.from_pipeline(pipelines.build("mat_mul"), parallelism=parallelism)


@pytest.mark.parametrize("pipeline", [3, None, hl.Expr(1), lambda: 3])
def test_not_a_pipeline(pipeline: object) -> None:
    with pytest.raises(TypeError, match=r"halide\.Func"):
        SchedulingProblem.from_pipeline(pipeline)  # type: ignore[arg-type]


# Pipelines.


def line(definition: Callable[[hl.Func], object], estimate: bool = True) -> hl.Func:
    """A one-dimensional output, after `definition` has worked on it."""
    f = hl.Func("f")
    definition(f)
    if estimate:
        f.set_estimates([(0, 10)])
    return f


def refused(func: hl.Func | hl.Pipeline, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        extract(func)
    assert type(raised.value) is error


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize(
    "schedule",
    [
        lambda stage: stage.split(x, hl.Var("outer"), hl.Var("inner"), 4),
        lambda stage: stage.parallel(x),
        lambda stage: stage.specialize(hl.Param(hl.Int(32), "p", 3) == 3),
        lambda stage: stage.hexagon(),
        lambda stage: stage.always_partition_all(),
        lambda stage: stage.atomic(),
    ],
    ids=["split", "parallel", "specialize", "hexagon", "always_partition", "atomic"],
)
def test_scheduling_directives(schedule: Callable[[Any], object], update: bool) -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x
        f[x] += 1
        schedule(f.update() if update else f)

    where = " of its update 0" if update else ""
    refused(line(definition), _core.UnsupportedPipeline, rf"'f.* already has scheduling directives \(.*{where}\)")


@pytest.mark.parametrize(
    "directive", ["compute_root", "store_root", "hoist_storage_root", "memoize", "async_", "ring_buffer"]
)
def test_scheduling_directives_of_a_func_as_a_whole(directive: str) -> None:
    f, output = hl.Func("f"), hl.Func("output")
    f[x] = x
    output[x] = f[x] + f[x + 1]
    output.set_estimates([(0, 10)])
    assert extract(output).num_nodes == 2
    getattr(f, directive)(*([2] if directive == "ring_buffer" else []))
    refused(output, _core.UnsupportedPipeline, "'f.* already has scheduling directives")


def test_what_is_promised_is_no_schedule() -> None:
    f, output, image = hl.Func("f"), hl.Func("output"), hl.ImageParam(hl.Int(32), 1, "image")
    f[x, y] = image[x] + y
    output[x, y] = f[x, y] + f[x, y + 1]
    output.set_estimates([(0, 10), (0, 20)])
    f.align_bounds(x, 2).align_storage(x, 16).bound_storage(y, 64).fold_storage(y, 4)
    f.prefetch(image, x, x, 2).never_partition([x])
    assert extract(output).num_nodes == 3


@pytest.mark.parametrize("update", [False, True])
def test_prefetching_what_is_computed(update: bool) -> None:
    f, output = hl.Func("f"), hl.Func("output")
    f[x, y] = x + y
    output[x, y] = f[x, y] + f[x, y + 1]
    output[x, y] += f[x, y]
    output.set_estimates([(0, 10), (0, 20)])
    (output.update() if update else output).prefetch(f, y, y, 2)
    refused(output, _core.UnsupportedPipeline, r"'output.* directives \(prefetch of a Func\)")


@pytest.mark.parametrize("wrap", ["in_", "clone_in"])
def test_wrappers_that_are_scheduled(wrap: str) -> None:
    f, output = hl.Func("f"), hl.Func("output")
    f[x] = x
    output[x] = f[x] + f[x + 1]
    output.set_estimates([(0, 10)])
    wrapper = getattr(f, wrap)(output)
    assert extract(output).num_nodes == 2
    wrapper.compute_root()
    refused(output, _core.UnsupportedPipeline, r"'f.* directives \(in or clone_in, with a schedule\)")


def test_the_order_of_loops_is_no_schedule() -> None:
    f, output = hl.Func("f"), hl.Func("output")
    f[x, y] = x + y
    output[x, y] = f[x, y] + f[x + 1, y]
    output.set_estimates([(0, 10), (0, 20)])
    f.reorder(y, x)
    assert [loop.variable for loop in extract(output).stages[1].loops] == ["y", "x"]


@pytest.mark.parametrize("feature", ["cuda", "opencl", "vulkan"])
def test_targets_with_a_gpu(feature: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=f"'{TARGET}-{feature}' has a GPU.*for CPUs"):
        SchedulingProblem.from_pipeline(pipelines.build("mat_mul"), target=f"{TARGET}-{feature}")


@pytest.mark.parametrize(("width", "is_clamped"), [(110, False), (109, False), (50, True)])
def test_inputs_smaller_than_what_is_read(width: int, is_clamped: bool) -> None:
    """A boundary condition reads no more than there is."""
    image, output = hl.ImageParam(hl.Float(32), 1, "image"), hl.Func("output")
    inside = hl.BoundaryConditions.repeat_edge(image) if is_clamped else image
    output[x] = inside[x] + inside[x + 10]
    output.set_estimates([(0, 100)])
    image.set_estimates([(0, width)])
    expected = [
        "The pipeline reads 0 to 109 of dimension 0 of the input 'image', whose estimate provides 0 to 108.",
    ]
    assert extract(output).undersized_inputs() == (expected if width == 109 else [])


@pytest.mark.parametrize("width", [109, 110])
def test_outputs_smaller_than_what_is_read(width: int) -> None:
    """Halide runs the pipeline on no such output."""
    first, second = hl.Func("first"), hl.Func("second")
    first[x] = hl.f32(x)
    second[x] = first[x] + first[x + 10]
    first.set_estimates([(0, width)])
    second.set_estimates([(0, 100)])
    problem = extract(hl.Pipeline([first, second]))
    expected = (
        f"The pipeline reads 0 to 109 of dimension 0 of the output '{first.name()}', whose estimate provides 0 to 108."
    )
    assert problem.undersized_inputs() == ([expected] if width == 109 else [])


def test_output_without_estimate() -> None:
    def definition(f: hl.Func) -> None:
        f[x, y] = x + y
        f.set_estimate(x, 0, 10)

    refused(line(definition, estimate=False), _core.MissingEstimate, r"no estimate on dimension 1 \('y'\)")


def test_bound_extent_without_min() -> None:
    """Quirk Q16: even though a complete estimate follows."""

    def definition(f: hl.Func) -> None:
        f[x] = x
        f.bound_extent(x, 10)

    refused(line(definition), _core.MissingEstimate, "not constant.*bound_extent")


def test_output_estimate_that_is_not_constant() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x
        f.set_estimate(x, 0, hl.Param(hl.Int(32), "size"))

    refused(line(definition, estimate=False), _core.UnsupportedPipeline, "not constant")


@pytest.mark.parametrize("extent", [0, -3])
def test_output_that_is_empty(extent: int) -> None:
    def estimated(f: hl.Func) -> None:
        f[x] = x
        f.set_estimate(x, 0, extent)

    def bounded(f: hl.Func) -> None:
        f[x] = x
        f.bound(x, 0, extent)

    for definition in (estimated, bounded):
        message = rf"'x' of the output 'f.*extent {extent}\."
        refused(line(definition, estimate=definition is bounded), _core.InvalidParameter, message)


def test_reduction_that_never_runs() -> None:
    """The reference divides by the extent of each loop."""

    def constant(f: hl.Func) -> None:
        f[x] = 0
        f[x] += hl.RDom([(0, 0)], "r").x

    def estimated(f: hl.Func) -> None:
        size = hl.Param(hl.Int(32), "size")
        size.set_estimate(1)
        f[x] = 0
        f[x] += hl.RDom([(1, size - 1)], "r").x

    for definition in (constant, estimated):
        refused(line(definition), _core.UnsupportedPipeline, r"'f.*update\(0\)' never runs on the estimates")


@pytest.mark.parametrize(
    ("size", "reason"), [((2**31 - 2, 2**31 - 2), "hold more bytes"), ((2**31 - 2,) * 3, "compute more points")]
)
def test_more_than_can_be_counted(size: tuple[int, ...], reason: str) -> None:
    """Costs were negative, and the logarithm of a speedup failed."""
    variables = [hl.Var(name) for name in "xyz"[: len(size)]]
    f = hl.Func("f")
    f[variables] = hl.f32(x)
    f.set_estimates([(0, extent) for extent in size])
    refused(f, _core.UnsupportedPipeline, rf"from the outputs to 'f.*' {reason} than can be counted.*smaller estimates")


def test_scalar_parameter_without_estimate() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x + hl.Param(hl.Int(32), "offset")

    refused(line(definition), _core.MissingEstimate, "'offset'")


def test_pointers_have_no_estimate() -> None:
    pointer = hl.Param(hl.Handle(), "pointer")

    def definition(f: hl.Func) -> None:
        f[x] = hl.select(hl.reinterpret(hl.UInt(64), pointer) == hl.u64(0), 1, 2)

    refused(line(definition), _core.UnsupportedPipeline, "'pointer'.* is a pointer")
    with pytest.raises(_core.InvalidParameter, match="'pointer', which is a pointer"):
        SchedulingProblem.from_pipeline(line(definition), estimates={"pointer": 0})


def test_input_extent_without_estimate() -> None:
    def definition(f: hl.Func) -> None:
        image = hl.ImageParam(hl.Float(32), 1, "image")
        f[x] = image[hl.clamp(x, 0, image.width() - 1)]

    refused(line(definition), _core.MissingEstimate, r"'image\.extent\.0'")


def test_input_stride() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x + hl.ImageParam(hl.Float(32), 1, "image").dim(0).stride()

    refused(line(definition), _core.UnsupportedPipeline, r"'image\.stride\.0'")


def test_unused_metadata_needs_no_estimate() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = hl.ImageParam(hl.Float(32), 1, "image")[x]

    assert extract(line(definition)).num_nodes == 2


def test_unbounded_scatter() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = 0
        f[hl.ImageParam(hl.Int(32), 1, "image")[hl.RDom([(0, 10)]).x]] += 1

    refused(line(definition), _core.UnsupportedPipeline, "update 0.*unbounded in dimension 0")


def test_unbounded_load() -> None:
    def definition(f: hl.Func) -> None:
        table = hl.Func("table")
        table[x] = x
        f[x] = table[hl.ImageParam(hl.Int(32), 1, "image")[x]]

    refused(line(definition), _core.UnsupportedPipeline, "needs of 'table.*unbounded in dimension 0")


def test_unbounded_load_of_an_input() -> None:
    def definition(f: hl.Func) -> None:
        places = hl.ImageParam(hl.Int(32), 1, "places")
        f[x] = hl.ImageParam(hl.Float(32), 1, "lut")[places[x]]

    refused(line(definition), _core.UnsupportedPipeline, "needs of 'lut' is unbounded in dimension 0")


def test_constraint_that_is_no_constant() -> None:
    def definition(f: hl.Func) -> None:
        image = hl.ImageParam(hl.Float(32), 2, "image")
        image.dim(1).set_stride(image.width())
        f[x] = image[x, 0]

    refused(line(definition), _core.UnsupportedPipeline, r"'stride\.1'.*'image'")


def test_too_many_loops() -> None:
    variables = [hl.Var(f"v{i}_") for i in range(17)]
    f = hl.Func("f")
    f[variables] = hl.f32(1)
    f.set_estimates([(0, 2)] * 17)
    refused(f, _core.UnsupportedPipeline, "17 loops; at most 16")


def test_two_funcs_of_one_name() -> None:
    inner = hl.Func("inner")
    inner[x] = x
    (twin,) = hl.deserialize_pipeline(hl.serialize_pipeline(hl.Pipeline(inner))).outputs()

    def definition(f: hl.Func) -> None:
        f[x] = inner[x] + twin[x + 1]

    refused(line(definition), _core.UnsupportedPipeline, "same name")


def test_undefined_outputs() -> None:
    refused(hl.Func("nothing"), _core.UnsupportedPipeline, "'nothing.*no definition")
    refused(hl.Pipeline(), _core.UnsupportedPipeline, "no outputs")


@pytest.mark.parametrize("other", [hl.Float(32), hl.UInt(8)])
def test_parameters_of_one_name(other: hl.Type) -> None:
    """Halide compiles no such pipeline, and reads it back with one of them in the place of both."""
    image, twin, o = hl.ImageParam(hl.Float(32), 1, "image"), hl.ImageParam(other, 1, "image"), hl.Func("o")
    o[x] = image[x] + hl.f32(twin[x])
    for each in (image, twin, o):
        each.set_estimates([(0, 10)])
    refused(o, _core.UnsupportedPipeline, "unique names.*'image'.*Give each a name of its own")


@pytest.mark.parametrize("is_output", [False, True])
def test_extern_stages(is_output: bool) -> None:
    """Schedules of them cannot be applied, and their inputs seemed to be read by nobody."""
    taken, e, o = hl.Func("taken"), hl.Func("e"), hl.Func("o")
    taken[x] = x
    e.define_extern("some_function", [hl.ExternFuncArgument(taken)], [hl.Float(32)], [x])
    o[x] = e[x] + e[x + 1]
    output = e if is_output else o
    output.set_estimates([(0, 10)])
    refused(output, _core.UnsupportedPipeline, r"'e.*is defined outside of Halide \(define_extern\)")


@pytest.mark.parametrize("name", ["x.1", ".x", "x.", hl.Var.outermost().name()])
@pytest.mark.parametrize("is_reduction", [False, True])
def test_names_of_variables_that_halide_keeps_to_itself(name: str, is_reduction: bool) -> None:
    def definition(f: hl.Func) -> None:
        f[hl.Var("x" if is_reduction else name)] = 1
        if is_reduction:
            f[hl.RDom([(0, 3)], name).x] += 1

    if is_reduction and "." not in name:
        assert extract(line(definition)).num_stages == 2  # it is called __outermost$x
    else:
        refused(line(definition), _core.UnsupportedPipeline, r"the variable '.*', which Halide schedules no loop of")
