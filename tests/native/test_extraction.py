"""The analysis of a pipeline against the one that the Adams2019 plugin prints and exports.

Sections and quirks are those of docs/specification/function-dag.md.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import halide as hl
import numpy as np
import pytest

import analysis_pipelines
import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.reference.autoschedulers import Adams2019
from halidegym.agents.reference.process import AutoschedulerFailed, run_autoscheduler
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.snapshot import PipelineSnapshot
from halidegym.native._core import UnsupportedPipeline
from oracle.analysis import Analysis, analyse
from oracle.builder_problem import AVX512, SSE_AVX2
from oracle.graph import (
    ACCESS_CLASSES,
    OPERATIONS,
    SCALAR_TYPES,
    Bounds,
    PrintedEdge,
    PrintedNode,
    evaluate,
    parse_graph,
)

BENCHMARKS = ("bilateral_grid", "harris", "unsharp", "conv_layer")
BUILDERS = {
    **pipelines_for_tests.ALL,
    **analysis_pipelines.ALL,
    **{name: functools.partial(pipelines.build, name) for name in BENCHMARKS},
}
ACCESS_OFFSETS = dict(zip(ACCESS_CLASSES, (175, 203, 231, 259), strict=True))
NATIVE_VECTOR_SIZE, INLINED_CALLS = 23, 17  # schedule features

# Values for the symbols of bounds: limits of a region per dimension, some of them negative.
REGIONS = [
    [(0, 9), (0, 4), (0, 2), (0, 6), (0, 3), (0, 7), (0, 1)],
    [(3, 17), (5, 6), (2, 30), (1, 1), (4, 9), (6, 11), (9, 10)],
    [(-7, 900), (-33, -2), (-5, 5), (-9, 400), (-1, 0), (-12, -12), (-3, 8)],
]


def problem_of(name: str, target: str = AVX512) -> SchedulingProblem:
    return _problem(name, target)


def reference_of(name: str, target: str = AVX512) -> Analysis:
    return _reference(name, target)


# Cached by both arguments, given or not: a problem built twice has other Func names.
@functools.cache
def _problem(name: str, target: str) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(BUILDERS[name](), target=target, parallelism=16)


@functools.cache
def _reference(name: str, target: str) -> Analysis:
    """Of the problem's own snapshot: the names are the same there."""
    return analyse(problem_of(name, target).pipeline, target)


def printed_graph(name: str) -> tuple[list[PrintedNode], list[PrintedEdge]]:
    return parse_graph(reference_of(name).log)


def stages_of(problem: SchedulingProblem, node: Any) -> Sequence[Any]:
    return problem.stages[node.first_stage : node.first_stage + node.num_stages]


every_pipeline = pytest.mark.parametrize("name", BUILDERS)


def check_bounds(printed: Bounds, ours: tuple[int, int], symbols: dict[str, int]) -> None:
    assert (evaluate(printed[0], symbols), evaluate(printed[1], symbols)) == ours


def limits(func: str, variables: Sequence[str], region: Sequence[tuple[int, int]]) -> dict[str, int]:
    """The symbols of a Func's variables, with the limits of a region as values."""
    return {
        f"{func}.{variable}.{side}": value
        for variable, interval in zip(variables, region, strict=False)
        for side, value in zip(("min", "max"), interval, strict=True)
    }


def flat(region: Sequence[tuple[int, int]]) -> list[int]:
    return [value for interval in region for value in interval]


@every_pipeline
def test_nodes_and_flags(name: str) -> None:
    problem = problem_of(name)
    printed, _ = printed_graph(name)
    assert [node.name for node in problem.nodes] == [node.name for node in printed]
    for node, reference in zip(problem.nodes, printed, strict=True):
        assert reference.required == [(f"{node.name}.{arg}.min", f"{node.name}.{arg}.max") for arg in node.args]
        assert reference.flags == {
            "pointwise": node.is_pointwise,
            "boundary condition": node.is_boundary_condition,
            "wrapper": node.is_wrapper,
            "input": node.is_input,
            "output": node.is_output,
        }


