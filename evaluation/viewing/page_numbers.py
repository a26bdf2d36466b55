"""Costs as pages hold them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_DIGITS = 6
_APART = 300  # in a plot of a few hundred pixels


def rounded(cost: float) -> float:
    """A cost with the digits that are shown."""
    return float(f"{cost:.{_DIGITS}g}")


def spread(costs: Sequence[float]) -> list[float]:
    """Of ascending costs, those that can be told apart in a plot."""
    low, high = math.log(costs[0]), math.log(costs[-1])
    if high <= low:
        return [rounded(costs[0])]
    apart = {round(_APART * (math.log(cost) - low) / (high - low)): cost for cost in reversed(costs)}
    return [rounded(cost) for _, cost in sorted(apart.items())]
