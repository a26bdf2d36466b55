"""Arguments of environments, checked."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, SupportsIndex

from halidegym.native._core import InvalidParameter

_LIMIT = 2**63


def action_index(action: SupportsIndex) -> int:
    """The action as an integer: an int, an integer of NumPy or torch, or an array of no dimensions that holds one.

    Raises:
        InvalidParameter: it is anything else, or does not fit 64 bits.
    """
    try:
        index = operator.index(action)
    except TypeError as error:
        raise InvalidParameter(
            f"action={action!r} is a {type(action).__name__}, not an integer: give the index of a decision, such as "
            "env.action_space.sample() returns"
        ) from error
    if not -_LIMIT <= index < _LIMIT:
        raise InvalidParameter(f"action={index} does not fit 64 bits: give the index of a decision")
    return index


def check_no_options(options: Mapping[str, Any] | None) -> None:
    """Check the options of a `reset` that has none.

    Raises:
        InvalidParameter: there are some.
    """
    if options:
        raise InvalidParameter(f"options={options!r}: reset has no options here; leave them out")


def check_sizes(**sizes: int) -> None:
    """Check sizes of an observation.

    Raises:
        InvalidParameter: one is below 1.
    """
    for name, size in sizes.items():
        if size < 1:
            raise InvalidParameter(f"{name}={size}: an observation needs room for at least 1")
