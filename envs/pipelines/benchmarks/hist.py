"""hist: histogram equalisation."""

import halide as hl

from halidegym.envs.pipelines.expressions import luma
from halidegym.envs.pipelines.size import LARGE, Size, width_and_height


def build(size: Size = LARGE) -> hl.Pipeline:
    """Equalise the histogram of a colour image's luma and keep its chroma.

    The histogram is taken per row, then summed over the rows; a serial scan turns it into the cumulative distribution.

    Inputs: `input` uint8 (width, height, 3).
    Output: `hist_equalized` uint8 (width, height, 3).
    Graph: 10 nodes, 13 stages.
    """
    width, height = width_and_height(size)
    x, y, c = (hl.Var(name) for name in "xyc")
    image = hl.ImageParam(hl.UInt(8), 3, "input")
    image.set_estimates([(0, width), (0, height), (0, 3)])
    red, blue = image[x, y, 0], image[x, y, 2]

    luminance, cr, cb = hl.Func("Y"), hl.Func("Cr"), hl.Func("Cb")
    luminance[x, y] = luma(image, x, y)
    cr[x, y] = (red - luminance[x, y]) * hl.f32(0.713) + 128
    cb[x, y] = (blue - luminance[x, y]) * hl.f32(0.564) + 128

    hist_rows, hist, cdf = hl.Func("hist_rows"), hl.Func("hist"), hl.Func("cdf")
    rx = hl.RDom([(0, image.width())], "rx")
    ry = hl.RDom([(0, image.height())], "ry")
    b = hl.RDom([(1, 255)], "b")
    hist_rows[x, y] = hl.i32(0)
    hist_rows[hl.i32(hl.clamp(luminance[rx, y], 0, 255)), y] += 1
    hist[x] = hl.i32(0)
    hist[x] += hist_rows[x, ry]
    cdf[x] = hist[0]
    cdf[b.x] = cdf[b.x - 1] + hist[b.x]

    cdf_bin, eq, output = hl.Func("cdf_bin"), hl.Func("eq"), hl.Func("hist_equalized")
    cdf_bin[x, y] = hl.u8(hl.clamp(luminance[x, y], 0, 255))
    scale = hl.f32(255) / (image.height() * image.width())
    eq[x, y] = hl.clamp(cdf[cdf_bin[x, y]] * scale, hl.f32(0), hl.f32(255))
    channels = [
        eq[x, y] + (cr[x, y] - 128) * hl.f32(1.4),
        eq[x, y] - hl.f32(0.343) * (cb[x, y] - 128) - hl.f32(0.711) * (cr[x, y] - 128),
        eq[x, y] + hl.f32(1.765) * (cb[x, y] - 128),
    ]
    output[x, y, c] = hl.mux(c, [hl.u8(hl.clamp(channel, 0, 255)) for channel in channels])
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)
