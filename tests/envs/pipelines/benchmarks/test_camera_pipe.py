"""Numbers of camera_pipe against NumPy, to the last bit: as it is, and by a schedule of our search."""

import halide as hl
import numpy as np
import pytest

from halidegym.envs import pipelines
from pipeline_runs import SCHEDULED_SLOWLY, pipeline_functions, run

WIDTH, HEIGHT = 64, 48
MATRIX = np.array([[1.6, -0.3, -0.2, 4], [-0.2, 1.4, -0.1, -3], [0.1, -0.5, 1.5, 2]], np.float32)
IDENTITY = np.eye(3, 4, dtype=np.float32)


def inputs(raw: np.ndarray, matrix: np.ndarray = IDENTITY, sharpen_strength: float = 1.0) -> dict[str, object]:
    scalars = {"color_temp": 3700.0, "gamma": 2.0, "contrast": 50.0, "sharpen_strength": sharpen_strength}
    levels = {"blackLevel": 25, "whiteLevel": 1023}
    return {"input": raw, "matrix_3200": matrix, "matrix_7000": matrix} | scalars | levels


def run_camera_pipe(scheduled: bool, **arguments: object) -> np.ndarray:
    pipeline = pipelines.build("camera_pipe", size=(WIDTH, HEIGHT))
    return run(pipeline, np.zeros((3, HEIGHT, WIDTH), np.uint8), scheduled=scheduled, **arguments)


def tone_curve(value: np.ndarray) -> np.ndarray:
    t = np.clip((value - 25) / (1023 - 25), 0, 1) ** 0.5
    b = 2 - 2**0.5
    a = 2 - 2 * b
    z = np.where(t > 0.5, 1 - (a * (1 - t) ** 2 + b * (1 - t)), a * t**2 + b * t)
    return np.where(value <= 25, 0, np.clip(255 * z + 0.5, 0, 255).astype(int))


def computed_curve() -> np.ndarray:
    """The pipeline's own table, whose pow may round otherwise than NumPy's."""
    pipeline = pipelines.build("camera_pipe", size=(WIDTH, HEIGHT))
    names = [name.split("$")[0] for name in pipeline_functions(pipeline)]
    curve = hl.Pipeline(pipeline.get_func(names.index("curve")))
    return run(curve, np.zeros(1024, np.uint8), **inputs(np.zeros((1, 1), np.uint16)))


def average(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a.astype(np.uint32) + b + 1) // 2


