"""camera_pipe: from a raw sensor image to RGB."""

import halide as hl

from halidegym.envs.pipelines.size import Size, width_and_height


def build(size: Size = (2592, 1968)) -> hl.Pipeline:
    """The raw pipeline of the Frankencamera (Adams et al. 2010).

    Hot-pixel suppression, demosaicking, colour correction, tone curve and sharpening, mostly in integers.

    Inputs: `input` uint16 (width, height), a Bayer mosaic of 10-bit values, without a boundary condition: to run the
    pipeline at its estimated size it must be at least (width + 22, height + 18); `matrix_3200` and `matrix_7000`
    float32 (4, 3), column first, colour matrices with an offset as their last column; scalars `color_temp` 3700,
    `gamma` 2, `contrast` 50, `sharpen_strength` 1 (float32), `blackLevel` 25 and `whiteLevel` 1023 (int32).
    Output: `camera_pipe` uint8 (width, height, 3).
    Graph: 38 nodes, 38 stages.
    """
    width, height = width_and_height(size)
    x, y, c = (hl.Var(name) for name in "xyc")
    image = hl.ImageParam(hl.UInt(16), 2, "input")
    matrix_3200, matrix_7000 = (hl.ImageParam(hl.Float(32), 2, f"matrix_{k}") for k in (3200, 7000))
    image.set_estimates([(0, width), (0, height)])
    matrix_3200.set_estimates([(0, 4), (0, 3)])
    matrix_7000.set_estimates([(0, 4), (0, 3)])
    color_temp, gamma, contrast, sharpen_strength = (
        _scalar(hl.Float(32), name, value)
        for name, value in (("color_temp", 3700.0), ("gamma", 2.0), ("contrast", 50.0), ("sharpen_strength", 1.0))
    )
    black_level, white_level = (
        _scalar(hl.Int(32), name, value) for name, value in (("blackLevel", 25), ("whiteLevel", 1023))
    )

    shifted, denoised = hl.Func("shifted"), hl.Func("denoised")
    shifted[x, y] = image[x + 16, y + 12]
    neighbours = [shifted[x - 2, y], shifted[x + 2, y], shifted[x, y - 2], shifted[x, y + 2]]
    denoised[x, y] = hl.clamp(shifted[x, y], hl.u16(0), hl.max(*neighbours))

    deinterleaved = hl.Func("deinterleaved")
    deinterleaved[x, y, c] = hl.mux(
        c,
        [
            denoised[2 * x, 2 * y],
            denoised[2 * x + 1, 2 * y],
            denoised[2 * x, 2 * y + 1],
            denoised[2 * x + 1, 2 * y + 1],
        ],
    )
    demosaiced = _demosaic(deinterleaved)
    corrected = _color_correct(demosaiced, matrix_3200, matrix_7000, color_temp)
    curved = _apply_curve(corrected, black_level, white_level, contrast, gamma)
    sharpened = _sharpen(curved, sharpen_strength)

    output = hl.Func("camera_pipe")
    output[x, y, c] = sharpened[x, y, c]
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)


