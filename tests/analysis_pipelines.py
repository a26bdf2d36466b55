"""Pipelines that each show one rule of the analysis.

Sections and quirks are those of docs/specification/function-dag.md.
"""

import functools
from collections.abc import Callable

import halide as hl
import numpy as np

x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")


def _image(name: str, element: hl.Type, *region: tuple[int, int]) -> hl.ImageParam:
    image = hl.ImageParam(element, len(region), name)
    image.set_estimates(list(region))
    return image


def _integer(name: str, estimate: int) -> hl.Param:
    parameter = hl.Param(hl.Int(32), name)
    parameter.set_estimate(estimate)
    return parameter


def _output(func: hl.Func, *extents: int) -> hl.Pipeline:
    func.set_estimates([(0, extent) for extent in extents])
    return hl.Pipeline(func)


def histogram() -> hl.Pipeline:
    """13.2: a scatter whose region the value bounds of its input limit."""
    image = _image("in", hl.UInt(8), (0, 640), (0, 480))
    r = hl.RDom([(image.dim(d).min(), image.dim(d).extent()) for d in range(2)], "r")
    h, o = hl.Func("h"), hl.Func("o")
    h[x] = 0
    h[hl.i32(image[r.x, r.y])] += 1
    o[x, y] = h[x] + h[hl.i32(image[x, y])]
    return _output(o, 640, 480)


def widening_updates() -> hl.Pipeline:
    """13.3: each update sees the region that the stages up to it compute (Q6)."""
    f, o, r = hl.Func("f"), hl.Func("o"), hl.RDom([(0, 10)], "r")
    f[x, y] = x + y
    f[r.x, y] += 1
    f[x, r.x] += 2 * f[x, r.x]
    f[x, y] += 3
    o[x, y] = f[x, y]
    return _output(o, 100, 100)


def derivatives() -> hl.Pipeline:
    """13.4: loads at every kind of index; unknown ones that merge and some that do not (Q12, Q13)."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x * y
    clipped = hl.min(x, 10)
    indices = [
        x // 2 + x // 3,
        x // 2 - (x // 3 + x // 6),
        (x // 2) * 2,
        (x // 4) * 2,
        (0 - x) // 3,
        x % 2 + x,
        x // 3 - x // 2,
        (x + y) // 2 + (x - y) // 3,
        (0 - x // 3) - x // 6,
        x,
        x * 3 - clipped,
        (x * 3 - clipped) * 5,
        clipped + x * 3,
    ]
    o[x, y] = tuple(hl.Expr(f[index, y]) for index in indices)
    return _output(o, 100, 100)


def lets() -> hl.Pipeline:
    """13.5: common subexpressions become lets, which count once."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x * y
    clamped = hl.clamp(x * y, 0, 10)
    g, h = hl.Expr(f[x + y, x + y]), hl.Expr(f[x + 1, y])
    o[x, y] = f[clamped, clamped] + g * g + h + h
    return _output(o, 100, 100)


def tuple_of_types() -> hl.Pipeline:
    """13.6: three values of three types (Q19)."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = (hl.u8(x), hl.f64(y), hl.i64(x))
    o[x, y] = hl.f64(f[x, y][0]) + f[x + 1, y][1] + hl.f64(f[x, y][2])
    return _output(o, 100, 100)


def loading_predicate() -> hl.Pipeline:
    """An update whose predicate loads a Func: a footprint without a Jacobian (Q2)."""
    g, f, o = hl.Func("g"), hl.Func("f"), hl.Func("o")
    g[x, y] = hl.u8(x * 3 + y)
    r = hl.RDom([(0, 20), (0, 30)], "r")
    r.where(g[r.x, r.y] > 7)
    f[x] = 0
    f[r.x] += r.y
    o[x] = f[x] + 1
    return _output(o, 20)


def scalars() -> hl.Pipeline:
    """A zero-dimensional reduction, and loads at constants."""
    g, s, o = hl.Func("g"), hl.Func("s"), hl.Func("o")
    r = hl.RDom([(0, 20), (0, 30)], "r")
    g[x, y] = hl.f32(x * 3 + y)
    s[()] = g[3, 4]
    s[()] += g[r.x, r.y]
    o[x] = s[()] + g[3, 4] + x
    return _output(o, 20)


def two_outputs(first: int = 0) -> hl.Pipeline:
    """Two outputs, one of which feeds the other (Q17)."""
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    h[x, y] = hl.f32(x + y)
    f[x, y] = h[x, y] + h[x + 1, y + 2]
    g[x, y] = f[y, x] * 2 + h[x // 2, y * 3]
    f.set_estimates([(0, 30), (0, 40)])
    g.set_estimates([(0, 130), (0, 140)])
    return hl.Pipeline([f, g] if first == 0 else [g, f])


def bounded_output() -> hl.Pipeline:
    """A bound goes before an estimate and has a constant extent."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y, c] = hl.f32(x + y + c)
    f[x, y, c] = g[x, y, c] + g[x + 1, y, c]
    f.bound(c, 0, 3)
    return _output(f, 30, 40, 5)


