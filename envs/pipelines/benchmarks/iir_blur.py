"""iir_blur: recursive low-pass filter."""

import halide as hl

from halidegym.envs.pipelines.expressions import set_shape
from halidegym.envs.pipelines.size import LARGE, Size, width_and_height


def build(size: Size = LARGE) -> hl.Pipeline:
    """First-order exponential low-pass, down and back up the columns, then along the rows.

    Both directions are "filter the columns and transpose", applied twice.

    Inputs: `input` float32 (width, height, 3); scalar `alpha` float32, the weight of the new sample, estimate 0.1.
    Output: `iir_blur` float32 (width, height, 3). Sizes and strides of both images are promised to the compiler.
    Graph: 5 nodes, 11 stages.
    """
    width, height = width_and_height(size)
    shape = (width, height, 3)
    image = hl.ImageParam(hl.Float(32), 3, "input")
    alpha = hl.Param(hl.Float(32), "alpha", 0.1)
    set_shape(image, shape)
    image.set_estimates([(0, extent) for extent in shape])
    alpha.set_estimate(0.1)

    columns = _filter_and_transpose(image, image.height(), alpha, "columns")
    output = _filter_and_transpose(columns, image.width(), alpha, "iir_blur")
    set_shape(output.output_buffer(), shape)
    output.set_estimates([(0, extent) for extent in shape])
    return hl.Pipeline(output)


def _filter_and_transpose(source: hl.Func | hl.ImageParam, length: hl.Expr, alpha: hl.Param, name: str) -> hl.Func:
    x, y, c = (hl.Var(name) for name in "xyc")
    blur, transposed = hl.Func(f"{name}_blur"), hl.Func(name)
    r = hl.RDom([(1, length - 1)], "r")
    k = length - r - 1
    blur[x, y, c] = hl.undef(hl.Float(32))
    blur[x, 0, c] = source[x, 0, c]
    blur[x, r, c] = (1 - alpha) * blur[x, r - 1, c] + alpha * source[x, r, c]
    blur[x, k, c] = (1 - alpha) * blur[x, k + 1, c] + alpha * blur[x, k, c]
    transposed[x, y, c] = blur[y, x, c]
    return transposed
