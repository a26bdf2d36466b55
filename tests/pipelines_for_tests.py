"""Small pipelines for tests.

The first eight are the fixtures of docs/specification/search-and-cost-model.md, sections 2.12 and 2.13, and of
docs/specification/schedule-features.md, section 10.2, whose searches are tabulated there. The others each hold one
feature of the language that analysis and scheduling must get right. `ALL` maps their names to their builders.
"""

from collections.abc import Callable

import halide as hl


def _vars(names: str) -> list[hl.Var]:
    return [hl.Var(name) for name in names]


def _image(name: str, extents: tuple[int, ...], element: hl.Type | None = None) -> hl.ImageParam:
    image = hl.ImageParam(element or hl.Float(32), len(extents), name)
    image.set_estimates([(0, extent) for extent in extents])
    return image


def _pipeline(output: hl.Func, *extents: int) -> hl.Pipeline:
    output.set_estimates([(0, extent) for extent in extents])
    return hl.Pipeline(output)


def blur() -> hl.Pipeline:
    """Separable 3x3 box blur with a clamped input."""
    x, y = _vars("xy")
    inp = _image("inp", (2048, 2048))
    cl = hl.BoundaryConditions.repeat_edge(inp, [(0, 2048), (0, 2048)])
    bx, by = hl.Func("bx"), hl.Func("by")
    bx[x, y] = (cl[x - 1, y] + cl[x, y] + cl[x + 1, y]) / 3
    by[x, y] = (bx[x, y - 1] + bx[x, y] + bx[x, y + 1]) / 3
    return _pipeline(by, 2048, 2048)


def matmul() -> hl.Pipeline:
    """Matrix product with a pure copy at its end."""
    x, y = _vars("xy")
    a, b = _image("A", (512, 512)), _image("B", (512, 512))
    r = hl.RDom([(0, 512)], "r")
    m, o = hl.Func("m"), hl.Func("o")
    m[x, y] = hl.f32(0)
    m[x, y] += a[r, y] * b[x, r]
    o[x, y] = m[x, y]
    return _pipeline(o, 512, 512)


def hist() -> hl.Pipeline:
    """Histogram equalisation of a grey image: scatter, serial scan, table lookup."""
    x, y, i = _vars("xyi")
    inp = _image("inp", (1024, 768), hl.UInt(8))
    r = hl.RDom([(0, 1024), (0, 768)], "r")
    b = hl.RDom([(1, 255)], "b")
    h, cdf, o = hl.Func("h"), hl.Func("cdf"), hl.Func("o")
    h[i] = hl.u32(0)
    h[hl.i32(inp[r.x, r.y])] += hl.u32(1)
    cdf[i] = hl.u32(0)
    cdf[0] = h[0]
    cdf[b.x] = cdf[b.x - 1] + h[b.x]
    o[x, y] = hl.u8(cdf[hl.i32(inp[x, y])] * 255 / (1024 * 768))
    return _pipeline(o, 1024, 768)


def stencil3() -> hl.Pipeline:
    """Three stages with a strided access, and one consumed twice."""
    x, y = _vars("xy")
    image = _image("I", (3002, 1002))
    s1, s2, s3 = hl.Func("s1"), hl.Func("s2"), hl.Func("s3")
    s1[x, y] = hl.sqrt(image[2 * x, y] + image[2 * x + 1, y])
    s2[x, y] = s1[x, y - 1] + s1[x, y] * s1[x, y + 1]
    s3[x, y] = s2[x - 1, y] * s2[x + 1, y] + s1[x, y]
    return _pipeline(s3, 1501, 1000)


def lookthrough() -> hl.Pipeline:
    """A pointwise node whose consumers look through it to a transposed input."""
    x, y = _vars("xy")
    image = _image("I", (2000, 2000))
    p, q, f = hl.Func("p"), hl.Func("q"), hl.Func("f")
    p[x, y] = hl.sin(image[x, y])
    q[x, y] = hl.cos(image[y, x]) + p[x, y]
    f[x, y] = p[x, y] + q[2 * x, y] + p[x + 1, y]
    return _pipeline(f, 1000, 1000)


def fanout() -> hl.Pipeline:
    """A pointwise node with two consumers, one of them transposed, at odd sizes."""
    x, y = _vars("xy")
    image = _image("I", (720, 720))
    g, a, b, o = hl.Func("g"), hl.Func("a"), hl.Func("b"), hl.Func("o")
    g[x, y] = hl.sqrt(image[x, y])
    a[x, y] = g[x - 1, y] * g[x + 1, y]
    b[x, y] = g[y - 1, x] + g[y, x] * g[y + 1, x]
    o[x, y] = a[x, y] + b[x, y - 1] * b[x, y + 1]
    return _pipeline(o, 701, 331)


def scan() -> hl.Pipeline:
    """A serial scan along y and a reduction to a scalar."""
    x, y = _vars("xy")
    image, a = _image("I", (1003, 100)), _image("A", (1000,))
    r, q = hl.RDom([(1, 99)], "r"), hl.RDom([(0, 1000)], "q")
    s, t, o = hl.Func("s"), hl.Func("t"), hl.Func("o")
    s[x, y] = hl.sqrt(image[x, y])
    s[x, r.x] += s[x, r.x - 1] * hl.f32(0.5)
    t[()] = hl.f32(0)
    t[()] += a[q.x]
    o[x, y] = s[x, y] + t[()]
    return _pipeline(o, 1003, 100)


