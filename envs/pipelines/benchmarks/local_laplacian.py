"""local_laplacian: tone and detail manipulation."""

import halide as hl

from halidegym.envs.pipelines.expressions import luma
from halidegym.envs.pipelines.size import LARGE, Size, width_and_height


def build(size: Size = LARGE, depth: int = 8) -> hl.Pipeline:
    """Local Laplacian filter (Paris, Hasinoff & Kautz 2011), with a few remapped copies (Aubry et al. 2014).

    One Laplacian pyramid is built for each of a few remapped copies of the image; the output pyramid interpolates
    between the copies by the local Gaussian value.

    Inputs: `input` uint16 (width, height, 3); scalars `levels` int32, the copies, estimate 8; `alpha` and `beta`
    float32, strength of detail and of tone, estimates 1.
    Output: `local_laplacian` uint16 (width, height, 3).
    Graph: 104 nodes, 104 stages (for pyramids of depth 8).
    """
    width, height = width_and_height(size)
    x, y, c, k = (hl.Var(name) for name in "xyck")
    image = hl.ImageParam(hl.UInt(16), 3, "input")
    levels = hl.Param(hl.Int(32), "levels", 8)
    alpha = hl.Param(hl.Float(32), "alpha", 1.0)
    beta = hl.Param(hl.Float(32), "beta", 1.0)
    image.set_estimates([(0, width), (0, height), (0, 3)])
    levels.set_estimate(8)
    alpha.set_estimate(1.0)
    beta.set_estimate(1.0)
    clamped = hl.BoundaryConditions.repeat_edge(image)

    remap, floating, gray = hl.Func("remap"), hl.Func("floating"), hl.Func("gray")
    position = hl.f32(x) / 256
    remap[x] = alpha * position * hl.exp(-position * position / 2)
    floating[x, y, c] = hl.f32(clamped[x, y, c]) / 65535
    gray[x, y] = luma(floating, x, y)

    remapped = [hl.Func(f"gPyramid_{j}") for j in range(depth)]
    level = k * (hl.f32(1) / (levels - 1))
    index = hl.clamp(hl.i32(gray[x, y] * hl.f32(levels - 1) * 256), 0, (levels - 1) * 256)
    remapped[0][x, y, k] = beta * (gray[x, y] - level) + level + remap[index - 256 * k]
    for j in range(1, depth):
        remapped[j][x, y, k] = _down(remapped[j - 1], f"g{j}")[x, y, k]

    details = [hl.Func(f"lPyramid_{j}") for j in range(depth)]
    details[-1][x, y, k] = remapped[-1][x, y, k]
    for j in reversed(range(depth - 1)):
        details[j][x, y, k] = remapped[j][x, y, k] - _up(remapped[j + 1], f"l{j}")[x, y, k]

    gaussian = [hl.Func(f"inGPyramid_{j}") for j in range(depth)]
    gaussian[0][x, y] = gray[x, y]
    for j in range(1, depth):
        gaussian[j][x, y] = _down(gaussian[j - 1], f"in{j}")[x, y]

    laplacian = [hl.Func(f"outLPyramid_{j}") for j in range(depth)]
    for j in range(depth):
        scaled = gaussian[j][x, y] * hl.f32(levels - 1)
        below = hl.clamp(hl.i32(scaled), 0, levels - 2)
        fraction = scaled - hl.f32(below)
        laplacian[j][x, y] = (1 - fraction) * details[j][x, y, below] + fraction * details[j][x, y, below + 1]

    collapsed = [hl.Func(f"outGPyramid_{j}") for j in range(depth)]
    collapsed[-1][x, y] = laplacian[-1][x, y]
    for j in reversed(range(depth - 1)):
        collapsed[j][x, y] = _up(collapsed[j + 1], f"out{j}")[x, y] + laplacian[j][x, y]

    color, output = hl.Func("color"), hl.Func("local_laplacian")
    epsilon = hl.f32(0.01)
    color[x, y, c] = image[x, y, c] * (collapsed[0][x, y] + epsilon) / (gray[x, y] + epsilon)
    output[x, y, c] = hl.u16(hl.clamp(color[x, y, c], hl.f32(0), hl.f32(65535)))
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)


def _down(f: hl.Func, name: str) -> hl.Func:
    """Half the size, by taps 1 3 3 1: rows first."""
    x, y = hl.Var("x"), hl.Var("y")
    downy, downx = hl.Func(f"downy_{name}"), hl.Func(f"downx_{name}")
    downy[x, y, hl._] = _half([f[x, 2 * y + i, hl._] for i in range(-1, 3)])
    downx[x, y, hl._] = _half([downy[2 * x + i, y, hl._] for i in range(-1, 3)])
    return downx


def _half(taps: list[hl.Expr]) -> hl.Expr:
    return (taps[0] + 3 * (taps[1] + taps[2]) + taps[3]) / 8


def _up(f: hl.Func, name: str) -> hl.Func:
    """Twice the size, by linear interpolation: columns first."""
    x, y = hl.Var("x"), hl.Var("y")
    upx, upy = hl.Func(f"upx_{name}"), hl.Func(f"upy_{name}")
    upx[x, y, hl._] = hl.lerp(f[(x + 1) // 2, y, hl._], f[(x - 1) // 2, y, hl._], ((x % 2) * 2 + 1) / hl.f32(4))
    upy[x, y, hl._] = hl.lerp(upx[x, (y + 1) // 2, hl._], upx[x, (y - 1) // 2, hl._], ((y % 2) * 2 + 1) / hl.f32(4))
    return upy
