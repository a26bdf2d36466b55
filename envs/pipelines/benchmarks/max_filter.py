"""max_filter: greyscale dilation with a disc."""

import math

import halide as hl

from halidegym.envs.pipelines.size import LARGE, Size, width_and_height


def build(size: Size = LARGE, radius: int = 26) -> hl.Pipeline:
    """Maximum over a disc around each pixel.

    The disc is a row of vertical runs; the maximum over a run comes from a table of the maxima over 2^t rows, of which
    two that overlap cover any run.

    Inputs: `input` float32 (width, height, 3).
    Output: `max_filter` float32 (width, height, 3).
    Graph: 10 nodes, 13 stages.
    """
    width, height = width_and_height(size)
    slices = math.ceil(math.log2(radius)) + 1
    x, y, c, t = (hl.Var(name) for name in "xyct")
    image = hl.ImageParam(hl.Float(32), 3, "input")
    image.set_estimates([(0, width), (0, height), (0, 3)])
    # The copy makes this the graph that a C++ generator's repeat_edge gives; channels are not clamped.
    copy = hl.Func("copy")
    copy[x, y, c] = image[x, y, c]
    clamped = hl.BoundaryConditions.repeat_edge(copy, [(image.dim(d).min(), image.dim(d).extent()) for d in (0, 1)])

    # vert_log(x, y, c, t) is the maximum over the rows from y to y + 2^t - 1.
    vert_log = hl.Func("vert_log")
    r = hl.RDom([(-radius, image.height() + radius), (1, slices - 1)], "r")
    half = hl.clamp(hl.i32(1) << (r.y - 1), 0, 2 * radius)
    vert_log[x, y, c, t] = clamped[x, y, c]
    vert_log[x, r.x, c, r.y] = hl.max(vert_log[x, r.x, c, r.y - 1], vert_log[x, r.x + half, c, r.y - 1])

    slice_for_radius, vert = hl.Func("slice_for_radius"), hl.Func("vert")
    slice_for_radius[t] = hl.i32(hl.floor(hl.log(hl.f32(2 * t + 1)) / hl.f32(math.log(2))))
    table = hl.clamp(slice_for_radius[t], 0, slices)
    first = vert_log[x, y - t, c, table]
    last = vert_log[x, y + t + 1 - hl.clamp(hl.i32(1) << table, 0, 2 * radius), c, table]
    vert[x, y, c, t] = hl.max(first, last)

    filter_height, output = hl.Func("filter_height"), hl.Func("max_filter")
    dy = hl.RDom([(0, radius + 1)], "dy")
    dx = hl.RDom([(-radius, 2 * radius + 1)], "dx")
    filter_height[x] = hl.sum(hl.select(x * x + dy * dy < hl.f32((radius + 0.25) ** 2), 1, 0))
    output[x, y, c] = hl.maximum(vert[x + dx, y, c, hl.clamp(filter_height[dx], 0, radius + 1)])
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)