def mm() -> hl.Pipeline:
    """The matrix product of docs/specification/schedule-features.md, section 10.2."""
    i, j = _vars("ij")
    a, b = _image("A", (256, 128)), _image("B", (128, 192))
    r = hl.RDom([(0, 128)], "r")
    c, out = hl.Func("C"), hl.Func("out")
    c[i, j] = hl.f32(0)
    c[i, j] += a[i, r] * b[r, j]
    out[i, j] = hl.max(c[i, j], hl.f32(0))
    return _pipeline(out, 256, 192)


def two_outputs() -> hl.Pipeline:
    """Two outputs of different size, one of which feeds the other."""
    x, y = _vars("xy")
    image = _image("I", (514, 512))
    base, first, second = hl.Func("base"), hl.Func("first"), hl.Func("second")
    base[x, y] = hl.sqrt(image[x, y])
    first[x, y] = base[x, y] + base[x + 1, y]
    second[x, y] = first[x, y] * first[x + 1, y] + base[x, y]
    first.set_estimates([(0, 513), (0, 512)])
    second.set_estimates([(0, 512), (0, 512)])
    return hl.Pipeline([first, second])


def tuple_of_types() -> hl.Pipeline:
    """A Func with three values of different types, one of them updated."""
    x, y = _vars("xy")
    image = _image("I", (640, 480), hl.UInt(16))
    r = hl.RDom([(1, 4)], "r")
    t, o = hl.Func("t"), hl.Func("o")
    value = image[x, y]
    t[x, y] = (hl.f32(value) / 3, hl.i32(value) - 5, hl.u8(value))
    t[x, y] = (t[x, y][0] + r.x, t[x, y][1] * r.x, t[x, y][2] + hl.u8(r.x))
    o[x, y] = t[x, y][0] + hl.f32(t[x, y][1]) * hl.f32(t[x, y][2])
    return _pipeline(o, 640, 480)


def odd_sizes() -> hl.Pipeline:
    """Prime extents, a third dimension of 3, and a minimum that is not 0."""
    x, y, c = _vars("xyc")
    image = _image("I", (131, 97, 3))
    down, o = hl.Func("down"), hl.Func("o")
    down[x, y, c] = (image[2 * x, y, c] + image[2 * x + 1, y, c]) * hl.f32(0.5)
    o[x, y, c] = down[x // 2, y, c] + down[x // 2 + 1, y + 1, 2 - c]
    o.set_estimates([(7, 113), (5, 89), (0, 3)])
    return hl.Pipeline(o)


def triangular() -> hl.Pipeline:
    """A reduction with a predicate: the sum over the lower triangle of a window."""
    x, y = _vars("xy")
    image = _image("I", (263, 199))
    r = hl.RDom([(0, 8), (0, 8)], "r")
    r.where(r.x <= r.y)
    window, o = hl.Func("window"), hl.Func("o")
    window[x, y] = hl.f32(0)
    window[x, y] += image[x + r.x, y + r.y]
    o[x, y] = window[x, y] * hl.f32(0.0625)
    return _pipeline(o, 256, 192)


def scalar_sum() -> hl.Pipeline:
    """A 0-dimensional output: the sum of the squares of an image."""
    x, y = _vars("xy")
    image = _image("I", (500, 300))
    r = hl.RDom([(0, 500), (0, 300)], "r")
    square, total = hl.Func("square"), hl.Func("total")
    square[x, y] = image[x, y] * image[x, y]
    total[()] = hl.f32(0)
    total[()] += square[r.x, r.y]
    return hl.Pipeline(total)


def several_updates() -> hl.Pipeline:
    """A Func with four updates: one column, a scan, a point-wise one and one with two reduction variables."""
    x, y = _vars("xy")
    image = _image("I", (300, 206))
    r, q = hl.RDom([(1, 299)], "r"), hl.RDom([(0, 3), (0, 5)], "q")
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = image[x, y]
    f[0, y] = hl.f32(1)
    f[r.x, y] += f[r.x - 1, y] * hl.f32(0.25)
    f[x, y] *= hl.f32(2)
    f[x, y] += image[x, y + q.y] * q.x
    o[x, y] = f[x, y] + f[299 - x, y]
    return _pipeline(o, 300, 200)


def three_lookups() -> hl.Pipeline:
    """Vectors compute more of the output than there is, and with it more of a table than searches allow by default.

    Not among `ALL`, since the reference finds no schedule for it.
    """
    x, y = _vars("xy")
    image = _image("I", (64,), hl.UInt(8))
    r = hl.RDom([(0, 16)], "r")
    table, o = hl.Func("table"), hl.Func("o")
    table[x, y] = hl.sqrt(hl.f32(image[x]) + y)
    o[x] = hl.u8(0)
    o[x] += hl.u8(table[x + r, hl.i32(image[r])])
    return _pipeline(o, 3)


ALL: dict[str, Callable[[], hl.Pipeline]] = {
    builder.__name__: builder
    for builder in (
        blur,
        matmul,
        hist,
        stencil3,
        lookthrough,
        fanout,
        scan,
        mm,
        two_outputs,
        tuple_of_types,
        odd_sizes,
        triangular,
        scalar_sum,
        several_updates,
    )
}
