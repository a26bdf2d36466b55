"""bilateral_grid: edge-preserving smoothing of a grey image."""

import halide as hl

from halidegym.envs.pipelines.size import LARGE, Size, width_and_height

_BIN = 8  # pixels along each side of a grid cell


def build(size: Size = LARGE) -> hl.Pipeline:
    """Smooth a grey image without blurring its edges, with a bilateral grid.

    Pixels are splatted into a coarse volume over x, y and intensity that holds (sum of values, count); the volume is
    blurred along its three axes and sampled trilinearly at each pixel (Paris & Durand 2006; Chen, Paris & Durand 2007).

    Inputs: `input` float32 (width, height) in [0, 1]; scalar `r_sigma` float32, the intensity bin, estimate 0.1.
    Output: `bilateral_grid` float32 (width, height).
    Graph: 9 nodes, 10 stages.
    """
    width, height = width_and_height(size)
    x, y, z, c = (hl.Var(name) for name in "xyzc")
    image = hl.ImageParam(hl.Float(32), 2, "input")
    r_sigma = hl.Param(hl.Float(32), "r_sigma", 0.1)
    image.set_estimates([(0, width), (0, height)])
    r_sigma.set_estimate(0.1)
    clamped = hl.BoundaryConditions.repeat_edge(image)

    histogram = hl.Func("histogram")
    r = hl.RDom([(0, _BIN), (0, _BIN)], "r")
    value = hl.clamp(clamped[x * _BIN + r.x - _BIN // 2, y * _BIN + r.y - _BIN // 2], hl.f32(0), hl.f32(1))
    intensity_bin = hl.i32(value * (hl.f32(1) / r_sigma) + hl.f32(0.5))
    histogram[x, y, z, c] = hl.f32(0)
    histogram[x, y, intensity_bin, c] += hl.mux(c, [value, hl.f32(1)])

    blurz, blurx, blury = hl.Func("blurz"), hl.Func("blurx"), hl.Func("blury")
    blurz[x, y, z, c] = _binomial([histogram[x, y, z + i, c] for i in range(-2, 3)])
    blurx[x, y, z, c] = _binomial([blurz[x + i, y, z, c] for i in range(-2, 3)])
    blury[x, y, z, c] = _binomial([blurx[x, y + i, z, c] for i in range(-2, 3)])

    depth = hl.clamp(image[x, y], hl.f32(0), hl.f32(1)) * (hl.f32(1) / r_sigma)
    zi = hl.i32(depth)
    zf = depth - zi
    xf, yf = (hl.f32(position % _BIN) / _BIN for position in (x, y))
    xi, yi = x // _BIN, y // _BIN

    def slice_at(zi: hl.Expr) -> hl.Expr:
        top, bottom = (hl.lerp(blury[xi, j, zi, c], blury[xi + 1, j, zi, c], xf) for j in (yi, yi + 1))
        return hl.lerp(top, bottom, yf)

    interpolated, output = hl.Func("interpolated"), hl.Func("bilateral_grid")
    interpolated[x, y, c] = hl.lerp(slice_at(zi), slice_at(zi + 1), zf)
    output[x, y] = interpolated[x, y, 0] / interpolated[x, y, 1]
    output.set_estimates([(0, width), (0, height)])
    return hl.Pipeline(output)


def _binomial(taps: list[hl.Expr]) -> hl.Expr:
    return taps[0] + taps[1] * 4 + taps[2] * 6 + taps[3] * 4 + taps[4]
