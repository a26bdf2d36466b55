"""Expressions and Funcs that several pipelines share."""

import functools
import operator
from collections.abc import Iterable, Sequence

import halide as hl


def add(terms: Iterable[hl.Expr]) -> hl.Expr:
    """Sum written out term by term, from the left; no reduction."""
    return functools.reduce(operator.add, terms)


def luma(image: hl.Func | hl.ImageParam, x: hl.Var, y: hl.Var) -> hl.Expr:
    """Luma of the RGB image at (x, y), after ITU-R BT.601."""
    return hl.f32(0.299) * image[x, y, 0] + hl.f32(0.587) * image[x, y, 1] + hl.f32(0.114) * image[x, y, 2]


def repeat_edge(
    number: int,
    source: hl.Func | hl.ImageParam,
    bounds: Sequence[tuple[hl.Expr | int, hl.Expr | int] | None] | None = None,
) -> hl.Func:
    """As `halide.BoundaryConditions.repeat_edge`, whose names have numbers that depend on what the process built before.

    Args:
        number: of its own in the pipeline, in the order in which they are made.
        source: what to continue.
        bounds: (min, extent) of its first dimensions, None for one that is not continued; all those of an image if None.
    """
    coordinates = tuple(hl.Var(f"_{d}") for d in range(source.dimensions()))
    if bounds is None:
        bounds = [(source.dim(d).min(), source.dim(d).extent()) for d in range(source.dimensions())]
        source, image = hl.Func(f"lambda_{number}"), source
        source[coordinates] = image[coordinates]
    inside: list[hl.Expr | hl.Var] = list(coordinates)
    for d, bound in enumerate(bounds):
        if bound is not None:
            low, extent = (hl.Expr(side) if isinstance(side, int) else side for side in bound)
            inside[d] = hl.clamp(hl.likely(coordinates[d]), low, low + extent - 1)
    func = hl.Func(f"repeat_edge{number}")
    func[coordinates] = source[tuple(inside)]
    return func


def set_shape(buffer: hl.ImageParam | hl.OutputImageParam, extents: Iterable[int]) -> None:
    """Promise that each dimension of the buffer starts at 0, has this extent, and is densely packed."""
    stride = 1
    for d, extent in enumerate(extents):
        buffer.dim(d).set_bounds(0, extent).set_stride(stride)
        stride *= extent
