"""Benchmark pipelines: their graphs, their numbers, and their costs in the papers."""

import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from halidegym.envs import pipelines
from pipeline_runs import luma, pipeline_functions, random, run

# benchmark-pipelines.md, section 17: nodes, stages, input nodes.
GRAPHS = {
    "bilateral_grid": (9, 10, 1),
    "local_laplacian": (104, 104, 1),
    "nl_means": (14, 18, 1),
    "lens_blur": (76, 82, 2),
    "camera_pipe": (38, 38, 3),
    "stencil_chain": (36, 36, 1),
    "harris": (13, 13, 1),
    "hist": (10, 13, 1),
    "max_filter": (10, 13, 1),
    "unsharp": (10, 10, 1),
    "interpolate": (52, 52, 1),
    "conv_layer": (5, 6, 3),
    "iir_blur": (5, 11, 1),
    "bgu": (21, 122, 3),
    "mat_mul": (4, 5, 2),
    "resnet_50/b0": (54, 60, 26),
    "resnet_50/b1": (31, 34, 16),
    "resnet_50/b3": (39, 43, 21),
    "resnet_50/b4": (31, 34, 16),
    "resnet_50/b7": (39, 43, 21),
    "resnet_50/b8": (31, 34, 16),
    "resnet_50/b13": (39, 43, 21),
    "resnet_50/b14": (31, 34, 16),
    "resnet_50/b15": (38, 44, 18),
}

# papers.md, section 2: the costs of the five passes and the number of evaluations, in the papers' setup.
PAPERS_TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"
SEARCHES = {
    "mat_mul": ([11.5766] * 5, 16321),
    "iir_blur": ([9.24476, 9.54691, 9.59512, 9.64943, 9.64943], 34158),
    "hist": ([4.54293, 8.84614, 8.82701, 8.80049, 8.755], 150279),
    "harris": ([2.29997, 2.2596, 1.97878, 1.73584, 1.73584], 175193),
    "conv_layer": ([23.3599] * 5, 92972),
    "unsharp": ([5.03773, 4.49245, 4.43961, 4.43961, 4.43961], 274256),
    "max_filter": ([61.9724, 114.909, 100.374, 100.21, 100.879], 477410),
    "stencil_chain": ([77.213, 78.9215, 78.8297, 78.7156, 78.7298], 580824),
    "camera_pipe": ([4.82035, 4.67217, 4.33816, 4.27147, 4.29509], 690581),
    "bilateral_grid": ([4.8759, 4.63675, 4.68683, 4.68683, 4.90562], 1377297),
}
FAST_SEARCHES = ("mat_mul", "iir_blur", "hist", "harris")

AUTOSCHEDULE = """
import json, pathlib, sys
import halide as hl
from halidegym.envs import pipelines
name, target, parameters = sys.argv[1:]
hl.load_plugin(str(pathlib.Path(hl.__file__).parent / "lib64" / "libautoschedule_adams2019.so"))
pipeline = pipelines.build(name)
pipeline.apply_autoscheduler(hl.Target(target), hl.AutoschedulerParams("Adams2019", json.loads(parameters)))
"""


def autoschedule_log(name: str, *, level: int, parameters: dict[str, str], passes: int | None = None) -> str:
    environment = os.environ | {"HL_DEBUG_AUTOSCHEDULE": str(level)}
    if passes is not None:
        environment["HL_NUM_PASSES"] = str(passes)
    command = [sys.executable, "-c", AUTOSCHEDULE, name, PAPERS_TARGET, json.dumps(parameters)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr


def test_graphs_cover_every_pipeline() -> None:
    assert list(GRAPHS) == pipelines.names("papers-v1")


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_has_the_published_size(name: str) -> None:
    log = autoschedule_log(name, level=2, parameters={"parallelism": "16", "beam_size": "1"}, passes=1)
    graph = log[: log.index("Loading weights")]
    found = (
        len(re.findall(r"^Node: ", graph, re.MULTILINE)),
        len(re.findall(r"^\s+Stage \d+:", graph, re.MULTILINE)),
        len(re.findall(r"input: 1", graph)),
    )
    assert found == GRAPHS[name]


@pytest.mark.parametrize(
    "name", [name if name in FAST_SEARCHES else pytest.param(name, marks=pytest.mark.slow) for name in SEARCHES]
)
def test_reference_search_gives_the_published_costs(name: str) -> None:
    log = autoschedule_log(name, level=1, parameters={"parallelism": "16"})
    costs = [float(cost) for cost in re.findall(r"^Pass \d+ of \d+, cost: (\S+),", log, re.MULTILINE)]
    expected_costs, expected_evaluations = SEARCHES[name]
    assert costs == pytest.approx(expected_costs, rel=3e-6)
    assert f"Cost evaluated this many times: {expected_evaluations}\n" in log


def test_unknown_names_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"no pipeline 'blurr'.*harris"):
        pipelines.build("blurr")
    with pytest.raises(ValueError, match=r"no suite 'paper'.*papers"):
        pipelines.names("paper")
    with pytest.raises(ValueError, match=r"estimates='false'.*'published' or 'true'"):
        pipelines.build("conv_layer", estimates="false")


