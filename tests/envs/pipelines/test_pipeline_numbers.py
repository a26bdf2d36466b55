"""Numbers of the benchmark pipelines without pyramids, against NumPy: as they are, and by a schedule of our search."""

import math

import halide as hl
import numpy as np
import pytest

from halidegym.envs import pipelines
from pipeline_runs import SCHEDULED, SCHEDULED_SLOWLY, luma, pipeline_functions, random, run


def run_bilateral_grid(image: np.ndarray, scheduled: bool) -> np.ndarray:
    height, width = image.shape
    pipeline = pipelines.build("bilateral_grid", size=(width, height))
    return run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image, r_sigma=0.1)


def bilateral_grid_in_numpy(image: np.ndarray, r_sigma: float = 0.1, s: int = 8) -> np.ndarray:
    height, width = image.shape
    scale = np.float32(1) / np.float32(r_sigma)
    margin, cells_z = 3, int(scale) + 7
    cells_y, cells_x = height // s + 2 + 2 * margin, width // s + 2 + 2 * margin
    grid = np.zeros((2, cells_z, cells_y, cells_x))
    # The splat of cell i covers the pixels from 8 i - 4 on, clamped to the image.
    rows = np.clip(np.arange(-margin * s, (cells_y - margin) * s) - s // 2, 0, height - 1)
    columns = np.clip(np.arange(-margin * s, (cells_x - margin) * s) - s // 2, 0, width - 1)
    padded = np.clip(image[np.ix_(rows, columns)], 0, 1)
    z = (padded * scale + np.float32(0.5)).astype(int) + margin
    cell_y, cell_x = np.mgrid[: cells_y * s, : cells_x * s] // s
    np.add.at(grid[0], (z, cell_y, cell_x), padded)
    np.add.at(grid[1], (z, cell_y, cell_x), 1)
    for axis in (1, 2, 3):
        grid = sum(w * np.roll(grid, k, axis) for w, k in zip((1, 4, 6, 4, 1), range(-2, 3), strict=True))
    y, x = np.mgrid[:height, :width]
    depth = np.clip(image, 0, 1) * scale
    result = 0
    for dz in (0, 1):
        for dy in (0, 1):
            for dx in (0, 1):
                wz = np.abs(1 - dz - (depth - depth.astype(int)))
                weight = wz * np.abs(1 - dy - y % s / s) * np.abs(1 - dx - x % s / s)
                sample = grid[:, depth.astype(int) + margin + dz, y // s + margin + dy, x // s + margin + dx]
                result = result + weight * sample
    return result[0] / result[1]


@SCHEDULED_SLOWLY
def test_bilateral_grid_equals_numpy(scheduled: bool) -> None:
    image = random(64, 96, low=-0.1, high=1.1)
    result = run_bilateral_grid(image, scheduled)
    assert np.abs(result - bilateral_grid_in_numpy(image)).max() < 1e-5
    assert result.min() >= 0 and result.max() <= 1 + 1e-6


@SCHEDULED_SLOWLY
def test_bilateral_grid_keeps_a_constant_image(scheduled: bool) -> None:
    image = np.full((64, 64), 0.37, np.float32)
    np.testing.assert_allclose(run_bilateral_grid(image, scheduled), image, atol=1e-6)


@pytest.mark.parametrize(
    ("stencils", "scheduled"), [(5, False), (5, True), (32, False), pytest.param(32, True, marks=pytest.mark.slow)]
)
def test_stencil_chain_equals_numpy(stencils: int, scheduled: bool) -> None:
    image = np.random.default_rng(2).integers(0, 65536, (40, 56), np.uint16)
    pipeline = pipelines.build("stencil_chain", size=(56, 40), stencils=stencils)
    expected = np.pad(image, 2 * stencils, "edge")
    for _ in range(stencils):
        height, width = expected.shape[0] - 4, expected.shape[1] - 4
        expected = sum(
            np.uint16((i + 1) * (j + 1)) * expected[j : j + height, i : i + width] for i in range(5) for j in range(5)
        )
    np.testing.assert_array_equal(run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image), expected)


@SCHEDULED_SLOWLY
def test_stencil_chain_multiplies_a_constant_image(scheduled: bool) -> None:
    image = np.full((40, 56), 12345, np.uint16)
    pipeline = pipelines.build("stencil_chain", size=(56, 40))
    result = run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image)
    assert (result == 12345 * 225**32 % 65536).all()


def run_harris(image: np.ndarray, scheduled: bool) -> np.ndarray:
    _, height, width = image.shape
    pipeline = pipelines.build("harris", size=(width, height))
    return run(pipeline, np.zeros((height - 6, width - 6), np.float32), [3, 3], scheduled=scheduled, input=image)


@SCHEDULED
def test_harris_equals_numpy(scheduled: bool) -> None:
    image = random(3, 60, 80)
    gray = luma(image).astype(np.float64)

    def correlate(a: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        height, width = a.shape[0] - 2, a.shape[1] - 2
        return sum(kernel[j, i] * a[j : j + height, i : i + width] for j in range(3) for i in range(3))

    sobel = np.outer([-1, 0, 1], [1, 2, 1]) / 12
    iy, ix = correlate(gray, sobel), correlate(gray, sobel.T)
    sxx, syy, sxy = (correlate(product, np.ones((3, 3))) for product in (ix * ix, iy * iy, ix * iy))
    expected = sxx * syy - sxy * sxy - 0.04 * (sxx + syy) ** 2
    assert np.abs(run_harris(image, scheduled) - expected[1:-1, 1:-1]).max() < 1e-6


@SCHEDULED_SLOWLY
def test_harris_responds_to_corners_only(scheduled: bool) -> None:
    square = np.zeros((3, 48, 48), np.float32)
    square[:, 16:32, 16:32] = 1
    response = run_harris(square, scheduled)
    peak = np.unravel_index(response.argmax(), response.shape)
    assert response.max() > 0
    assert min(abs(peak[0] + 3 - corner) for corner in (16, 31)) <= 1
    edge = np.zeros((3, 48, 48), np.float32)
    edge[:, :, 24:] = 1
    response = run_harris(edge, scheduled)
    assert response.min() < 0 and response.max() <= 0
    assert np.abs(run_harris(np.full((3, 48, 48), 0.7, np.float32), scheduled)).max() < 1e-12


def run_hist(image: np.ndarray, scheduled: bool) -> np.ndarray:
    _, height, width = image.shape
    pipeline = pipelines.build("hist", size=(width, height))
    # Inlined, the offset of 128 that these carry cancels exactly.
    inlined = ("Cr", "Cb")
    return run(pipeline, np.zeros_like(image), inlined=inlined, scheduled=scheduled, input=image)


@SCHEDULED
def test_hist_equals_numpy(scheduled: bool) -> None:
    # Without pixels whose luma is so close to an integer that rounding decides on their bin.
    image = np.random.default_rng(3).integers(0, 256, (3, 240, 320), np.uint8)
    image[:, np.abs(luma(image) - np.round(luma(image))) < 1e-3] = np.array([[10], [20], [31]])
    red, _, blue = image.astype(np.float32)
    y = luma(image)
    cr, cb = (red - y) * np.float32(0.713), (blue - y) * np.float32(0.564)
    bins = np.clip(y, 0, 255).astype(np.uint8)
    cdf = np.cumsum(np.bincount(bins.ravel(), minlength=256))
    eq = np.clip(cdf[bins].astype(np.float32) * np.float32(255 / y.size), 0, 255)
    channels = [eq + cr * np.float32(1.4), eq - np.float32(0.343) * cb - np.float32(0.711) * cr]
    channels.append(eq + np.float32(1.765) * cb)
    expected = np.clip(channels, 0, 255).astype(np.uint8)
    result = run_hist(image, scheduled)
    # Where the offset is stored, it moves some blues that are whole numbers by a code.
    assert np.abs(result.astype(int) - expected).max() <= 1
    assert np.mean(result[:2] == expected[:2]) >= 0.998
    assert np.mean(result[2] == expected[2]) >= (0.9 if scheduled else 0.998)


@SCHEDULED_SLOWLY
def test_hist_of_a_black_image_is_white(scheduled: bool) -> None:
    result = run_hist(np.zeros((3, 32, 32), np.uint8), scheduled)
    assert (result[:2] == 255).all()
    assert (result[2] >= (254 if scheduled else 255)).all()


def test_hist_counts_every_pixel() -> None:
    image = np.random.default_rng(4).integers(0, 256, (3, 24, 40), np.uint8)
    pipeline = pipelines.build("hist", size=(40, 24))
    names = [name.split("$")[0] for name in pipeline_functions(pipeline)]
    cdf = run(hl.Pipeline(pipeline.get_func(names.index("cdf"))), np.zeros(256, np.int32), input=image)
    luminance = np.clip(luma(image), 0, 255).astype(int)
    assert cdf[-1] == 24 * 40
    assert np.abs(cdf - np.cumsum(np.bincount(luminance.ravel(), minlength=256))).max() <= 2


@SCHEDULED
def test_max_filter_equals_numpy(scheduled: bool) -> None:
    radius, image = 26, random(3, 60, 72)
    pipeline = pipelines.build("max_filter", size=(72, 60))
    result = run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image)
    assert (result >= image).all()
    padded = np.pad(image, ((0, 0), (radius + 1, radius + 1), (radius, radius)), "edge")
    expected = np.zeros_like(image)
    for dx in range(-radius, radius + 1):
        reach = sum(dx * dx + dy * dy < (radius + 0.25) ** 2 for dy in range(radius + 1))
        for dy in range(-reach, reach + 1):
            shifted = padded[:, radius + 1 + dy : radius + 61 + dy, radius + dx : radius + 72 + dx]
            np.maximum(expected, shifted, out=expected)
    np.testing.assert_array_equal(result, expected)


@SCHEDULED
def test_unsharp_equals_numpy(scheduled: bool) -> None:
    image = random(3, 60, 80, low=0.1)
    pipeline = pipelines.build("unsharp", size=(80, 60))
    kernel = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 1.5**2)) / (math.sqrt(2 * math.pi) * 1.5)
    gray = luma(image)
    padded = np.pad(gray, 3, "edge").astype(np.float64)
    rows = sum(k * padded[i : i + 60] for i, k in enumerate(kernel))
    blurred = sum(k * rows[:, i : i + 80] for i, k in enumerate(kernel))
    expected = (2 * gray - blurred) / gray * image
    result = run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image)
    assert np.abs(result - expected).max() < 1e-5


