"""Numbers of the benchmark pipelines with pyramids and windows, against NumPy: as they are, and by our schedules."""

import functools
from collections.abc import Callable

import halide as hl
import numpy as np
import pytest

from halidegym.envs import pipelines
from pipeline_runs import SCHEDULED, SCHEDULED_SLOWLY, built, luma, pipeline_functions, random, run

# A level of a pyramid is a function of a half-open rectangle (x0, x1, y0, y1), which asks the level below for what it
# needs; the lowest one clamps. So no padding is ever computed.
Level = Callable[[int, int, int, int], np.ndarray]


def clamped(image: np.ndarray) -> Level:
    height, width = image.shape[-2:]

    def level(x0: int, x1: int, y0: int, y1: int) -> np.ndarray:
        return image[..., np.clip(np.arange(y0, y1), 0, height - 1), :][..., np.clip(np.arange(x0, x1), 0, width - 1)]

    return level


def down_1331(f: Level) -> Level:
    @functools.cache
    def level(x0: int, x1: int, y0: int, y1: int) -> np.ndarray:
        a = f(2 * x0 - 1, 2 * x1 + 1, 2 * y0 - 1, 2 * y1 + 1)
        for axis, n in ((-2, y1 - y0), (-1, x1 - x0)):
            taps = [np.take(a, range(i, i + 2 * n - 1, 2), axis) for i in range(4)]
            a = (taps[0] + 3 * (taps[1] + taps[2]) + taps[3]) / np.float32(8)
        return a

    return level


def down_121(f: Level) -> Level:
    @functools.cache
    def level(x0: int, x1: int, y0: int, y1: int) -> np.ndarray:
        a = f(2 * x0 - 1, 2 * x1, 2 * y0 - 1, 2 * y1)
        for axis, n in ((-1, x1 - x0), (-2, y1 - y0)):
            taps = [np.take(a, range(i, i + 2 * n - 1, 2), axis) for i in range(3)]
            a = (taps[0] + 2 * taps[1] + taps[2]) * np.float32(0.25)
        return a

    return level


