"""interpolate: fill-in of missing pixels."""

import halide as hl

from halidegym.envs.pipelines.size import LARGE, Size, width_and_height

_CLAMPED_LEVEL = 4  # the level whose source is clamped, to keep the pyramid's footprint small


def build(size: Size = LARGE, levels: int = 10) -> hl.Pipeline:
    """Fill missing pixels by pulling and pushing the image through a pyramid, with premultiplied alpha.

    Inputs: `input` float32 (width, height, 4), RGB and alpha; its channels are promised to be 4.
    Output: `interpolate` float32 (width, height, 3).
    Graph: 52 nodes, 52 stages (for 10 levels).
    """
    width, height = width_and_height(size)
    x, y, c = (hl.Var(name) for name in "xyc")
    image = hl.ImageParam(hl.Float(32), 3, "input")
    image.dim(2).set_bounds(0, 4)
    image.set_estimates([(0, width), (0, height), (0, 4)])
    clamped = hl.BoundaryConditions.repeat_edge(image)

    down = [hl.Func(f"downsampled_{level}") for level in range(levels)]
    alpha = clamped[x, y, 3]
    down[0][x, y, c] = hl.select(c < 3, clamped[x, y, c] * alpha, alpha)
    for level in range(1, levels):
        source = down[level - 1]
        if level == _CLAMPED_LEVEL:
            w, h = image.width() // 2 ** (level - 1), image.height() // 2 ** (level - 1)
            inside = hl.Func("clamped_level")
            inside[x, y, c] = source[hl.clamp(x, 0, w), hl.clamp(y, 0, h), c]
            source = inside
        downx = hl.Func(f"downx_{level}")
        downx[x, y, c] = (source[2 * x - 1, y, c] + 2 * source[2 * x, y, c] + source[2 * x + 1, y, c]) * hl.f32(0.25)
        down[level][x, y, c] = (downx[x, 2 * y - 1, c] + 2 * downx[x, 2 * y, c] + downx[x, 2 * y + 1, c]) * hl.f32(0.25)

    interpolated = [hl.Func(f"interpolated_{level}") for level in range(levels)]
    interpolated[-1][x, y, c] = down[-1][x, y, c]
    for level in reversed(range(levels - 1)):
        upx, up = hl.Func(f"upsampledx_{level}"), hl.Func(f"upsampled_{level}")
        upx[x, y, c] = (interpolated[level + 1][x // 2, y, c] + interpolated[level + 1][(x + 1) // 2, y, c]) / 2
        up[x, y, c] = (upx[x, y // 2, c] + upx[x, (y + 1) // 2, c]) / 2
        interpolated[level][x, y, c] = down[level][x, y, c] + (1 - down[level][x, y, 3]) * up[x, y, c]

    output = hl.Func("interpolate")
    output[x, y, c] = interpolated[0][x, y, c] / interpolated[0][x, y, 3]
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)