def _demosaic(deinterleaved: hl.Func) -> hl.Func:
    """Colours at all sites from the four half-resolution channels; p_q is colour p at sites whose sensor colour is q.

    Corrections wrap around in 16 bits.
    """
    x, y, c = (hl.Var(name) for name in "xyc")
    g_gr, r_r, b_b, g_gb = (hl.Func(name) for name in ("g_gr", "r_r", "b_b", "g_gb"))
    for channel, f in enumerate((g_gr, r_r, b_b, g_gb)):
        f[x, y] = deinterleaved[x, y, channel]

    # Green at red and blue sites: along the direction in which it changes less.
    g_r, g_b = hl.Func("g_r"), hl.Func("g_b")
    g_r[x, y] = _smoother((g_gr[x + 1, y], g_gr[x, y]), (g_gb[x, y - 1], g_gb[x, y]))
    g_b[x, y] = _smoother((g_gb[x - 1, y], g_gb[x, y]), (g_gr[x, y + 1], g_gr[x, y]))

    # Red and blue at green sites: the neighbours' average, corrected by what that average gets wrong about green.
    r_gr, b_gr, r_gb, b_gb = (hl.Func(name) for name in ("r_gr", "b_gr", "r_gb", "b_gb"))
    r_gr[x, y] = g_gr[x, y] - _avg(g_r[x, y], g_r[x - 1, y]) + _avg(r_r[x - 1, y], r_r[x, y])
    b_gr[x, y] = g_gr[x, y] - _avg(g_b[x, y], g_b[x, y - 1]) + _avg(b_b[x, y], b_b[x, y - 1])
    r_gb[x, y] = g_gb[x, y] - _avg(g_r[x, y], g_r[x, y + 1]) + _avg(r_r[x, y], r_r[x, y + 1])
    b_gb[x, y] = g_gb[x, y] - _avg(g_b[x, y], g_b[x + 1, y]) + _avg(b_b[x, y], b_b[x + 1, y])

    # Red at blue sites and the reverse: the same over the diagonal in which it changes less.
    r_b, b_r = hl.Func("r_b"), hl.Func("b_r")
    r_b[x, y] = _diagonal(r_r, g_r, g_b[x, y], ((x, y), (x - 1, y + 1)), ((x - 1, y), (x, y + 1)))
    b_r[x, y] = _diagonal(b_b, g_b, g_r[x, y], ((x, y), (x + 1, y - 1)), ((x + 1, y), (x, y - 1)))

    r = _interleave(1, (r_gr, r_r), (r_b, r_gb))
    g = _interleave(4, (g_gr, g_r), (g_b, g_gb))
    b = _interleave(7, (b_gr, b_r), (b_b, b_gb))
    demosaiced = hl.Func("demosaiced")
    demosaiced[x, y, c] = hl.i16(hl.mux(c, [r[x, y], g[x, y], b[x, y]]))
    return demosaiced


def _smoother(horizontal: tuple[hl.Expr, hl.Expr], vertical: tuple[hl.Expr, hl.Expr]) -> hl.Expr:
    return hl.select(hl.absd(*horizontal) < hl.absd(*vertical), _avg(*horizontal), _avg(*vertical))


_Site = tuple[hl.Expr, hl.Expr]


def _diagonal(color: hl.Func, green: hl.Func, here: hl.Expr, p: tuple[_Site, _Site], n: tuple[_Site, _Site]) -> hl.Expr:
    candidates = [here - _avg(green[a], green[b]) + _avg(color[a], color[b]) for a, b in (p, n)]
    differences = [hl.absd(color[a], color[b]) for a, b in (p, n)]
    return hl.select(differences[0] < differences[1], candidates[0], candidates[1])