@every_pipeline
def test_regions_computed(name: str) -> None:
    problem = problem_of(name)
    printed, _ = printed_graph(name)
    for node, reference in zip(problem.nodes, printed, strict=True):
        assert len(node.region_computed) == node.dimensions
        for region in REGIONS:
            symbols = limits(node.name, node.args, region)
            for d, (dimension, bounds) in enumerate(zip(node.region_computed, reference.computed, strict=True)):
                check_bounds(bounds, computed_of(problem, dimension, d, region), symbols)


def computed_of(problem: SchedulingProblem, dimension: Any, d: int, required: list[tuple[int, int]]) -> tuple[int, int]:
    low, high = required[d]
    if dimension.kind == "equals_required":
        return low, high
    if dimension.kind == "union_with_constants":
        return min(low, dimension.constant_min), max(high, dimension.constant_max)
    expressions = problem.native.expressions
    return (
        expressions[dimension.expression_min].evaluate(flat(required)),
        expressions[dimension.expression_max].evaluate(flat(required)),
    )


@every_pipeline
def test_loops(name: str) -> None:
    problem = problem_of(name)
    printed, _ = printed_graph(name)
    for node, reference in zip(problem.nodes, printed, strict=True):
        for stage, reference_stage in zip(stages_of(problem, node), reference.stages, strict=True):
            assert [loop.variable for loop in stage.loops] == [variable for variable, _ in reference_stage.loops]
            for loop, (variable, bounds) in zip(stage.loops, reference_stage.loops, strict=True):
                assert loop.pure_dim == (-1 if loop.rvar else node.args.index(variable))
                for region in REGIONS:
                    symbols = limits(node.name, node.args, region)
                    check_bounds(bounds, loop_limits_of(problem, loop, region), symbols)


def loop_limits_of(problem: SchedulingProblem, loop: Any, computed: list[tuple[int, int]]) -> tuple[int, int]:
    if loop.kind == "computed_dimension":
        return computed[loop.computed_dim]
    if loop.kind == "constant":
        return loop.constant_min, loop.constant_max
    expressions = problem.native.expressions
    return (
        expressions[loop.expression_min].evaluate(flat(computed)),
        expressions[loop.expression_max].evaluate(flat(computed)),
    )


@every_pipeline
def test_edges(name: str) -> None:
    problem = problem_of(name)
    _, printed = printed_graph(name)
    for edge, reference in zip(problem.edges, printed, strict=True):
        stage = problem.stages[edge.consumer_stage]
        assert problem.nodes[edge.producer].name == reference.producer
        assert stage.name == reference.consumer
        assert len(edge.bounds) == 2 * len(reference.footprint)
        for region in REGIONS:
            symbols = limits(problem.nodes[stage.node].name, [loop.variable for loop in stage.loops], region)
            values = [bound_of(problem, bound, region[: len(stage.loops)]) for bound in edge.bounds]
            for d, bounds in enumerate(reference.footprint):
                check_bounds(bounds, (values[2 * d], values[2 * d + 1]), symbols)


def bound_of(problem: SchedulingProblem, bound: Any, loops: list[tuple[int, int]]) -> int:
    if bound.kind == "general":
        return int(problem.native.expressions[bound.expression].evaluate(flat(loops)))
    limit = loops[bound.loop][bound.of_max] if bound.kind == "affine" else 0
    return int(bound.coefficient * limit + bound.constant)


@every_pipeline
def test_load_jacobians(name: str) -> None:
    problem = problem_of(name)
    _, printed = printed_graph(name)
    for edge, reference in zip(problem.edges, printed, strict=True):
        ours = [
            (
                jacobian.count,
                [
                    [
                        (entry.numerator, entry.denominator) if entry.known else None
                        for entry in jacobian.entries[row * jacobian.columns : (row + 1) * jacobian.columns]
                    ]
                    for row in range(jacobian.rows)
                ],
            )
            for jacobian in edge.jacobians
        ]
        # A matrix without rows or columns leaves no trace in the print.
        assert [jacobian for jacobian in ours if jacobian[1] and jacobian[1][0]] == [
            jacobian for jacobian in reference.jacobians if jacobian[1][0]
        ]