def interleaved_output() -> hl.Pipeline:
    """4.7: the output buffer's constraints put dimension 2 innermost in memory."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x * y
    o[x, y, c] = hl.u8(f[x, y] + f[x, y + 1] + c)
    buffer = o.output_buffer()
    buffer.dim(0).set_stride(3)
    buffer.dim(2).set_stride(1).set_bounds(0, 3)
    return _output(o, 64, 32, 3)


def reordered() -> hl.Pipeline:
    """A reorder is honoured, and turns point-wise loads into transposes (Q11)."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = hl.f32(x + y)
    f[x, y] = g[x, y] + g[x + 1, y]
    g.reorder(y, x)
    return _output(f, 30, 40)


def parameters() -> hl.Pipeline:
    """Parameters in offsets, factors, domains and input extents."""
    p, m = _integer("p", 7), _integer("m", 3)
    scale = hl.Param(hl.Float(32), "scale")
    scale.set_estimate(0.1)
    image = _image("image", hl.UInt(16), (1, 600), (2, 400))
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    column = hl.clamp(x, image.dim(0).min(), image.dim(0).max())
    f[x, y] = hl.f32(image[column, hl.clamp(y, 0, image.dim(1).extent() - 1)]) * scale
    g[x, y] = f[x + p, y * m] + f[x, y - p]
    r = hl.RDom([(p, m * 5)], "r")
    o[x, y] = hl.sum(g[x + r.x, y] * scale)
    return _output(o, 30, 40)


def parameter_in_value_bounds() -> hl.Pipeline:
    """The one way in which a bound depends on a parameter (Q5); mirrored and clamped loads (Q21)."""
    p = _integer("p", 7)
    f, g, h, o = hl.Func("f"), hl.Func("g"), hl.Func("h"), hl.Func("o")
    f[x], h[x] = hl.f32(x), hl.f32(x)
    g[x] = hl.clamp(x * 3, 0, p)
    o[x] = f[g[x]] + h[2 * x + 1] + h[5 - x]
    return _output(o, 30)