def run_bilateral_grid(image: np.ndarray) -> np.ndarray:
    height, width = image.shape
    pipeline = pipelines.build("bilateral_grid", size=(width, height))
    return run(pipeline, np.zeros_like(image), input=image, r_sigma=0.1)


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


def test_bilateral_grid_equals_numpy() -> None:
    image = random(64, 96)
    assert np.abs(run_bilateral_grid(image) - bilateral_grid_in_numpy(image)).max() < 1e-5


def test_bilateral_grid_keeps_a_constant_image() -> None:
    image = np.full((64, 64), 0.37, np.float32)
    np.testing.assert_allclose(run_bilateral_grid(image), image, atol=1e-6)


def test_stencil_chain_equals_numpy() -> None:
    stencils, image = 5, np.random.default_rng(2).integers(0, 65536, (40, 56), np.uint16)
    pipeline = pipelines.build("stencil_chain", size=(56, 40), stencils=stencils)
    expected = np.pad(image, 2 * stencils, "edge")
    for _ in range(stencils):
        height, width = expected.shape[0] - 4, expected.shape[1] - 4
        expected = sum(
            np.uint16((i + 1) * (j + 1)) * expected[j : j + height, i : i + width] for i in range(5) for j in range(5)
        )
    np.testing.assert_array_equal(run(pipeline, np.zeros_like(image), input=image), expected)


def run_harris(image: np.ndarray) -> np.ndarray:
    _, height, width = image.shape
    pipeline = pipelines.build("harris", size=(width, height))
    return run(pipeline, np.zeros((height - 6, width - 6), np.float32), [3, 3], input=image)


