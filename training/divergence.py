"""Trainings that have diverged, which end at once and in words: whatever follows would be learned from no numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from halidegym.native._core import InvalidParameter


def check_finite(what: str, values: Tensor) -> None:
    """Refuse to go on with a training whose numbers are none.

    Args:
        what: the values are, as the message calls them.
        values: of a loss, or that a network gives.

    Raises:
        InvalidParameter: one of them is not finite.
    """
    if not torch.isfinite(values).all():
        raise InvalidParameter(
            f"The training has diverged: {what} not finite. Train anew, with a lower learning rate, say"
        )
