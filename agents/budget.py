"""When a search must end, and the checks of what agents are given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypedDict

from halidegym.native._core import InvalidParameter

EndedBy: TypeAlias = Literal["finished", "budget", "interrupt"]
"""Why a search ended.

"finished": it came to its own end. "budget": its budget was used up, which is the only end of a search that goes on for as
long as it may (random search, say, or a tree search that divides a budget among the decisions), also if that budget is the
agent's own because `plan` was given none. "interrupt": Ctrl-C or a callback stopped it.
"""

_MAX_COUNT = 2**63 - 1  # of the searches in C++


class SearchLimits(TypedDict):
    """What the searches in C++ take of a `Budget`; None sets no limit."""

    max_seconds: float | None
    max_evaluations: int | None
    max_expansions: int | None


@dataclass(frozen=True)
class Budget:
    """When a search must end; the arguments of `Agent.plan`, checked."""

    seconds: float | None = None
    evaluations: int | None = None
    expansions: int | None = None
    measurements: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float) if name == "seconds" else int):
                raise InvalidParameter(f"The budget {name}={value!r} is no number; give one, or None for no limit")
            if not value > 0 or (name != "seconds" and value > _MAX_COUNT):
                raise InvalidParameter(
                    f"The budget {name}={value} allows nothing, or more than can be counted; give a positive number up to "
                    "2^63 - 1, or None for no limit"
                )

    @property
    def is_unlimited(self) -> bool:
        """Whether neither time nor counts of the search are limited."""
        return self.seconds is None and self.evaluations is None and self.expansions is None

    @property
    def limits(self) -> SearchLimits:
        """The arguments by which a search in C++ is limited."""
        return {
            "max_seconds": self.seconds,
            "max_evaluations": self.evaluations,
            "max_expansions": self.expansions,
        }

    def or_evaluations(self, count: int) -> Budget:
        """Return this budget if it limits the search, else one of so many evaluations."""
        return replace(self, evaluations=count) if self.is_unlimited else self


def check_seed(seed: int) -> int:
    """Return the seed if it is one.

    Raises:
        InvalidParameter: it is no integer from 0 to 2^32 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InvalidParameter(f"seed={seed!r} is no seed; give an integer from 0 to 2^32 - 1")
    return seed


def check_at_least(minimum: int, **parameters: int | None) -> None:
    """Check integer parameters of an agent; None passes.

    Raises:
        InvalidParameter: one is no integer, or below the minimum, or beyond 2^63 - 1.
    """
    for name, value in parameters.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= _MAX_COUNT:
            raise InvalidParameter(
                f"{name}={value!r} is out of range; give an integer of at least {minimum}, and at most 2^63 - 1"
            )
