"""nl_means: denoising."""

import halide as hl

from halidegym.envs.pipelines.size import LARGE, Size, width_and_height


def build(size: Size = LARGE) -> hl.Pipeline:
    """Non-local means with box patches (Buades, Coll & Morel 2005): average pixels whose surroundings look alike.

    Inputs: `input` float32 (width, height, 3); scalars `patch_size` int32, estimate 7; `search_area` int32, estimate 7;
    `sigma` float32, estimate 0.12.
    Output: `non_local_means` float32 (width, height, 3), its channels promised to be 3.
    Graph: 14 nodes, 18 stages.
    """
    width, height = width_and_height(size)
    x, y, c, dx, dy = (hl.Var(name) for name in ("x", "y", "c", "dx", "dy"))
    image = hl.ImageParam(hl.Float(32), 3, "input")
    patch_size = hl.Param(hl.Int(32), "patch_size", 7)
    search_area = hl.Param(hl.Int(32), "search_area", 7)
    sigma = hl.Param(hl.Float(32), "sigma", 0.12)
    image.set_estimates([(0, width), (0, height), (0, 3)])
    patch_size.set_estimate(7)
    search_area.set_estimate(7)
    sigma.set_estimate(0.12)
    clamped = hl.BoundaryConditions.repeat_edge(image)

    scale = hl.f32(-1) / (sigma * sigma * patch_size * patch_size)
    channels = hl.RDom([(0, 3)], "channels")
    patch = hl.RDom([(-(patch_size // 2), patch_size)], "patch")
    search = hl.RDom([(-(search_area // 2), search_area)] * 2, "search")

    dc, d = hl.Func("dc"), hl.Func("d")
    dc[x, y, dx, dy, c] = hl.pow(clamped[x, y, c] - clamped[x + dx, y + dy, c], 2)
    d[x, y, dx, dy] = hl.sum(dc[x, y, dx, dy, channels], "sum1")

    blur_d_y, blur_d, weight = hl.Func("blur_d_y"), hl.Func("blur_d"), hl.Func("w")
    blur_d_y[x, y, dx, dy] = hl.sum(d[x, y + patch, dx, dy], "sum2")
    blur_d[x, y, dx, dy] = hl.sum(blur_d_y[x + patch, y, dx, dy], "sum3")
    weight[x, y, dx, dy] = hl.fast_exp(blur_d[x, y, dx, dy] * scale)

    clamped_with_alpha, total, output = hl.Func("clamped_with_alpha"), hl.Func("nlm_sum"), hl.Func("non_local_means")
    clamped_with_alpha[x, y, c] = hl.mux(c, [clamped[x, y, 0], clamped[x, y, 1], clamped[x, y, 2], hl.f32(1)])
    total[x, y, c] += weight[x, y, search.x, search.y] * clamped_with_alpha[x + search.x, y + search.y, c]
    output[x, y, c] = hl.clamp(total[x, y, c] / total[x, y, 3], hl.f32(0), hl.f32(1))
    output.output_buffer().dim(2).set_bounds(0, 3)
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)
