"""lens_blur: synthetic shallow depth of field."""

import halide as hl

from halidegym.envs.pipelines.expressions import add, repeat_edge
from halidegym.envs.pipelines.size import Size, width_and_height

_PYRAMID_LEVELS = 8


def build(size: Size = (192, 320)) -> hl.Pipeline:
    """Blur a photo by the distance to its focal plane, which a second photo from beside it gives away.

    Matching cost for a set of disparities, smoothed by push-pull pyramids (after Gortler et al. 1996) weighted with its
    confidence; the cheapest disparity is the depth; a stochastic gather blurs with a radius that depends on it.

    Inputs: `left_im` and `right_im` uint8 (width, height, 3), at least 128 pixels a side; scalars `slices` int32 in
    1..64, disparities to try, estimate 32; `focus_depth` int32 in 1..32, estimate 13; `blur_radius_scale` float32 in
    0..1, estimate 0.5; `aperture_samples` int32 in 1..64, estimate 32.
    Output: `lens_blur` float32 (width, height, 3) in [0, 1]; random, but the same in each run.
    Graph: 76 nodes, 82 stages.
    """
    width, height = width_and_height(size, at_least=128)
    x, y, z, c = (hl.Var(name) for name in "xyzc")
    left_im, right_im = (hl.ImageParam(hl.UInt(8), 3, name) for name in ("left_im", "right_im"))
    left_im.set_estimates([(0, width), (0, height), (0, 3)])
    right_im.set_estimates([(0, width), (0, height), (0, 3)])
    slices = _scalar(hl.Int(32), "slices", 32, 1, 64)
    focus_depth = _scalar(hl.Int(32), "focus_depth", 13, 1, 32)
    blur_radius_scale = _scalar(hl.Float(32), "blur_radius_scale", 0.5, 0.0, 1.0)
    aperture_samples = _scalar(hl.Int(32), "aperture_samples", 32, 1, 64)
    largest_radius = hl.i32(hl.max(slices - focus_depth, focus_depth) * blur_radius_scale)
    left, right = repeat_edge(1, left_im), repeat_edge(2, right_im)

    # A slice is two pixels of disparity.
    diff, cost, cost_confidence = hl.Func("diff"), hl.Func("cost"), hl.Func("cost_confidence")
    diff[x, y, z, c] = hl.min(
        hl.absd(left[x, y, c], right[x + 2 * z, y, c]), hl.absd(left[x, y, c], right[x + 2 * z + 1, y, c])
    )
    cost[x, y, z] = add(hl.pow(hl.f32(diff[x, y, z, i]), 2) for i in range(3))
    r = hl.RDom([(0, slices)], "r")
    mean_of_squares = hl.sum(hl.pow(cost[x, y, r], 2), "sum1") / slices
    square_of_mean = hl.pow(hl.sum(cost[x, y, r] / slices, "sum2"), 2)
    cost_confidence[x, y] = mean_of_squares - square_of_mean
    filtered_cost = _smooth_costs(cost, cost_confidence, left_im)

    depth, bokeh_radius, bokeh_radius_squared = (hl.Func(n) for n in ("depth", "bokeh_radius", "bokeh_radius_squared"))
    depth[x, y] = hl.argmin(filtered_cost[x, y, r])[0]
    bokeh_radius[x, y] = hl.abs(depth[x, y] - focus_depth) * blur_radius_scale
    bokeh_radius_squared[x, y] = hl.pow(bokeh_radius[x, y], 2)

    worst_y, worst = hl.Func("worst_case_bokeh_radius_y"), hl.Func("worst_case_bokeh_radius")
    window = hl.RDom([(-largest_radius, 2 * largest_radius + 1)], "window")
    worst_y[x, y] = hl.maximum(bokeh_radius[x, y + window], "maximum1")
    worst[x, y] = hl.maximum(worst_y[x + window, y], "maximum2")

    input_with_alpha = hl.Func("input_with_alpha")
    input_with_alpha[x, y, c] = hl.mux(c, [*(hl.f32(left[x, y, i]) for i in range(3)), hl.f32(255)])

    # Locations are a Func, so that all channels of a sample see the same random numbers.
    sample_locations, sample_weight = hl.Func("sample_locations"), hl.Func("sample_weight_is_within_bokeh")
    offsets = [(hl.random_float() - hl.f32(0.5)) * 2 * worst[x, y] for _ in range(2)]
    sample_locations[x, y, z] = tuple(hl.clamp(hl.i32(o), -largest_radius, largest_radius) for o in offsets)
    u, v = sample_locations[x, y, z][0], sample_locations[x, y, z][1]
    distance_squared = u * u + v * v
    reaches = (distance_squared < bokeh_radius_squared[x, y]) | (depth[x + u, y + v] < depth[x, y])
    covers = distance_squared < bokeh_radius_squared[x + u, y + v]
    sample_weight[x, y, z] = hl.select(reaches & covers, hl.f32(1), hl.f32(0))

    gathered, output = hl.Func("output"), hl.Func("lens_blur")
    s = hl.RDom([(0, aperture_samples)], "s")
    u, v = sample_locations[x, y, s][0], sample_locations[x, y, s][1]
    gathered[x, y, c] = input_with_alpha[x, y, c]
    gathered[x, y, c] += sample_weight[x, y, s] * input_with_alpha[x + u, y + v, c]
    output[x, y, c] = gathered[x, y, c] / gathered[x, y, 3]
    output.set_estimates([(0, width), (0, height), (0, 3)])
    return hl.Pipeline(output)


