"""Expressions that several pipelines share."""

import functools
import operator
from collections.abc import Iterable

import halide as hl


def add(terms: Iterable[hl.Expr]) -> hl.Expr:
    """Sum written out term by term, from the left; no reduction."""
    return functools.reduce(operator.add, terms)


def luma(image: hl.Func | hl.ImageParam, x: hl.Var, y: hl.Var) -> hl.Expr:
    """Luma of the RGB image at (x, y), after ITU-R BT.601."""
    return hl.f32(0.299) * image[x, y, 0] + hl.f32(0.587) * image[x, y, 1] + hl.f32(0.114) * image[x, y, 2]


def set_shape(buffer: hl.ImageParam | hl.OutputImageParam, extents: Iterable[int]) -> None:
    """Promise that each dimension of the buffer starts at 0, has this extent, and is densely packed."""
    stride = 1
    for d, extent in enumerate(extents):
        buffer.dim(d).set_bounds(0, extent).set_stride(stride)
        stride *= extent