def camera_pipe_in_numpy(raw: np.ndarray, matrix: np.ndarray, curve: np.ndarray, strength_x32: int) -> np.ndarray:
    """Over the whole sensor; a margin of 12 rows and 16 columns around the result absorbs what wraps at the borders."""

    def at(image: np.ndarray, dx: int, dy: int) -> np.ndarray:
        return np.roll(image, (-dy, -dx), (-2, -1))

    neighbours = [at(raw, *offset) for offset in ((-2, 0), (2, 0), (0, -2), (0, 2))]
    denoised = np.minimum(raw, np.max(neighbours, 0)).astype(np.uint16)
    g_gr, r_r, b_b, g_gb = (denoised[j::2, i::2] for j in (0, 1) for i in (0, 1))

    def wrapped(image: np.ndarray) -> np.ndarray:
        return image.astype(np.uint16)

    def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.abs(a.astype(int) - b)

    def smoother(horizontal: tuple[np.ndarray, ...], vertical: tuple[np.ndarray, ...]) -> np.ndarray:
        chosen = difference(*horizontal) < difference(*vertical)
        return wrapped(np.where(chosen, average(*horizontal), average(*vertical)))

    g_r = smoother((at(g_gr, 1, 0), g_gr), (at(g_gb, 0, -1), g_gb))
    g_b = smoother((at(g_gb, -1, 0), g_gb), (at(g_gr, 0, 1), g_gr))

    def corrected(green: np.ndarray, guide: np.ndarray, color: np.ndarray, a: tuple[int, int], b: tuple[int, int]):
        return wrapped(green - average(at(guide, *a), at(guide, *b)) + average(at(color, *a), at(color, *b)))

    here = (0, 0)
    r_gr, b_gr = corrected(g_gr, g_r, r_r, here, (-1, 0)), corrected(g_gr, g_b, b_b, here, (0, -1))
    r_gb, b_gb = corrected(g_gb, g_r, r_r, here, (0, 1)), corrected(g_gb, g_b, b_b, here, (1, 0))

    def diagonal(green: np.ndarray, guide: np.ndarray, color: np.ndarray, side: int) -> np.ndarray:
        p, n = (here, (-side, side)), ((-side, 0), (0, side))
        p_difference, n_difference = (difference(at(color, *a), at(color, *b)) for a, b in (p, n))
        candidates = [corrected(green, guide, color, a, b) for a, b in (p, n)]
        return np.where(p_difference < n_difference, *candidates)

    r_b, b_r = diagonal(g_b, g_r, r_r, 1), diagonal(g_r, g_b, b_b, -1)

    def interleaved(*sites: np.ndarray) -> np.ndarray:
        image = np.empty_like(raw)
        for k, site in enumerate(sites):
            image[k // 2 :: 2, k % 2 :: 2] = site
        return image.astype(np.int16).astype(int)

    red = interleaved(r_gr, r_r, r_b, r_gb)
    green = interleaved(g_gr, g_r, g_b, g_gb)
    blue = interleaved(b_gr, b_r, b_b, b_gb)
    fixed = (matrix * np.float32(256)).astype(np.int16).astype(int)  # 8 fractional bits
    colors = [(m[3] + m[0] * red + m[1] * green + m[2] * blue) // 256 for m in fixed]
    curved = curve[np.clip(np.stack(colors).astype(np.int16), 0, 1023)].astype(int)

    def blur(image: np.ndarray, dx: int, dy: int) -> np.ndarray:
        return average(average(at(image, -dx, -dy), at(image, dx, dy)), image).astype(int)

    mask = curved - blur(blur(curved, 0, 1), 1, 0)
    sharpened = np.clip(curved + mask * strength_x32 // 32, 0, 255)
    return sharpened[:, 12 : 12 + HEIGHT, 16 : 16 + WIDTH].astype(np.uint8)


def noise() -> np.ndarray:
    """A raw image, with as much around the pixels that the result is cut out of as it reads."""
    return np.random.default_rng(4).integers(0, 1024, (HEIGHT + 18, WIDTH + 22), np.uint16)


def test_the_curve_equals_numpy() -> None:
    assert np.abs(computed_curve().astype(int) - tone_curve(np.arange(1024))).max() <= 1


@SCHEDULED_SLOWLY
def test_it_equals_numpy(scheduled: bool) -> None:
    raw = noise()
    result = run_camera_pipe(scheduled, **inputs(raw, MATRIX))
    # The two matrices are equal, so that no temperature makes another one of them.
    expected = camera_pipe_in_numpy(np.pad(raw, ((0, 6), (0, 10))), MATRIX, computed_curve(), 32)
    assert expected.std() > 10
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("value", [25, 517])
def test_a_constant_image_becomes_its_curve(value: int) -> None:
    result = run_camera_pipe(False, **inputs(np.full((HEIGHT + 18, WIDTH + 22), value, np.uint16)))
    assert np.abs(result.astype(int) - tone_curve(np.array(value))).max() <= 1
    assert (result == result[0, 0, 0]).all()


@SCHEDULED_SLOWLY
def test_without_sharpening_the_curve_comes_out(scheduled: bool) -> None:
    raw = noise()
    result = run_camera_pipe(scheduled, **inputs(raw, sharpen_strength=0.0))
    curve = computed_curve()
    assert np.isin(result, curve).all()
    expected = camera_pipe_in_numpy(np.pad(raw, ((0, 6), (0, 10))), IDENTITY, curve, 0)
    np.testing.assert_array_equal(result, expected)