def resampling() -> hl.Pipeline:
    """Loads at twice and half the coordinate, a select and extern calls."""
    f, d, u, o = hl.Func("f"), hl.Func("d"), hl.Func("u"), hl.Func("o")
    f[x, y] = hl.f32(x * y)
    d[x, y] = f[2 * x, y] + f[2 * x + 1, y]
    u[x, y] = d[x // 2, y] + d[x // 2 + 1, y]
    o[x, y] = hl.select(u[x, y] > d[x, y], u[x, y], hl.sqrt(d[x, y])) + hl.abs(u[x + 1, y])
    return _output(o, 30, 40)


# Read when the pipeline is: Halide does not keep the array alive.
_BUFFER = hl.Buffer(np.zeros((20, 30), np.uint8))


def oddities() -> hl.Pipeline:
    """Accidental inputs (Q9), a point-wise transpose (Q8), bit operations, lerp, random numbers, buffers."""
    a, b, d, w, o = (hl.Func(name) for name in ("fa", "fb", "fd", "fw", "o"))
    a[x] = hl.abs(x)
    b[x, y] = _BUFFER[y, x]
    d[x, y] = hl.absd(hl.u8(x), hl.u8(y))
    w[x, y] = d[x, y]
    noise = hl.i32(hl.random_float() * hl.lerp(hl.f32(x), hl.f32(y), hl.f32(0.5)))
    bits = hl.i32((x & 3) + hl.i32((hl.u32(x) >> 1) & 7))
    at_b = b[hl.clamp(x, 0, 10), hl.clamp(y, 0, 10)]
    o[x, y] = hl.u32(a[x]) + hl.u32(at_b) + hl.u32(w[x, y]) + hl.u32(noise + bits)
    return _output(o, 20, 30)


def loads_of_loads() -> hl.Pipeline:
    """Indices that are loaded themselves."""
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x], g[x] = hl.u8(x), hl.u8(2 * x)
    o[x, y] = hl.i32(f[hl.i32(g[x + y])]) + hl.i32(g[hl.i32(f[y]) + 3])
    return _output(o, 20, 30)


def wide_type() -> hl.Pipeline:
    """A stage of 64-bit integers only (Q1), one of 16-bit floats, and one of booleans (Q3)."""
    f, h, b, o = hl.Func("f"), hl.Func("h"), hl.Func("b"), hl.Func("o")
    f[x] = hl.i64(x) * hl.i64(3)
    h[x] = hl.cast(hl.Float(16), x)
    b[x] = x > 3
    o[x] = hl.select(b[x], f[x] * f[x + 1], hl.i64(h[x]))
    return _output(o, 20)


def scatter_to_parameter() -> hl.Pipeline:
    """Updates whose region depends on a parameter and on values of the Func itself."""
    p = _integer("p", 7)
    f, o, r = hl.Func("f"), hl.Func("o"), hl.RDom([(0, p)], "r")
    f[x, y] = 0
    f[r.x * 2, y] += 1
    f[x, hl.clamp(f[x, 0], 0, p)] = 3
    o[x, y] = f[x, y]
    return _output(o, 20, 30)


def recursive_filter() -> hl.Pipeline:
    """A forward and a backward scan over an input's own extent, then a transpose."""
    image = _image("in", hl.Float(32), (0, 64), (0, 32))
    width = image.dim(0).extent()
    f, o, r = hl.Func("f"), hl.Func("o"), hl.RDom([(1, width - 1)], "r")
    f[x, y] = image[hl.clamp(x, 0, width - 1), y]
    f[r.x, y] = f[r.x - 1, y] * hl.f32(0.5) + f[r.x, y]
    f[width - 1 - r.x, y] = f[width - r.x, y] + 1
    o[x, y] = f[y, x]
    return _output(o, 32, 64)


def wrappers() -> hl.Pipeline:
    """`in_()` is ignored."""
    p = _integer("p", 7)
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x, y] = hl.f32(x)
    g[x, y] = f[x, y] + f[x + 1, y] + p
    f.in_(g)
    o[x, y] = g[x, y] * 2
    return _output(o, 20, 30)


ALL: dict[str, Callable[[], hl.Pipeline]] = {
    "histogram": histogram,
    "widening_updates": widening_updates,
    "derivatives": derivatives,
    "lets": lets,
    "tuple_of_types": tuple_of_types,
    "loading_predicate": loading_predicate,
    "scalars": scalars,
    "two_outputs": two_outputs,
    "two_outputs_swapped": functools.partial(two_outputs, first=1),
    "bounded_output": bounded_output,
    "interleaved_output": interleaved_output,
    "reordered": reordered,
    "parameters": parameters,
    "parameter_in_value_bounds": parameter_in_value_bounds,
    "resampling": resampling,
    "oddities": oddities,
    "loads_of_loads": loads_of_loads,
    "wide_type": wide_type,
    "scatter_to_parameter": scatter_to_parameter,
    "recursive_filter": recursive_filter,
    "wrappers": wrappers,
}
