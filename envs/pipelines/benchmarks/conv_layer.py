"""conv_layer: one layer of a convolutional network."""

import halide as hl

from halidegym.envs.pipelines.expressions import set_shape
from halidegym.envs.pipelines.size import Size, width_and_height


def build(
    size: Size = (100, 80),
    channels_in: int = 128,
    channels_out: int = 128,
    batch: int = 5,
    estimates: str = "published",
) -> hl.Pipeline:
    """3x3 convolution, bias and ReLU, channels innermost.

    Inputs: `input` float32 (channels_in, width + 2, height + 2, batch); `filter` (channels_out, 3, 3, channels_in);
    `bias` (channels_out).
    Output: `relu` float32 (channels_out, width, height, batch).
    Graph: 5 nodes, 6 stages.

    All sizes and strides are promised to the compiler. `estimates` says what the scheduler is told about the output:
    "published" are the estimates of the published application, (width, height, channels_out, batch) in this order, a
    permutation of the true extents (the costs in the papers were found with it); "true" bounds the output's variables
    to their extents.

    Raises:
        ValueError: `estimates` is neither "published" nor "true".
    """
    width, height = width_and_height(size)
    if estimates not in ("published", "true"):
        raise ValueError(f"estimates={estimates!r} of conv_layer is unknown: use 'published' or 'true'")
    c, x, y, n = (hl.Var(name) for name in "cxyn")
    shapes = {
        "input": (channels_in, width + 2, height + 2, batch),
        "filter": (channels_out, 3, 3, channels_in),
        "bias": (channels_out,),
    }
    inputs = [hl.ImageParam(hl.Float(32), len(shape), name) for name, shape in shapes.items()]
    for buffer, shape in zip(inputs, shapes.values(), strict=True):
        set_shape(buffer, shape)
        buffer.set_estimates([(0, extent) for extent in shape])
    image, weights, bias = inputs

    conv, relu = hl.Func("conv"), hl.Func("relu")
    r = hl.RDom([(0, channels_in), (0, 3), (0, 3)], "r")
    conv[c, x, y, n] = bias[c]
    conv[c, x, y, n] += weights[c, r.y, r.z, r.x] * image[r.x, x + r.y, y + r.z, n]
    relu[c, x, y, n] = hl.max(hl.f32(0), conv[c, x, y, n])

    set_shape(relu.output_buffer(), (channels_out, width, height, batch))
    if estimates == "true":
        for variable, extent in zip((c, x, y, n), (channels_out, width, height, batch), strict=True):
            relu.bound(variable, 0, extent)
    relu.set_estimates([(0, width), (0, height), (0, channels_out), (0, batch)])
    return hl.Pipeline(relu)
