"""Arguments of environments, checked."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from halidegym.native._core import InvalidParameter
from halidegym.native.checks import shown

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
            f"action={shown(action)} is a {type(action).__name__}, not an integer: give the index of a decision, such as "
            "env.action_space.sample() returns"
        ) from error
    if not -_LIMIT <= index < _LIMIT:
        raise InvalidParameter(f"action={index} does not fit 64 bits: give the index of a decision")
    return index


def check_render_mode(mode: str | None, modes: Sequence[str]) -> None:
    """Check the `render_mode` of an environment that has these.

    Raises:
        InvalidParameter: it is another one.
    """
    if mode is not None and mode not in modes:
        raise InvalidParameter(f"There is no render_mode {mode!r}: use {' or '.join(modes)}, or None")


def check_no_options(options: Mapping[str, Any] | None) -> None:
    """Check the options of a `reset` that has none.

    Raises:
        InvalidParameter: there are some.
    """
    if options:
        raise InvalidParameter(f"options={shown(options)}: reset has no options here; leave them out")