@every_pipeline
def test_printed_features(name: str) -> None:
    """Of all stages, inputs too; of the types in use."""
    problem = problem_of(name)
    printed, _ = printed_graph(name)
    for node, reference in zip(problem.nodes, printed, strict=True):
        for stage, reference_stage in zip(stages_of(problem, node), reference.stages, strict=True):
            expected = {}
            for t, scalar_type in enumerate(SCALAR_TYPES):
                if not stage.features[t]:
                    continue
                for row, operation in enumerate(OPERATIONS):
                    expected[scalar_type, operation] = [stage.features[7 + 7 * row + t]]
                for access_class, offset in ACCESS_OFFSETS.items():
                    expected[scalar_type, access_class] = [stage.features[offset + 7 * a + t] for a in range(4)]
            assert reference_stage.counts == expected


@every_pipeline
def test_exported_features_and_vector_sizes(name: str) -> None:
    """All 287 features of the stages that the model sees."""
    problem = problem_of(name)
    record = np.frombuffer(reference_of(name).featurization, "<f4").reshape(-1, 326)
    stages = [
        problem.stages[node.first_stage + index]
        for node in problem.nodes
        if not node.is_input
        for index in reversed(range(node.num_stages))
    ]
    assert len(record) == len(stages)
    for row, stage in zip(record, stages, strict=True):
        np.testing.assert_array_equal(row[39:], stage.features)
        if row[INLINED_CALLS] == 0:
            assert row[NATIVE_VECTOR_SIZE] == stage.vector_size


@pytest.mark.parametrize("target", [SSE_AVX2, "x86-64-linux-sse41", "x86-64-linux-avx-f16c-fma-sse41", "arm-64-linux"])
@pytest.mark.parametrize("name", ["histogram", "tuple_of_types"])
def test_vector_sizes_of_other_targets(name: str, target: str) -> None:
    problem = problem_of(name, target)
    record = np.frombuffer(reference_of(name, target).featurization, "<f4").reshape(-1, 326)
    sizes = {row[NATIVE_VECTOR_SIZE] for row in record if row[INLINED_CALLS] == 0}
    assert sizes <= {stage.vector_size for stage in problem.stages}
    assert max(sizes) == max(node.vector_size for node in problem.nodes if not node.is_input)


# What is not printed: the tables of section 13.


def test_blur() -> None:
    problem = problem_of("blur")
    assert [node.bytes_per_point for node in problem.nodes] == [4, 4, 4, 4]
    assert [stage.vector_size for stage in problem.stages] == [16, 16, 16, 16]
    assert [edge.calls for edge in problem.edges] == [3, 3, 1]
    assert [[bound.kind for bound in edge.bounds] for edge in problem.edges] == [["affine"] * 4] * 2 + [["general"] * 4]
    assert all(loop.kind == "computed_dimension" for stage in problem.stages for loop in stage.loops)
    (x, y) = problem.nodes[0].estimated_region
    assert (x.min, x.max, x.constant_extent) == (y.min, y.max, y.constant_extent) == (0, 2047, False)
    assert problem.nodes[0].unit_stride_dimensions == [0]
    assert [stage.reads_image for stage in problem.stages] == [False, False, False, True]


def test_histogram() -> None:
    problem = problem_of("histogram", SSE_AVX2)
    o, h, image = problem.nodes
    assert [edge.calls for edge in problem.edges] == [2, 1, 2]
    assert [stage.vector_size for stage in problem.stages] == [32, 8, 32, 32]
    assert [node.vector_size for node in (o, h, image)] == [32, 32, 32]
    (dimension,) = h.region_computed
    assert (dimension.kind, dimension.constant_min, dimension.constant_max) == ("union_with_constants", 0, 255)
    update = problem.stages[2]
    assert [(loop.kind, loop.constant_min, loop.constant_max, loop.pure) for loop in update.loops] == [
        ("constant", 0, 639, False),
        ("constant", 0, 479, False),
    ]
    assert [stage.upstream for stage in problem.stages] == [[1, 2], [], [2], []]
    assert [node.outgoing for node in (o, h, image)] == [[], [0], [1, 2]]
    assert [stage.incoming for stage in problem.stages] == [[0, 1], [], [2], []]


