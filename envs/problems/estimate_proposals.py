"""Estimates that a pipeline lacks, proposed from the sizes of example inputs.

An output is as large as the first example input of at least as many dimensions, and then cut until no input, and no output
before it, is read beyond its size, or, where all outputs read beyond, as little as possible; where a larger input has room
for more, it grows. What the pipeline says itself of a dimension stays.
A scalar is its value, the middle of its range, or 1; its only limit, if 1 is beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from halidegym.envs.problems.hlpipe import in_another_process, read_pipeline
from halidegym.envs.problems.snapshot import Estimate, PipelineSnapshot, outputs_named
from halidegym.native import _core
from halidegym.native.checks import check_kind, shown

Region: TypeAlias = list[tuple[int, int]]
Extents: TypeAlias = Mapping[str, Sequence[int]]


def propose_for_snapshot(
    snapshot: PipelineSnapshot, examples: Extents, given: Mapping[str, Estimate], target: str
) -> Mapping[str, Estimate]:
    """The estimates that are missing.

    Args:
        snapshot: of the pipeline.
        examples: extents of example inputs, by name; those of every input that has no estimate.
        given: estimates that count in any case.
        target: Halide target string.

    Raises:
        InvalidParameter: an example is that of no input, has another number of dimensions, or one is missing.
        UnsupportedPipeline: the analysis cannot express the pipeline.
    """
    check_kind(Mapping, examples=examples, given=given)
    proposed = _of_parameters(snapshot, examples, given)
    sizes = [list(extents) for extents in examples.values()]
    outputs = _outputs(snapshot)
    given_outputs = {output for name in given for output in outputs_named(name, outputs)}
    regions = {
        name: _region_like(dimensions, sizes) for name, dimensions in outputs.items() if name not in given_outputs
    }
    known = {**proposed, **given}
    missing: dict[str, list[int]] = {}
    for name in list(regions):  # what the pipeline says itself is not missing
        others = {other: region for other, region in regions.items() if other != name}
        said = _said(snapshot.with_estimates({**known, **others}), name, regions[name], target)
        if None in said:
            missing[name] = [dimension for dimension, own in enumerate(said) if own is None]
            regions[name] = [own or like for own, like in zip(said, regions[name], strict=True)]
        else:
            del regions[name]
    largest = max((extent for size in sizes for extent in size), default=1)
    return {**proposed, **_fitted(snapshot, known, regions, missing, largest, target)}


def propose_for_file(
    path: Path, examples: Extents, given: Mapping[str, Estimate], target: str
) -> Mapping[str, Estimate]:
    """The same for an `.hlpipe` file, which another process reads.

    Raises:
        FormatError: it is no pipeline that Halide can read, or damaged.
        InvalidParameter, UnsupportedPipeline: see `propose_for_snapshot`.
    """
    return in_another_process(path, _propose_for_file, path, examples, given, target)


def _propose_for_file(
    path: Path, examples: Extents, given: Mapping[str, Estimate], target: str
) -> Mapping[str, Estimate]:
    return propose_for_snapshot(read_pipeline(path), examples, given, target)


def _of_parameters(snapshot: PipelineSnapshot, examples: Extents, given: Mapping[str, Estimate]) -> dict[str, Estimate]:
    inputs = {parameter.name: parameter for parameter in snapshot.parameters if parameter.is_buffer}
    for name, extents in examples.items():
        if name not in inputs:
            raise _core.InvalidParameter(
                f"There is no input {name!r} to be as large as an example: the pipeline has {', '.join(inputs) or 'none'}"
            )
        if len(extents) != inputs[name].dimensions or not all(extent >= 1 for extent in extents):
            raise _core.InvalidParameter(
                f"{shown(list(extents))} is no size of the input {name!r}: give {inputs[name].dimensions} extents of at "
                "least 1"
            )
    found: dict[str, Estimate] = {}
    for parameter in snapshot.parameters:
        if parameter.name in given:
            continue
        if parameter.name in examples:
            found[parameter.name] = [
                (_promised_min(parameter, dimension), extent)
                for dimension, extent in enumerate(examples[parameter.name])
            ]
        elif not parameter.is_buffer and "estimate" not in parameter.values:
            found[parameter.name] = _scalar(parameter)
        elif not all(f"extent_estimate.{each}" in parameter.values for each in range(parameter.dimensions)):
            raise _core.InvalidParameter(
                f"The input {parameter.name!r} has neither all estimates nor an example of its size; on the command line, "
                f"--estimate-from {parameter.name}={','.join(['EXTENT'] * parameter.dimensions)}"
            )
    return found


def _promised_min(parameter: _core.ParameterData, dimension: int) -> int:
    _, value = parameter.values.get(f"min.{dimension}", ("", 0))
    return int(value)


def _scalar(parameter: _core.ParameterData) -> Estimate:
    values = {key: value for key, (_, value) in parameter.values.items()}
    least, most = values.get("min", -math.inf), values.get("max", math.inf)
    if "value" in values and least <= values["value"] <= most:
        return values["value"]
    if math.isinf(least) or math.isinf(most):
        # Compiled code refuses to run on a value beyond the one limit that there may be.
        return min(max(1, least), most)
    return (least + most) / 2 if "float" in parameter.type else (least + most) // 2


def _outputs(snapshot: PipelineSnapshot) -> Mapping[str, int]:
    return {f.name(): f.dimensions() for f in snapshot.restore().outputs()}


def _extracted(snapshot: PipelineSnapshot, target: str) -> _core.Problem:
    return _core.extract_problem(
        pipeline=snapshot.serialized,
        parameters=list(snapshot.parameters),
        target=target,
        parallelism=1,
        name="",
    )


def _region_like(dimensions: int, sizes: Sequence[Sequence[int]]) -> Region:
    like = next((size for size in sizes if len(size) >= dimensions), max(sizes, key=len, default=()))
    extents = [*like, *[1] * dimensions][:dimensions]
    return [(0, extent) for extent in extents]


def _said(snapshot: PipelineSnapshot, output: str, region: Region, target: str) -> list[tuple[int, int] | None]:
    """The (min, extent) of each dimension of an output as the pipeline says it; None where it says none.

    Halide shows nobody the estimates of a Func: what an analysis without one of the dimensions in `region` finds was said.
    """
    said: list[tuple[int, int] | None] = []
    for dimension in range(len(region)):
        pipeline = snapshot.restore()
        (func,) = (f for f in pipeline.outputs() if f.name() == output)
        for other, argument in enumerate(func.args()):
            if other != dimension:
                func.set_estimate(argument, *region[other])
        try:
            nodes = _extracted(PipelineSnapshot.take(pipeline), target).nodes
        except _core.MissingEstimate:
            said.append(None)
        else:
            span = next(node for node in nodes if node.name == output).estimated_region[dimension]
            said.append((span.min, span.max - span.min + 1))
    return said


def _excess(snapshot: PipelineSnapshot, target: str, output: str) -> int:
    """By how much inputs, and outputs but for one, are read beyond their sizes, all dimensions together."""
    problem = _extracted(snapshot, target)
    return sum(
        max(found.provided.min - found.read.min, 0) + max(found.read.max - found.provided.max, 0)
        for found in _core.undersized_inputs(problem, snapshot.restore())
        if found.name != output
    )


def _fitted(
    snapshot: PipelineSnapshot,
    known: Mapping[str, Estimate],
    regions: Mapping[str, Region],
    missing: Mapping[str, Sequence[int]],
    largest: int,
    target: str,
) -> dict[str, Estimate]:
    """The regions without what makes inputs be read beyond their sizes; and with what the largest one has room for.

    Only the missing dimensions change.
    """
    # At first a point each: what one output reads beyond must not hide what another does.
    fitted = {
        name: [
            (first + extent // 2, 1) if dimension in missing[name] else (first, extent)
            for dimension, (first, extent) in enumerate(region)
        ]
        for name, region in regions.items()
    }
    nodes = _extracted(snapshot.with_estimates({**known, **fitted}), target).nodes
    for name in (node.name for node in reversed(nodes) if node.name in fitted):  # before the others that read it
        fitted[name] = region = list(regions[name])
        for dimension in missing[name]:

            def excess(first: int, last: int, name: str = name, dimension: int = dimension) -> int:
                tried = [*fitted[name]]
                tried[dimension] = (first, last - first + 1)
                return _excess(snapshot.with_estimates({**known, **fitted, name: tried}), target, name)

            region[dimension] = _grown(_cut(region[dimension], excess), largest, excess)
    return dict(fitted)


def _cut(interval: tuple[int, int], excess: Callable[[int, int], int]) -> tuple[int, int]:
    """The (min, extent) within another without what makes inputs be read beyond their sizes."""
    first, extent = interval
    last = first + extent - 1
    if excess(first, last) == 0:
        return interval
    last = _furthest(first, last, lambda end: excess(first, end))
    first = last - _furthest(0, last - first, lambda kept: excess(last - kept, last))
    return first, last - first + 1


def _grown(interval: tuple[int, int], largest: int, excess: Callable[[int, int], int]) -> tuple[int, int]:
    """The (min, extent) of up to so many points that reads no more beyond, if an input ends the dimension."""
    first, extent = interval
    if extent >= largest or excess(first, first + 2 * largest) <= excess(first, first + extent - 1):
        return interval  # no input ends this dimension
    return first, _furthest(extent, largest, lambda count: excess(first, first + count - 1))


def _furthest(least: int, most: int, excess: Callable[[int], int]) -> int:
    """The largest number at which the excess is not more than at the least one; it never falls in between."""
    enough = excess(least)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if excess(middle) <= enough else (least, middle - 1)
    return least