def _interleave(number: int, even: tuple[hl.Func, hl.Func], odd: tuple[hl.Func, hl.Func]) -> hl.Func:
    """The rows of even and odd y, each of columns of even and odd x; in three Funcs, numbered from this on."""
    x, y = hl.Var("x"), hl.Var("y")
    even_row, odd_row, interleaved = (hl.Func(f"interleaved{number + i}") for i in range(3))
    for row, (left, right) in ((even_row, even), (odd_row, odd)):
        row[x, y] = hl.select(x % 2 == 0, left[x // 2, y], right[x // 2, y])
    interleaved[x, y] = hl.select(y % 2 == 0, even_row[x, y // 2], odd_row[x, y // 2])
    return interleaved


def _color_correct(
    demosaiced: hl.Func, matrix_3200: hl.ImageParam, matrix_7000: hl.ImageParam, color_temp: hl.Param
) -> hl.Func:
    """Apply the colour matrix for the temperature, in fixed point with 8 fractional bits."""
    x, y, c = (hl.Var(name) for name in "xyc")
    warm, cold = hl.f32(1 / 3200), hl.f32(1 / 7000)
    alpha = (hl.f32(1) / color_temp - warm) / (cold - warm)
    # Names steer the order of nodes: with these two, costs and evaluations are those of the published search.
    matrix, corrected = hl.Func("color_matrix"), hl.Func("white_balanced")
    value = matrix_3200[x, y] * alpha + matrix_7000[x, y] * (1 - alpha)
    matrix[x, y] = hl.i16(value * 256)
    colors = [hl.i32(demosaiced[x, y, i]) for i in range(3)]
    rows = []
    for row in range(3):
        total = matrix[3, row] + matrix[0, row] * colors[0] + matrix[1, row] * colors[1] + matrix[2, row] * colors[2]
        rows.append(hl.i16(total / 256))
    corrected[x, y, c] = hl.mux(c, rows)
    return corrected


def _apply_curve(
    corrected: hl.Func, black_level: hl.Param, white_level: hl.Param, contrast: hl.Param, gamma: hl.Param
) -> hl.Func:
    """Map 10-bit values to 8 bits by a tone curve, from a table."""
    x, y, c = (hl.Var(name) for name in "xyc")
    t = hl.clamp(hl.f32(x - black_level) * (hl.f32(1) / (white_level - black_level)), hl.f32(0), hl.f32(1))
    powered = hl.pow(t, hl.f32(1) / gamma)
    b = 2 - hl.pow(hl.f32(2), contrast / 100)
    a = 2 - 2 * b
    above = 1 - (a * (1 - powered) * (1 - powered) + b * (1 - powered))
    z = hl.select(powered > hl.f32(0.5), above, a * powered * powered + b * powered)
    code = hl.u8(hl.clamp(z * 255 + hl.f32(0.5), hl.f32(0), hl.f32(255)))
    curve, curved = hl.Func("curve"), hl.Func("curved")
    curve[x] = hl.select(x <= black_level, hl.u8(0), hl.select(x > white_level, hl.u8(255), code))
    curved[x, y, c] = curve[hl.clamp(corrected[x, y, c], hl.i16(0), hl.i16(1023))]
    return curved


def _sharpen(curved: hl.Func, sharpen_strength: hl.Param) -> hl.Func:
    x, y, c = (hl.Var(name) for name in "xyc")
    strength_x32, unsharp_y, unsharp = hl.Func("sharpen_strength_x32"), hl.Func("unsharp_y"), hl.Func("unsharp")
    strength_x32[()] = hl.saturating_cast(hl.UInt(8), sharpen_strength * 32)
    unsharp_y[x, y, c] = _blur121(curved[x, y - 1, c], curved[x, y, c], curved[x, y + 1, c])
    unsharp[x, y, c] = _blur121(unsharp_y[x - 1, y, c], unsharp_y[x, y, c], unsharp_y[x + 1, y, c])

    mask, sharpened = hl.Func("mask"), hl.Func("sharpened")
    mask[x, y, c] = hl.i16(curved[x, y, c]) - hl.i16(unsharp[x, y, c])
    sharper = curved[x, y, c] + (mask[x, y, c] * strength_x32[()]) / 32
    sharpened[x, y, c] = hl.saturating_cast(hl.UInt(8), sharper)
    return sharpened


def _blur121(a: hl.Expr, b: hl.Expr, c: hl.Expr) -> hl.Expr:
    return _avg(_avg(a, c), b)


def _avg(a: hl.Expr, b: hl.Expr) -> hl.Expr:
    """Average of two integers, rounded up, computed in twice their width."""
    narrow = hl.Expr(a).type() if not isinstance(a, hl.Expr) else a.type()
    wide = narrow.with_bits(2 * narrow.bits())
    return hl.cast(narrow, (hl.cast(wide, a) + b + 1) / 2)


def _scalar(element: hl.Type, name: str, value: float) -> hl.Param:
    parameter = hl.Param(element, name, value)
    parameter.set_estimate(value)
    return parameter