def _smooth_costs(cost: hl.Func, cost_confidence: hl.Func, image: hl.ImageParam) -> hl.Func:
    """Average of the costs nearby at all scales, weighted by confidence, which travels along as channel 1."""
    x, y, z, c = (hl.Var(name) for name in "xyzc")
    push = [hl.Func("cost_pyramid_push_0")]
    push[0][x, y, z, c] = hl.mux(c, [cost[x, y, z] * cost_confidence[x, y], cost_confidence[x, y]])
    w, h = image.width(), image.height()
    for i in range(1, _PYRAMID_LEVELS):
        level = hl.Func(f"cost_pyramid_push_{i}")
        level[x, y, z, c] = _down(push[-1], i)[x, y, z, c]
        w, h = w // 2, h // 2
        push.append(repeat_edge(i + 2, level, [(0, w), (0, h)]))

    pull = hl.Func(f"cost_pyramid_pull_{_PYRAMID_LEVELS - 1}")
    pull[x, y, z, c] = push[-1][x, y, z, c]
    for i in reversed(range(_PYRAMID_LEVELS - 1)):
        upsampled = _up(pull, i)
        pull = hl.Func(f"cost_pyramid_pull_{i}")
        pull[x, y, z, c] = hl.lerp(upsampled[x, y, z, c], push[i][x, y, z, c], hl.f32(0.5))

    filtered_cost = hl.Func("filtered_cost")
    filtered_cost[x, y, z] = pull[x, y, z, 0] / pull[x, y, z, 1]
    return filtered_cost


def _down(f: hl.Func, level: int) -> hl.Func:
    """Half the size, by taps 1 3 3 1: columns first."""
    x, y = hl.Var("x"), hl.Var("y")
    downx, downy = hl.Func(f"downx_{level}"), hl.Func(f"downy_{level}")
    downx[x, y, hl._] = _half([f[2 * x + i, y, hl._] for i in range(-1, 3)])
    downy[x, y, hl._] = _half([downx[x, 2 * y + i, hl._] for i in range(-1, 3)])
    return downy


def _half(taps: list[hl.Expr]) -> hl.Expr:
    return (taps[0] + 3 * (taps[1] + taps[2]) + taps[3]) / 8


def _up(f: hl.Func, level: int) -> hl.Func:
    """Twice the size, by linear interpolation: columns first."""
    x, y = hl.Var("x"), hl.Var("y")
    upx, upy = hl.Func(f"upx_{level}"), hl.Func(f"upy_{level}")
    near, far = hl.f32(0.75), hl.f32(0.25)
    upx[x, y, hl._] = far * f[x // 2 - 1 + 2 * (x % 2), y, hl._] + near * f[x // 2, y, hl._]
    upy[x, y, hl._] = far * upx[x, y // 2 - 1 + 2 * (y % 2), hl._] + near * upx[x, y // 2, hl._]
    return upy


def _scalar(element: hl.Type, name: str, value: float, low: float, high: float) -> hl.Param:
    parameter = hl.Param(element, name, value)
    parameter.set_range(low, high)
    parameter.set_estimate(value)
    return parameter