@SCHEDULED_SLOWLY
def test_unsharp_brightens_a_constant_image(scheduled: bool) -> None:
    image = np.full((3, 48, 64), 0.5, np.float32)
    result = run(pipelines.build("unsharp", size=(64, 48)), np.zeros_like(image), scheduled=scheduled, input=image)
    np.testing.assert_allclose(result, 0.5 * (2 - 0.98257**2), atol=1e-5)  # the kernel's sum, which is not quite 1


@pytest.mark.parametrize("estimates", ["published", "true"])
@SCHEDULED
def test_conv_layer_equals_numpy(estimates: str, scheduled: bool) -> None:
    pipeline = pipelines.build("conv_layer", size=(10, 8), channels_in=8, channels_out=16, batch=2, estimates=estimates)
    image = random(2, 10, 12, 8, low=-0.5, high=0.5)
    weights, bias = random(8, 3, 3, 16, low=-0.5, high=0.5), random(16, low=-0.5, high=0.5)
    shifts = (
        np.einsum("nyxi,io->nyxo", image[:, j : j + 8, i : i + 10], weights[:, j, i])
        for j in range(3)
        for i in range(3)
    )
    expected = np.maximum(0, sum(shifts) + bias)
    inputs = {"input": image, "filter": weights, "bias": bias}
    result = run(pipeline, np.zeros((2, 8, 10, 16), np.float32), scheduled=scheduled, **inputs)
    assert np.abs(result - expected).max() < 1e-4


