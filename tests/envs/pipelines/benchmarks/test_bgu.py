"""Numbers of bgu, bilateral guided upsampling, against NumPy: as it is, and by a schedule of our search."""

import itertools

import numpy as np
import pytest

from halidegym.envs import pipelines
from pipeline_runs import SCHEDULED, SCHEDULED_SLOWLY, random, run

DOWNSAMPLING, CELL, INTENSITIES = 4, 8, 8  # large pixels a small one; small pixels and 1 / r_sigma of the grid's cells


def run_bgu(splat_loc: np.ndarray, values: np.ndarray, slice_loc: np.ndarray, scheduled: bool) -> np.ndarray:
    size = (slice_loc.shape[2], slice_loc.shape[1])
    pipeline = pipelines.build("bgu", size=size, downsampling=DOWNSAMPLING)
    inputs = {"splat_loc": splat_loc, "values": values, "slice_loc": slice_loc}
    scalars = {"r_sigma": 1 / INTENSITIES, "s_sigma": CELL}
    return run(pipeline, np.zeros_like(slice_loc), scheduled=scheduled, **inputs, **scalars)


def gray(image: np.ndarray) -> np.ndarray:
    return np.tensordot(np.array([0.25, 0.5, 0.25]), image, 1)


def bgu_in_numpy(splat_loc: np.ndarray, values: np.ndarray, slice_loc: np.ndarray) -> np.ndarray:
    margin = 4  # cells around the grid, as far as the blurs reach
    height, width = (extent // CELL + 2 + 2 * margin for extent in splat_loc.shape[1:])
    # The splat of cell i covers the small pixels from CELL (i - 1/2) on, clamped to the image.
    rows, columns = (
        np.clip(np.arange(-margin * CELL, (cells - margin) * CELL) - CELL // 2, 0, extent - 1)
        for cells, extent in zip((height, width), splat_loc.shape[1:], strict=True)
    )
    source, target = (image[:, rows][:, :, columns].astype(np.float64) for image in (splat_loc, values))
    z = np.round(np.clip(gray(source), 0, 1) * INTENSITIES).astype(int) + margin
    homogeneous = np.concatenate([source, np.ones_like(source[:1])])
    moments = np.einsum("iyx,jyx->yxij", homogeneous, np.concatenate([homogeneous, target]))
    grid = np.zeros((INTENSITIES + 2 + 2 * margin, height, width, 4, 7))
    cell_y, cell_x = np.mgrid[: height * CELL, : width * CELL] // CELL
    np.add.at(grid, (z, cell_y, cell_x), moments)
    taps = [1 / 64, 1 / 27, 1 / 8, 1, 1 / 8, 1 / 27, 1 / 64]
    for axis in range(3):
        grid = sum(tap * np.roll(grid, 3 - k, axis) for k, tap in enumerate(taps))
    pull = 0.1 * np.eye(4)
    models = np.linalg.solve(grid[..., :4] + pull, grid[..., 4:] + pull[:, :3])  # (z, y, x, coefficient, channel)

    y, x = np.mgrid[: slice_loc.shape[1], : slice_loc.shape[2]] / (CELL * DOWNSAMPLING)
    depth = np.clip(gray(slice_loc), 0, 1) * INTENSITIES
    model = np.zeros((*depth.shape, 4, 3))
    for corner in itertools.product((0, 1), repeat=3):
        index, weight = [], np.ones_like(depth)
        for position, side in zip((depth, y, x), corner, strict=True):
            below = np.floor(position).astype(int)
            index.append(below + side + margin)
            weight = weight * np.abs(1 - side - (position - below))
        model += weight[..., None, None] * models[tuple(index)]
    homogeneous = np.concatenate([slice_loc, np.ones_like(slice_loc[:1])])
    return np.clip(np.einsum("iyx,yxik->kyx", homogeneous, model), 0, 1)


def images() -> tuple[np.ndarray, np.ndarray]:
    large = random(3, 96, 128)
    return large, large[:, ::DOWNSAMPLING, ::DOWNSAMPLING].copy()


@SCHEDULED_SLOWLY
def test_it_equals_numpy(scheduled: bool) -> None:
    large, small = images()
    values = (small[::-1] * np.float32(0.7) + small**2 * np.float32(0.3)).copy()
    result, expected = run_bgu(small, values, large, scheduled), bgu_in_numpy(small, values, large)
    assert expected.std() > 0.1
    assert np.abs(result - expected).max() < 5e-3  # its reciprocals are approximate
    assert np.abs(result - expected).mean() < 2e-4


@pytest.mark.slow
@SCHEDULED
def test_the_identity_keeps_the_image(scheduled: bool) -> None:
    large, small = images()
    assert np.abs(run_bgu(small, small, large, scheduled) - large).max() < 5e-3


@pytest.mark.slow
@SCHEDULED
def test_an_affine_color_map_is_transferred(scheduled: bool) -> None:
    large, small = images()

    def recolor(image: np.ndarray) -> np.ndarray:
        matrix = np.array([[0.6, 0.2, 0.0], [0.1, 0.7, 0.1], [0.0, 0.3, 0.5]], np.float32)
        return np.einsum("ij,jyx->iyx", matrix, image) + np.float32(0.1)

    assert np.abs(run_bgu(small, recolor(small), large, scheduled) - recolor(large)).mean() < 1e-2