def test_loops_of_several_updates() -> None:
    problem = problem_of("widening_updates")
    pure, *updates = stages_of(problem, problem.nodes[1])
    assert [loop.computed_dim for loop in pure.loops] == [0, 1]
    assert [[loop.kind for loop in stage.loops] for stage in updates] == [
        ["constant", "computed_dimension"],
        ["constant", "general"],
        ["general", "general"],
    ]
    assert updates[0].loops[1].computed_dim == 1
    assert updates[0].loops[0].pure, "the front end proves r pure"
    assert [loop.accessor for loop in updates[1].loops] == [
        f"{updates[1].name}.get_schedule().dims()[{i}].var" for i in range(2)
    ]


def test_calls_and_bytes() -> None:
    assert problem_of("lets").edges[0].calls == 3
    assert problem_of("tuple_of_types").nodes[1].bytes_per_point == 1 + 8 + 8
    assert [edge.calls for edge in problem_of("tuple_of_types").edges] == [3]


def test_unknown_jacobian_entries_keep_their_numbers() -> None:
    """Quirk Q12: they decide which matrices merge."""
    (edge,) = problem_of("derivatives").edges
    entries = [(jacobian.entries[0], jacobian.count) for jacobian in edge.jacobians]
    unknown = [(entry.numerator, entry.denominator, count) for entry, count in entries if not entry.known]
    assert unknown == [(0, 0, 4)], "0/0 equals every unknown entry after it"
    assert [count for _, count in entries] == [1, 1, 2, 1, 1, 4, 1, 1, 1]


def test_a_bound_has_a_constant_extent() -> None:
    problem = problem_of("bounded_output")
    spans = problem.nodes[0].estimated_region
    assert [(span.min, span.max, span.constant_extent) for span in spans] == [
        (0, 29, False),
        (0, 39, False),
        (0, 2, True),
    ]


def test_a_bound_depends_on_a_parameter_only_through_value_bounds() -> None:
    problem = problem_of("parameter_in_value_bounds")
    by_producer = {problem.nodes[edge.producer].name.partition("$")[0]: edge for edge in problem.edges}
    assert [bound.depends_on_parameter for bound in by_producer["f"].bounds] == [False, True]
    assert not any(bound.depends_on_parameter for bound in by_producer["h"].bounds)
    assert not any(bound.depends_on_parameter for edge in problem_of("parameters").edges for bound in edge.bounds), (
        "offsets are affine with the estimate folded in"
    )


def test_zero_dimensional_output() -> None:
    problem = problem_of("scalar_sum")
    total = problem.nodes[0]
    assert (total.dimensions, total.estimated_region, total.unit_stride_dimensions) == (0, [], [])


def stencil(width: int, height: int) -> hl.Pipeline:
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    rows, columns = hl.Func("rows"), hl.Func("columns")
    rows[x, y] = image[x, y] + image[x + 1, y]
    columns[x, y] = rows[x, y] + rows[x, y + 1]
    columns.set_estimates([(0, width), (0, height)])
    image.set_estimates([(0, width + 1), (0, height + 1)])
    return hl.Pipeline(columns)


def test_numbers_that_overflow_are_refused_like_the_plugin_does() -> None:
    """2^64 bytes: what a stage reads is a negative number of them in 64 bits."""
    extent = 2**31 - 2
    with pytest.raises(UnsupportedPipeline, match=r"'columns.*' hold more bytes than can be counted"):
        SchedulingProblem.from_pipeline(stencil(extent, extent), target=AVX512)
    with pytest.raises(AutoschedulerFailed, match="Negative bytes loaded"):
        run_autoscheduler(
            PipelineSnapshot.take(stencil(extent, extent)).restore,
            autoscheduler="Adams2019",
            target=AVX512,
            parameters={"parallelism": "4", "beam_size": "1"},
        )


def test_the_largest_numbers_give_the_cost_of_the_plugin() -> None:
    problem = SchedulingProblem.from_pipeline(stencil(2**31 - 2, 2**28), target=AVX512, parallelism=4)
    cost = Greedy().plan(problem).cost
    assert cost is not None and cost > 0
    assert cost == Adams2019(beam_size=1).plan(problem).cost
