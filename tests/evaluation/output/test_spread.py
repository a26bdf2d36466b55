"""Quantities that were measured several times."""

from __future__ import annotations

import pytest

from halidegym.evaluation.output.spread import Spread


def test_a_spread_is_described_by_three_values() -> None:
    spread = Spread((4.0, 1.0, 2.0))
    assert (spread.median, spread.least, spread.greatest) == (2.0, 1.0, 4.0)


def test_ratios_are_those_of_the_rounds() -> None:
    """The second round was slow for both."""
    assert Spread((6.0, 60.0, 9.0)) / Spread((2.0, 20.0, 3.0)) == Spread((3.0, 3.0, 3.0))
    with pytest.raises(ValueError, match="shorter"):
        Spread((1.0, 2.0)) / Spread((1.0,))