def up(
    f: Level,
    first: Callable[[np.ndarray], np.ndarray],
    second: Callable[[np.ndarray], np.ndarray],
    weight: Callable[[np.ndarray], np.ndarray],
) -> Level:
    """Twice the size: at i, f(first(i)) * (1 - weight(i)) + f(second(i)) * weight(i), along both axes."""

    @functools.cache
    def level(x0: int, x1: int, y0: int, y1: int) -> np.ndarray:
        x, y = np.arange(x0, x1), np.arange(y0, y1)
        left, bottom = x0 // 2 - 1, y0 // 2 - 1
        a = f(left, x1 // 2 + 2, bottom, y1 // 2 + 2)
        wx, wy = weight(x).astype(np.float32), weight(y).astype(np.float32)[:, None]
        a = a[..., first(x) - left] * (1 - wx) + a[..., second(x) - left] * wx
        return a[..., first(y) - bottom, :] * (1 - wy) + a[..., second(y) - bottom, :] * wy

    return level


def combine(operation: Callable[..., np.ndarray], *levels: Level) -> Level:
    return functools.cache(lambda *rectangle: operation(*(level(*rectangle) for level in levels)))


def linear_up(f: Level) -> Level:
    return up(f, lambda i: (i + 1) // 2, lambda i: (i - 1) // 2, lambda i: (i % 2 * 2 + 1) / 4)


def mean_up(f: Level) -> Level:
    return up(f, lambda i: i // 2, lambda i: (i + 1) // 2, lambda i: np.full(i.shape, 0.5))


def near_up(f: Level) -> Level:
    return up(f, lambda i: i // 2, lambda i: i // 2 - 1 + 2 * (i % 2), lambda i: np.full(i.shape, 0.25))


def size_of(image: np.ndarray) -> tuple[int, int]:
    """Width and height."""
    return image.shape[2], image.shape[1]


def run_local_laplacian(image: np.ndarray, scheduled: bool, **scalars: float) -> np.ndarray:
    pipeline = built("local_laplacian", size_of(image), scheduled)
    return run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image, **scalars)


@SCHEDULED_SLOWLY
def test_local_laplacian_equals_numpy(scheduled: bool) -> None:
    # Grey values in the middle of the remapping table's bins, because the table makes the result discontinuous.
    levels, depth, height, width = 8, 8, 80, 96
    bins = np.random.default_rng(1).integers(0, 256 * (levels - 1), (height, width))
    image = np.broadcast_to(np.round((bins + 0.5) * 65535 / (256 * (levels - 1))), (3, height, width))
    image = np.ascontiguousarray(image, np.uint16)
    gray = clamped(luma(image.astype(np.float32) / np.float32(65535)))

    def remapped(g: np.ndarray) -> np.ndarray:
        index = np.clip((g * np.float32((levels - 1) * 256)).astype(int), 0, (levels - 1) * 256)
        copies = []
        for k in range(levels):
            f = ((index - 256 * k) / 256).astype(np.float32)
            copies.append(g + f * np.exp(-f * f / 2))
        return np.stack(copies)

    def at_intensity(details: np.ndarray, g: np.ndarray) -> np.ndarray:
        position = g * np.float32(levels - 1)
        below = np.clip(position.astype(int), 0, levels - 2)
        low, high = (np.take_along_axis(details, below[None] + i, 0)[0] for i in (0, 1))
        return low + (position - below) * (high - low)

    copies, guides = [combine(remapped, gray)], [gray]
    for _ in range(1, depth):
        copies.append(down_1331(copies[-1]))
        guides.append(down_1331(guides[-1]))
    result = combine(at_intensity, copies[-1], guides[-1])
    for j in reversed(range(depth - 1)):
        details = combine(np.subtract, copies[j], linear_up(copies[j + 1]))
        result = combine(np.add, linear_up(result), combine(at_intensity, details, guides[j]))
    rectangle = (0, width, 0, height)
    color = image * (result(*rectangle) + 0.01) / (gray(*rectangle) + 0.01)
    expected = np.clip(color, 0, 65535).astype(int)
    found = run_local_laplacian(image, scheduled, levels=levels, alpha=1.0, beta=1.0)
    assert np.abs(found.astype(int) - expected).max() <= 1


@SCHEDULED_SLOWLY
def test_local_laplacian_without_effect_keeps_the_image(scheduled: bool) -> None:
    image = np.random.default_rng(2).integers(0, 65536, (3, 80, 96), np.uint16)
    found = run_local_laplacian(image, scheduled, levels=8, alpha=0.0, beta=1.0)
    assert np.abs(found.astype(int) - image).max() <= 1


@pytest.mark.slow
@SCHEDULED
def test_local_laplacian_maps_a_constant_image_to_a_constant_one(scheduled: bool) -> None:
    found = run_local_laplacian(np.full((3, 80, 96), 20000, np.uint16), scheduled, levels=8, alpha=1.0, beta=1.0)
    assert int(found.max()) - int(found.min()) <= 1


def run_nl_means(image: np.ndarray, sigma: float, scheduled: bool) -> np.ndarray:
    pipeline = built("nl_means", size_of(image), scheduled)
    scalars = {"patch_size": 7, "search_area": 7, "sigma": sigma}
    return run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image, **scalars)


@pytest.mark.parametrize("sigma", [0.12, 1e4])
@SCHEDULED_SLOWLY
def test_nl_means_equals_numpy(sigma: float, scheduled: bool) -> None:
    height, width = 24, 32
    image = random(3, height, width).astype(np.float64)
    around = clamped(image)
    total, weights = np.zeros_like(image), np.zeros((height, width))
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            shifted = around(dx - 3, dx + width + 3, dy - 3, dy + height + 3)
            distance = ((around(-3, width + 3, -3, height + 3) - shifted) ** 2).sum(0)
            patches = sum(distance[j : j + height, i : i + width] for j in range(7) for i in range(7))
            weight = np.exp(-patches / (sigma**2 * 49))
            total += weight * around(dx, dx + width, dy, dy + height)
            weights += weight
    result = run_nl_means(image.astype(np.float32), sigma, scheduled)
    assert np.abs(result - np.clip(total / weights, 0, 1)).max() < 1e-4
    if sigma == 1e4:  # all weights are 1
        window = np.lib.stride_tricks.sliding_window_view(around(-3, width + 3, -3, height + 3), (7, 7), axis=(1, 2))
        assert np.abs(result - window.mean(axis=(-2, -1))).max() < 1e-5


@SCHEDULED_SLOWLY
def test_nl_means_keeps_a_constant_image(scheduled: bool) -> None:
    image = np.full((3, 24, 32), 0.4, np.float32)
    np.testing.assert_allclose(run_nl_means(image, 0.12, scheduled), image, atol=1e-6)


def run_interpolate(image: np.ndarray, scheduled: bool) -> np.ndarray:
    pipeline = built("interpolate", size_of(image), scheduled)
    return run(pipeline, np.zeros((3, *image.shape[1:]), np.float32), scheduled=scheduled, input=image)


@SCHEDULED_SLOWLY
def test_interpolate_equals_numpy(scheduled: bool) -> None:
    # At a width of 128, greedy search's schedule for AVX2 computes a level in vectors along y that has four Funcs
    # inlined, and LLVM's optimizer does not come to its end in 400 s; here, and for AVX-512 and SSE4.1, in seconds.
    levels, height, width = 10, 96, 120
    image = random(4, height, width)
    image[3] = np.maximum(image[3], 0.05)
    down = [clamped(np.concatenate([image[:3] * image[3], image[3:]]))]
    for level in range(1, levels):
        source = down[-1]
        if level == 4:
            stored = source(0, width // 8 + 1, 0, height // 8 + 1)
            source = clamped(stored)
        down.append(down_121(source))
    result = down[-1]
    for level in reversed(range(levels - 1)):
        result = combine(lambda d, u: d + (1 - d[3]) * u, down[level], mean_up(result))
    expected = result(0, width, 0, height)
    assert np.abs(run_interpolate(image, scheduled) - expected[:3] / expected[3]).max() < 1e-5


@SCHEDULED_SLOWLY
def test_interpolate_keeps_an_opaque_image(scheduled: bool) -> None:
    image = random(4, 64, 64)
    image[3] = 1
    np.testing.assert_allclose(run_interpolate(image, scheduled), image[:3], atol=1e-6)


@pytest.mark.slow
@SCHEDULED
def test_interpolate_keeps_a_constant_color(scheduled: bool) -> None:
    image = np.stack([np.full((64, 64), value, np.float32) for value in (0.2, 0.5, 0.9)] + [random(64, 64, low=0.05)])
    np.testing.assert_allclose(run_interpolate(image, scheduled), image[:3], atol=1e-5)


def lens_blur_inputs(left: np.ndarray, right: np.ndarray, scale: float) -> dict[str, object]:
    scalars = {"slices": 8, "focus_depth": 3, "blur_radius_scale": scale, "aperture_samples": 8}
    return {"left_im": left, "right_im": right} | scalars


def run_lens_blur(left: np.ndarray, right: np.ndarray, scale: float, scheduled: bool) -> np.ndarray:
    pipeline = built("lens_blur", size_of(left), scheduled)
    inputs = lens_blur_inputs(left, right, scale)
    return run(pipeline, np.zeros(left.shape, np.float32), scheduled=scheduled, **inputs)


def stereo_pair() -> tuple[np.ndarray, np.ndarray]:
    left = np.random.default_rng(5).integers(0, 256, (3, 144, 160), np.uint8)
    return left, np.roll(left, 8, 2)  # left(x) = right(x + 8): four slices


@SCHEDULED_SLOWLY
def test_lens_blur_of_radius_zero_keeps_the_image(scheduled: bool) -> None:
    left, right = stereo_pair()
    np.testing.assert_allclose(run_lens_blur(left, right, 0.0, scheduled), left / np.float32(255), atol=1e-6)


@SCHEDULED_SLOWLY
def test_lens_blur_keeps_a_constant_image(scheduled: bool) -> None:
    left, right = np.full((3, 144, 160), 77, np.uint8), stereo_pair()[1]
    np.testing.assert_allclose(run_lens_blur(left, right, 0.5, scheduled), 77 / 255, atol=1e-6)


@SCHEDULED_SLOWLY
def test_lens_blur_finds_the_depth_that_numpy_finds(scheduled: bool) -> None:
    (left, right), slices = stereo_pair(), 8
    height, width = left.shape[1:]
    image, other = (clamped(a.astype(np.int32)) for a in (left, right))
    rectangle = (0, width, 0, height)

    def cost_volume(x0: int, x1: int, y0: int, y1: int) -> np.ndarray:
        here = image(x0, x1, y0, y1)
        costs = []
        for z in range(slices):
            a, b = (np.abs(here - other(x0 + 2 * z + i, x1 + 2 * z + i, y0, y1)) for i in (0, 1))
            costs.append((np.minimum(a, b).astype(np.float32) ** 2).sum(0))
        cost = np.stack(costs)
        confidence = (cost**2).sum(0) / slices - (cost / slices).sum(0) ** 2
        return np.stack([cost * confidence, np.broadcast_to(confidence, cost.shape)])

    push: list[Level] = [functools.cache(cost_volume)]
    w, h = width, height
    for _ in range(1, 8):
        w, h = w // 2, h // 2
        push.append(clamped(down_1331(push[-1])(0, w, 0, h)))
    pull = push[-1]
    for i in reversed(range(7)):
        pull = combine(lambda u, p: (u + p) / 2, near_up(pull), push[i])
    filtered = pull(*rectangle)
    expected = (filtered[0] / filtered[1]).argmin(0)

    pipeline = pipelines.build("lens_blur", size=(width, height))
    names = [name.split("$")[0] for name in pipeline_functions(pipeline)]
    depth = pipeline.get_func(names.index("depth"))
    depth.set_estimates([(0, width), (0, height)])
    inputs = lens_blur_inputs(left, right, 0.5)
    found = run(hl.Pipeline(depth), np.zeros((height, width), np.int32), scheduled=scheduled, **inputs)
    assert np.mean(found == expected) >= 0.999
    assert np.mean(found[32:-32, 32:-32] == 4) >= 0.95
