"""harris: corner response."""

import halide as hl

from halidegym.envs.pipelines.expressions import add, luma
from halidegym.envs.pipelines.size import LARGE, Size, width_and_height

_TAPS = ((-1, 1), (0, 2), (1, 1))  # offset and weight in twelfths of the Sobel kernel's smoothing side


def build(size: Size = LARGE) -> hl.Pipeline:
    """Harris corner response (Harris & Stephens 1988): 3x3 Sobel derivatives, 3x3 box window, k = 0.04.

    Inputs: `input` float32 (width, height, 3).
    Output: `harris` float32, (width - 6, height - 6) pixels from (3, 3) on; there is no boundary condition.
    Graph: 13 nodes, 13 stages.
    """
    width, height = width_and_height(size, at_least=7)
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 3, "input")
    image.set_estimates([(0, width), (0, height), (0, 3)])

    gray = hl.Func("gray")
    gray[x, y] = luma(image, x, y)

    iy, ix = hl.Func("Iy"), hl.Func("Ix")
    iy[x, y] = add(gray[x + i, y + side] * hl.f32(side * w / 12) for i, w in _TAPS for side in (-1, 1))
    ix[x, y] = add(gray[x + side, y + i] * hl.f32(side * w / 12) for i, w in _TAPS for side in (-1, 1))

    ixx, iyy, ixy = hl.Func("Ixx"), hl.Func("Iyy"), hl.Func("Ixy")
    ixx[x, y] = ix[x, y] * ix[x, y]
    iyy[x, y] = iy[x, y] * iy[x, y]
    ixy[x, y] = ix[x, y] * iy[x, y]

    sxx, syy, sxy = hl.Func("Sxx"), hl.Func("Syy"), hl.Func("Sxy")
    for window, product in ((sxx, ixx), (syy, iyy), (sxy, ixy)):
        window[x, y] = add(product[x + i, y + j] for i in (-1, 0, 1) for j in (-1, 0, 1))

    det, trace, output = hl.Func("det"), hl.Func("trace"), hl.Func("harris")
    det[x, y] = sxx[x, y] * syy[x, y] - sxy[x, y] * sxy[x, y]
    trace[x, y] = sxx[x, y] + syy[x, y]
    output[x, y] = det[x, y] - hl.f32(0.04) * trace[x, y] * trace[x, y]
    output.set_estimates([(3, width - 6), (3, height - 6)])
    return hl.Pipeline(output)
