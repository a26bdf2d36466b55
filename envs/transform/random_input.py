"""What plans are checked and timed on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halidegym.native.checks import check_seed


def transformed_by_numpy(n: int, seed: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Random numbers, and their transform by NumPy."""
    numbers = np.random.default_rng(check_seed(seed)).standard_normal((n, 2)).view(np.complex128)[:, 0].copy()
    return numbers, np.fft.fft(numbers)