@SCHEDULED_SLOWLY
def test_conv_layer_without_weights_is_its_bias(scheduled: bool) -> None:
    pipeline = pipelines.build("conv_layer", size=(10, 8), channels_in=8, channels_out=16, batch=2, estimates="true")
    bias = random(16, low=-0.5, high=0.5)
    inputs = {"input": random(2, 10, 12, 8), "filter": np.zeros((8, 3, 3, 16), np.float32), "bias": bias}
    result = run(pipeline, np.zeros((2, 8, 10, 16), np.float32), scheduled=scheduled, **inputs)
    assert (result == np.maximum(0, bias)).all()


@SCHEDULED
def test_mat_mul_equals_numpy(scheduled: bool) -> None:
    a = random(64, 64, low=-0.5, high=0.5)
    b = a[::-1].copy()
    result = run(pipelines.build("mat_mul", size=64), np.zeros_like(a), scheduled=scheduled, A=a, B=b)
    assert np.abs(result - b.astype(np.float64) @ a).max() < 1e-6 * 64


@SCHEDULED_SLOWLY
def test_mat_mul_with_the_identity(scheduled: bool) -> None:
    b, identity = random(64, 64), np.eye(64, dtype=np.float32)
    result = run(pipelines.build("mat_mul", size=64), np.zeros_like(b), scheduled=scheduled, A=identity, B=b)
    np.testing.assert_array_equal(result, b)


def run_iir_blur(image: np.ndarray, scheduled: bool) -> np.ndarray:
    pipeline = pipelines.build("iir_blur", size=(image.shape[2], image.shape[1]))
    return run(pipeline, np.zeros_like(image), scheduled=scheduled, input=image, alpha=0.1)


@SCHEDULED
def test_iir_blur_equals_numpy(scheduled: bool) -> None:
    image, alpha = random(3, 48, 64), 0.1

    def filter_columns(a: np.ndarray) -> np.ndarray:
        a = a.copy()
        rows = a.shape[1]
        for y in (*range(1, rows), *range(-2, -rows - 1, -1)):
            a[:, y] = (1 - alpha) * a[:, y - 1 if y > 0 else y + 1] + alpha * a[:, y]
        return a.swapaxes(1, 2)

    expected = filter_columns(filter_columns(image.astype(np.float64)))
    result = run_iir_blur(image, scheduled)
    assert np.abs(result - expected).max() < 1e-5
    assert image.min() <= result.min() and result.max() <= image.max()


@SCHEDULED_SLOWLY
def test_iir_blur_keeps_a_constant_image(scheduled: bool) -> None:
    image = np.full((3, 48, 64), 0.3, np.float32)
    np.testing.assert_allclose(run_iir_blur(image, scheduled), image, atol=1e-6)
