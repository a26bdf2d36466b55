"""Checks of arguments, the same on all floors: whatever does not fit is refused before it reaches the core.

Messages name the argument, what came (shortened), and what is wanted. A parameter that is None passes: None may stand for a
default. Where it means nothing, `check_present` and `check_given` refuse it.
"""

from __future__ import annotations

import math
import numbers
import os
import reprlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeGuard

from halidegym.native._core import InvalidParameter

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
"""The largest integers that the core takes: of sizes and numbers of things; of bytes and budgets."""
MAX_SEED = 2**32 - 1
"""The largest seed."""

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


def shown(value: object) -> str:
    """Return a value as messages show it: 60 characters of it at most, or a few of its elements."""
    return _short.repr(value)


def check_at_least(minimum: int, maximum: int = INT64_MAX, **parameters: object) -> None:
    """Check integers; those of other libraries count.

    Raises:
        InvalidParameter: one is no integer, or out of its range.
    """
    for name, value in parameters.items():
        if value is None:
            continue
        if not _is(numbers.Integral, value) or value < minimum:  # type: ignore[operator]
            raise InvalidParameter(f"{name}={shown(value)} is out of range; give an integer of at least {minimum}")
        if value > maximum:  # type: ignore[operator]
            raise InvalidParameter(f"{name}={shown(value)} is out of range; give an integer of at most {maximum}")


def checked_integers(name: str, values: object, minimum: int, maximum: int = INT64_MAX) -> tuple[int, ...]:
    """Return what a parameter has several of, as integers of Python.

    Raises:
        InvalidParameter: it is nothing that has elements, or one of these is no integer, or out of its range.
    """
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise InvalidParameter(f"{name}={shown(values)} is no sequence of integers; give one, such as ({minimum},)")
    elements = tuple(values)
    for value in elements:
        check_at_least(minimum, maximum, **check_present(**{f"each of {name}": value}))
    return tuple(map(int, elements))


def check_number(minimum: float = 0, maximum: float = math.inf, **parameters: object) -> None:
    """Check numbers; infinity passes where there is no maximum.

    Raises:
        InvalidParameter: one is no number, or out of its range.
    """
    wanted = f"of at least {minimum}" if maximum == math.inf else f"from {minimum} to {maximum}"
    for name, value in parameters.items():
        if value is not None and not minimum <= _number(value) <= maximum:
            raise InvalidParameter(f"{name}={shown(value)} is out of range; give a number {wanted}")


def check_positive(**parameters: object) -> None:
    """Check numbers that must be positive and finite.

    Raises:
        InvalidParameter: one is not.
    """
    for name, value in parameters.items():
        if value is None:
            continue
        if not 0 < _number(value) < math.inf:
            raise InvalidParameter(f"{name}={shown(value)} is out of range; give a positive number")


def check_seed(seed: int) -> int:
    """Return the seed if it is one.

    Raises:
        InvalidParameter: it is no integer from 0 to 2^32 - 1.
    """
    if not _is(numbers.Integral, seed) or not 0 <= seed <= MAX_SEED:
        raise InvalidParameter(f"seed={shown(seed)} is no seed; give an integer from 0 to 2^32 - 1")
    return int(seed)


def check_kind(kind: type, **parameters: object) -> None:
    """Check that objects are instances of a class, or of an abstract one such as `Mapping`; of `str`, that they are texts.

    Raises:
        InvalidParameter: one is not.
    """
    for name, value in parameters.items():
        if kind is str and isinstance(value, str) and not is_text(value):
            raise InvalidParameter(f"{name}={shown(value)} holds bytes that are no characters; give text")
        if value is not None and not isinstance(value, kind):
            came = type(value).__name__
            if came == kind.__name__:  # as NumPy's bool is called
                came = f"{type(value).__module__}.{came}"
            raise InvalidParameter(f"{name}={shown(value)} is a {came}; give a {kind.__name__}")


def check_present(**parameters: Any) -> dict[str, Any]:
    """Return the parameters, for further checks, if none of them is None, which means nothing for them.

    Raises:
        InvalidParameter: one is.
    """
    for name, value in parameters.items():
        if value is None:
            raise InvalidParameter(f"{name} is None, which means nothing here; give a value, or leave it out")
    return parameters


def check_given(kind: type, **parameters: object) -> None:
    """What `check_kind` checks, of objects that cannot be None.

    Raises:
        InvalidParameter: one is not, or is None.
    """
    for name, value in parameters.items():
        if value is None:
            raise InvalidParameter(f"{name} is None; give a {kind.__name__}")
    check_kind(kind, **parameters)


def checked_path(name: str, path: object) -> Path:
    """Return a path that may be given as text.

    Raises:
        InvalidParameter: it is no path.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter(f"{name}={shown(path)} is no path; give a str or a pathlib.Path")
    return Path(path)


def is_text(value: str) -> bool:
    """Whether UTF-8 has all of a text, so that files can hold it and the core takes it: lone surrogates are in none."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, be it another library's; a bool is none."""
    return isinstance(value, float) or _is(numbers.Real, value)  # the first is quick to ask


def _number(value: object) -> float:
    """The value as the core takes it; NaN if it is no number, or an integer that is too large."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:
        return math.nan


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
