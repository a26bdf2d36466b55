"""Whether the fields of what was read from a file are of the types that their class declares."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any, Literal, TypeVar, Union

from halidegym.native.checks import is_text, shown

T = TypeVar("T")


def checked_fields(value: T) -> T:
    """Return an instance of a dataclass if its fields, and theirs, are what their annotations say.

    An integer passes for a float. Integers must fit into 64 bits, and text into UTF-8, so that files can hold them.

    Raises:
        TypeError: a field is something else.
    """
    cls: type = type(value)
    for name, kind in _kinds(cls).items():
        field = getattr(value, name)
        if not _fits(field, kind):
            raise TypeError(f"{name}={shown(field)}")
    return value


@functools.cache
def _kinds(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _fits(value: object, kind: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return isinstance(value, str) and value in arguments
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is tuple:  # of any length
        return isinstance(value, tuple) and all(_fits(element, arguments[0]) for element in value)
    if kind in (int, float) and isinstance(value, int):
        return not isinstance(value, bool) and -(2**63) <= value < 2**63
    if kind is str and isinstance(value, str):
        return is_text(value)
    if not isinstance(value, kind):
        return False
    if dataclasses.is_dataclass(kind):
        checked_fields(value)
    return True
