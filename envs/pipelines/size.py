"""The `size` that pipelines of images take."""

import operator

Size = tuple[int, int]
"""(width, height) in pixels."""

LARGE: Size = (1536, 2560)
"""The portrait that most of the papers' applications are published for."""


def width_and_height(size: Size, *, at_least: int = 1) -> Size:
    """The size itself.

    Args:
        size: what a builder was given.
        at_least: pixels a side that the pipeline needs.

    Raises:
        ValueError: it is no pair of integers, or too small.
    """
    try:
        width, height = (operator.index(side) for side in size)
    except (TypeError, ValueError):
        raise ValueError(f"size={size!r} is no (width, height) in pixels, such as (160, 128)") from None
    if min(width, height) < at_least:
        raise ValueError(f"size={size!r} is too small: the pipeline needs at least {at_least} pixels a side")
    return width, height


def side(size: int) -> int:
    """The size of what has equal sides, itself.

    Raises:
        ValueError: it is no integer, or below 1.
    """
    try:
        length = operator.index(size)
    except TypeError:
        length = 0
    if length < 1:
        raise ValueError(f"size={size!r} is no positive integer, such as 64: all sides are equal")
    return length
