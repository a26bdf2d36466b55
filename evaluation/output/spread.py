"""Quantities that were measured several times."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The values of a quantity, one a round; what is measured in the same rounds can be related round by round."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value, which stands for them all."""
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        """The least value."""
        return min(self.values)

    @property
    def greatest(self) -> float:
        """The greatest value."""
        return max(self.values)

    def __truediv__(self, other: Spread) -> Spread:
        """The ratios of the rounds, from which a machine that slows down for a while drops out."""
        return Spread(tuple(a / b for a, b in zip(self.values, other.values, strict=True)))
