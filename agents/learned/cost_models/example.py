"""A cost model that comes with the package: it was learned from run times, on one machine (docs/training/cost-models.md)."""

from __future__ import annotations

from pathlib import Path

from halidegym.native._core import Weights
from halidegym.native.weights import load_weights

_PATH = Path(__file__).parents[1] / "shipped" / "example.weights"


def example_weights() -> Weights:
    """Weights that tell which schedules of a pipeline run faster than others, where those of the halide package do not.

    Beams with them find faster schedules on most pipelines and machines, and far slower ones on some.
    """
    return load_weights(_PATH)
