"""unsharp: unsharp masking of a colour image."""

import math

import halide as hl

from halidegym.envs.pipelines.expressions import add, luma
from halidegym.envs.pipelines.size import LARGE, Size, width_and_height

_SIGMA = 1.5


def build(size: Size = LARGE) -> hl.Pipeline:
    """Sharpen the luma by unsharp masking with a 7-tap separable Gaussian, and scale the colours by the luma's ratio.

    Inputs: `input` float32 (width, height, 3).
    Output: `unsharp` float32 (width, height, 3).
    Graph: 10 nodes, 10 stages. The kernel is a Func and is not normalised.
    """
    width, height = width_and_height(size)
    x, y, c = (hl.Var(name) for name in "xyc")
    image = hl.ImageParam(hl.Float(32), 3, "input")
    image.set_estimates([(0, width), (0, height), (0, 3)])
    clamped = hl.BoundaryConditions.repeat_edge(image)

    kernel, gray = hl.Func("kernel"), hl.Func("gray")
    kernel[x] = hl.exp(-x * x / hl.f32(2 * _SIGMA**2)) / hl.f32(math.sqrt(2 * math.pi) * _SIGMA)
    gray[x, y] = luma(clamped, x, y)

    blur_y, blur_x = hl.Func("blur_y"), hl.Func("blur_x")
    blur_y[x, y] = kernel[0] * gray[x, y] + add(kernel[i] * (gray[x, y - i] + gray[x, y + i]) for i in (1, 2, 3))
    blur_x[x, y] = kernel[0] * blur_y[x, y] + add(kernel[i] * (blur_y[x - i, y] + blur_y[x + i, y]) for i in (1, 2, 3))

    sharpen, ratio, output = hl.Func("sharpen"), hl.Func("ratio"), hl.Func("unsharp")
    sharpen[x, y] = 2 * gray[x, y] - blur_x[x, y]
    ratio[x, y] = sharpen[x, y] / gray[x, y]
    output[x, y, c] = ratio[x, y] * image[x, y, c]
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)