def test_harris_equals_numpy() -> None:
    image = random(3, 60, 80)
    gray = luma(image).astype(np.float64)

    def correlate(a: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        height, width = a.shape[0] - 2, a.shape[1] - 2
        return sum(kernel[j, i] * a[j : j + height, i : i + width] for j in range(3) for i in range(3))

    sobel = np.outer([-1, 0, 1], [1, 2, 1]) / 12
    iy, ix = correlate(gray, sobel), correlate(gray, sobel.T)
    sxx, syy, sxy = (correlate(product, np.ones((3, 3))) for product in (ix * ix, iy * iy, ix * iy))
    expected = sxx * syy - sxy * sxy - 0.04 * (sxx + syy) ** 2
    assert np.abs(run_harris(image) - expected[1:-1, 1:-1]).max() < 1e-6


def test_harris_responds_to_corners_only() -> None:
    square = np.zeros((3, 48, 48), np.float32)
    square[:, 16:32, 16:32] = 1
    response = run_harris(square)
    peak = np.unravel_index(response.argmax(), response.shape)
    assert response.max() > 0
    assert min(abs(peak[0] + 3 - corner) for corner in (16, 31)) <= 1
    edge = np.zeros((3, 48, 48), np.float32)
    edge[:, :, 24:] = 1
    assert run_harris(edge).max() <= 0


def run_hist(image: np.ndarray) -> np.ndarray:
    _, height, width = image.shape
    pipeline = pipelines.build("hist", size=(width, height))
    # Inlined, the offset of 128 that these carry cancels exactly.
    return run(pipeline, np.zeros_like(image), inlined=("Cr", "Cb"), input=image)


def test_hist_equals_numpy() -> None:
    # Large, because a pixel whose luma rounds to the other side of an integer shifts the whole distribution a little.
    image = np.random.default_rng(3).integers(0, 256, (3, 480, 640), np.uint8)
    red, _, blue = image.astype(np.float32)
    y = luma(image)
    cr, cb = (red - y) * np.float32(0.713), (blue - y) * np.float32(0.564)
    bins = np.clip(y, 0, 255).astype(np.uint8)
    cdf = np.cumsum(np.bincount(bins.ravel(), minlength=256))
    eq = np.clip(cdf[bins].astype(np.float32) * np.float32(255 / y.size), 0, 255)
    channels = [eq + cr * np.float32(1.4), eq - np.float32(0.343) * cb - np.float32(0.711) * cr]
    channels.append(eq + np.float32(1.765) * cb)
    expected = np.clip(channels, 0, 255).astype(np.uint8)
    assert np.mean(run_hist(image) == expected) >= 0.998


def test_hist_of_a_black_image_is_white() -> None:
    assert (run_hist(np.zeros((3, 32, 32), np.uint8)) == 255).all()


def test_max_filter_equals_numpy() -> None:
    radius, image = 26, random(3, 60, 72)
    pipeline = pipelines.build("max_filter", size=(72, 60))
    result = run(pipeline, np.zeros_like(image), input=image)
    padded = np.pad(image, ((0, 0), (radius + 1, radius + 1), (radius, radius)), "edge")
    expected = np.zeros_like(image)
    for dx in range(-radius, radius + 1):
        reach = sum(dx * dx + dy * dy < (radius + 0.25) ** 2 for dy in range(radius + 1))
        for dy in range(-reach, reach + 1):
            shifted = padded[:, radius + 1 + dy : radius + 61 + dy, radius + dx : radius + 72 + dx]
            np.maximum(expected, shifted, out=expected)
    np.testing.assert_array_equal(result, expected)


def test_unsharp_equals_numpy() -> None:
    image = random(3, 60, 80, low=0.1)
    pipeline = pipelines.build("unsharp", size=(80, 60))
    kernel = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 1.5**2)) / (math.sqrt(2 * math.pi) * 1.5)
    gray = luma(image)
    padded = np.pad(gray, 3, "edge").astype(np.float64)
    rows = sum(k * padded[i : i + 60] for i, k in enumerate(kernel))
    blurred = sum(k * rows[:, i : i + 80] for i, k in enumerate(kernel))
    expected = (2 * gray - blurred) / gray * image
    assert np.abs(run(pipeline, np.zeros_like(image), input=image) - expected).max() < 1e-5


@pytest.mark.parametrize("estimates", ["published", "true"])
def test_conv_layer_equals_numpy(estimates: str) -> None:
    pipeline = pipelines.build("conv_layer", size=(10, 8), channels_in=8, channels_out=16, batch=2, estimates=estimates)
    image = random(2, 10, 12, 8, low=-0.5, high=0.5)
    weights, bias = random(8, 3, 3, 16, low=-0.5, high=0.5), random(16, low=-0.5, high=0.5)
    shifts = (
        np.einsum("nyxi,io->nyxo", image[:, j : j + 8, i : i + 10], weights[:, j, i])
        for j in range(3)
        for i in range(3)
    )
    expected = np.maximum(0, sum(shifts) + bias)
    result = run(pipeline, np.zeros((2, 8, 10, 16), np.float32), input=image, filter=weights, bias=bias)
    assert np.abs(result - expected).max() < 1e-4


def test_mat_mul_equals_numpy() -> None:
    a = random(64, 64, low=-0.5, high=0.5)
    b = a[::-1].copy()
    result = run(pipelines.build("mat_mul", size=64), np.zeros_like(a), A=a, B=b)
    assert np.abs(result - b.astype(np.float64) @ a).max() < 1e-6 * 64


def test_iir_blur_equals_numpy() -> None:
    image, alpha = random(3, 48, 64), 0.1
    pipeline = pipelines.build("iir_blur", size=(64, 48))

    def filter_columns(a: np.ndarray) -> np.ndarray:
        a = a.copy()
        rows = a.shape[1]
        for y in (*range(1, rows), *range(-2, -rows - 1, -1)):
            a[:, y] = (1 - alpha) * a[:, y - 1 if y > 0 else y + 1] + alpha * a[:, y]
        return a.swapaxes(1, 2)

    expected = filter_columns(filter_columns(image.astype(np.float64)))
    assert np.abs(run(pipeline, np.zeros_like(image), input=image, alpha=alpha) - expected).max() < 1e-5


def test_a_second_build_gives_the_same_graph() -> None:
    first, second = (pipeline_functions(pipelines.build("harris")) for _ in range(2))
    assert [name.split("$")[0] for name in first] == [name.split("$")[0] for name in second]
