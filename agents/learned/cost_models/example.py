"""Cost models that come with the package: learned from run times, on one machine (docs/training/cost-models.md)."""

from __future__ import annotations

from pathlib import Path

from halidegym.native._core import Weights
from halidegym.native.checks import check_at_least
from halidegym.native.weights import load_weights

_SHIPPED = Path(__file__).parents[1] / "shipped"


def example_weights(threads: int = 1) -> Weights:
    """Weights that tell which schedules of a pipeline run faster than others, where those of the halide package do not.

    Beams with them find faster schedules on most pipelines and machines, and far slower ones on some.

    Args:
        threads: that schedules run on. Those for several went on from those for one, with run times on two.

    Raises:
        InvalidParameter: there are less than one.
    """
    check_at_least(1, threads=threads)
    return load_weights(_SHIPPED / ("example.weights" if threads == 1 else "example-two-threads.weights"))
