"""bgu: bilateral guided upsampling."""

import halide as hl

from halidegym.envs.pipelines.expressions import add, repeat_edge
from halidegym.envs.pipelines.size import LARGE, Size, width_and_height

_LAMBDA = 0.1  # pull of the fitted colour models towards the identity


def build(size: Size = LARGE, downsampling: int = 8) -> hl.Pipeline:
    """Apply to a large image what a small pair of images shows (Chen, Adams, Wadhwa & Hasinoff 2016).

    Each cell of a coarse bilateral grid gets the 3x4 affine colour model that maps the small input to the small output
    best; the models, interpolated trilinearly, are applied to the large input. The grid is smoothed with a 1/d^3 kernel
    (after Farbman et al. 2011).

    Inputs: `splat_loc` and `values`, the small input and output, float32 (width / downsampling, height / downsampling,
    3); `slice_loc`, the large input, float32 (width, height, 3); scalars `r_sigma` float32, the cells' intensity range,
    estimate 1/8, and `s_sigma` int32, their side in small pixels, estimate 16.
    Output: `bgu` float32 (width, height, 3).
    Graph: 21 nodes, 122 stages, of which 101 solve the linear systems in place.
    """
    width, height = width_and_height(size, at_least=downsampling)
    x, y, z, c = (hl.Var(name) for name in "xyzc")
    splat_loc, values, slice_loc = (hl.ImageParam(hl.Float(32), 3, n) for n in ("splat_loc", "values", "slice_loc"))
    r_sigma = hl.Param(hl.Float(32), "r_sigma", 0.125)
    s_sigma = hl.Param(hl.Int(32), "s_sigma", 16)
    for small in (splat_loc, values):
        small.set_estimates([(0, width // downsampling), (0, height // downsampling), (0, 3)])
    slice_loc.set_estimates([(0, width), (0, height), (0, 3)])
    r_sigma.set_estimate(0.125)
    s_sigma.set_estimate(16)
    clamped_values = repeat_edge(1, values)
    clamped_splat_loc = repeat_edge(2, splat_loc)

    gray_splat_loc, gray_slice_loc = hl.Func("gray_splat_loc"), hl.Func("gray_slice_loc")
    gray_splat_loc[x, y] = _gray(clamped_splat_loc, x, y)
    gray_slice_loc[x, y] = _gray(slice_loc, x, y)

    histogram = hl.Func("histogram")
    r = hl.RDom([(0, s_sigma), (0, s_sigma)], "r")
    sx, sy = x * s_sigma + r.x - s_sigma // 2, y * s_sigma + r.y - s_sigma // 2
    position = hl.clamp(gray_splat_loc[sx, sy], hl.f32(0), hl.f32(1))
    zi = hl.i32(hl.round(position * (hl.f32(1) / r_sigma)))
    source = [clamped_splat_loc[sx, sy, i] for i in range(3)] + [hl.f32(1)]
    moments = [source[i] * source[j] if j < 3 else source[i] for i in range(4) for j in range(i, 4)]
    for k in range(3):
        value = clamped_values[sx, sy, k]
        moments += [value * source[i] if i < 3 else value for i in range(4)]
    histogram[x, y, z, c] = hl.f32(0)
    histogram[x, y, zi, c] += _choose(c, moments)

    blurz, blury, blurx = hl.Func("blurz"), hl.Func("blury"), hl.Func("blurx")
    blurz[x, y, z, c] = _smooth([histogram[x, y, z + i, c] for i in range(-3, 4)])
    blury[x, y, z, c] = _smooth([blurz[x, y + i, z, c] for i in range(-3, 4)])
    blurx[x, y, z, c] = _smooth([blury[x + i, y, z, c] for i in range(-3, 4)])
    solver = _solver(blurx, (x, y, z))

    line = hl.Func("line")
    line[x, y, z, c] = _choose(c, [solver[x, y, z, column, 4 + row] for row in range(3) for column in range(4)])

    interpolated_y, interpolated_x = hl.Func("interpolated_matrix_y"), hl.Func("interpolated_matrix_x")
    upsampling = hl.max(
        hl.i32(hl.ceil(hl.f32(slice_loc.width()) / splat_loc.width())),
        hl.i32(hl.ceil(hl.f32(slice_loc.height()) / splat_loc.height())),
    )
    cell = s_sigma * upsampling
    yf, xf = hl.f32(y) / cell, hl.f32(x) / cell
    yi, xi = hl.i32(hl.floor(yf)), hl.i32(hl.floor(xf))
    interpolated_y[x, y, z, c] = hl.lerp(line[x, yi, z, c], line[x, yi + 1, z, c], yf - yi)
    interpolated_x[x, y, z, c] = hl.lerp(interpolated_y[xi, y, z, c], interpolated_y[xi + 1, y, z, c], xf - xi)

    slice_loc_z, interpolated_z = hl.Func("slice_loc_z"), hl.Func("interpolated_matrix_z")
    num_intensity_bins = hl.i32(hl.f32(1) / r_sigma)
    depth = hl.clamp(gray_slice_loc[x, y], hl.f32(0), hl.f32(1)) * num_intensity_bins
    below = hl.i32(depth)
    slice_loc_z[x, y] = (below, depth - below)
    below, fraction = slice_loc_z[x, y][0], slice_loc_z[x, y][1]
    interpolated_z[x, y, c] = hl.lerp(interpolated_x[x, y, below, c], interpolated_x[x, y, below + 1, c], fraction)

    interpolated, output = hl.Func("interpolated"), hl.Func("bgu")
    products = [interpolated_z[x, y, 4 * c + i] * slice_loc[x, y, i] for i in range(3)]
    interpolated[x, y, c] = add([*products, interpolated_z[x, y, 4 * c + 3]])
    output[x, y, c] = hl.clamp(interpolated[x, y, c], hl.f32(0), hl.f32(1))
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)


def _solver(moments: hl.Func, cell: tuple[hl.Var, hl.Var, hl.Var]) -> hl.Func:
    """Solve A X = B in each cell for symmetric A (4x4) and B (4x3): A = L D L^T, all in place.

    Column j of the last argument is A's for j < 4, and B's column j - 4 otherwise, which becomes X's.
    """
    x, y, z = cell
    i, j = hl.Var("i"), hl.Var("j")
    solver = hl.Func("solver")

    # f[...] as an index, for reading and for the updates alike.
    def at(row: int, column: int) -> tuple[object, ...]:
        return x, y, z, row, column

    regularizer = hl.f32(_LAMBDA)
    entry = {(row, column): n for n, (row, column) in enumerate((a, b) for a in range(4) for b in range(a, 4))}
    solver[x, y, z, i, j] = hl.undef(hl.Float(32))
    for row in range(4):
        for column in range(4):
            value = moments[x, y, z, entry[min(row, column), max(row, column)]]
            solver[at(row, column)] = value + regularizer if row == column else value
        for k in range(3):
            value = moments[x, y, z, 10 + 4 * k + row]
            solver[at(row, 4 + k)] = value + regularizer if row == k else value

    # The diagonal keeps 1 / D, the lower triangle L, the upper one the columns before they were normalised.
    for column in range(4):
        solver[at(column, column)] = hl.fast_inverse(solver[at(column, column)])
        for row in range(column + 1, 4):
            solver[at(row, column)] *= solver[at(column, column)]
        for row in range(column + 1, 4):
            for k in range(column + 1, 4):
                if k < row:
                    solver[at(row, k)] = solver[at(k, row)]
                else:
                    solver[at(row, k)] -= solver[at(k, column)] * solver[at(column, row)]

    for k in range(4, 7):
        for row in range(4):
            for column in range(row):
                solver[at(row, k)] -= solver[at(row, column)] * solver[at(column, k)]
        for row in range(4):
            solver[at(row, k)] *= solver[at(row, row)]
        for row in reversed(range(4)):
            for column in range(row + 1, 4):
                solver[at(row, k)] -= solver[at(column, row)] * solver[at(column, k)]
    return solver


def _gray(image: hl.Func | hl.ImageParam, x: hl.Var, y: hl.Var) -> hl.Expr:
    return hl.f32(0.25) * image[x, y, 0] + hl.f32(0.5) * image[x, y, 1] + hl.f32(0.25) * image[x, y, 2]


def _smooth(taps: list[hl.Expr]) -> hl.Expr:
    weights = [1 / 64, 1 / 27, 1 / 8, 1, 1 / 8, 1 / 27, 1 / 64]
    return add(tap * hl.f32(weight) for tap, weight in zip(taps, weights, strict=True))


def _choose(c: hl.Var, choices: list[hl.Expr]) -> hl.Expr:
    """The choice at index c, the last one by default, as a chain of selects."""
    chosen = choices[-1]
    for index in reversed(range(len(choices) - 1)):
        chosen = hl.select(c == index, choices[index], chosen)
    return chosen
