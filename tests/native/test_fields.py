"""Fields of dataclasses are what their annotations say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pytest

from halidegym.native.fields import checked_fields


@dataclass(frozen=True)
class Part:
    size: int


@dataclass(frozen=True)
class Whole:
    name: str = "name"
    cost: float | None = None
    kind: Literal["a", "b"] = "a"
    is_new: bool = False
    parts: tuple[Part, ...] = (Part(1),)


@pytest.mark.parametrize("value", [Whole(), Whole(cost=1), Whole(cost=float("nan")), Whole(kind="b", parts=())])
def test_what_fits_comes_back(value: Whole) -> None:
    assert checked_fields(value) is value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", 1),
        ("name", b"name"),
        ("name", "\ud800"),
        ("cost", "1"),
        ("cost", True),
        ("cost", 10**400),
        ("kind", "c"),
        ("kind", []),
        ("is_new", 1),
        ("parts", [Part(1)]),
        ("parts", (1,)),
        ("parts", (Part(1.5),)),  # type: ignore[arg-type]
        ("parts", (Part(2**63),)),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: object) -> None:
    with pytest.raises(TypeError, match="size=" if isinstance(value, tuple) and value != (1,) else f"{name}="):
        checked_fields(replace(Whole(), **{name: value}))  # type: ignore[arg-type]
