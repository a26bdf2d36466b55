"""When a search must end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypedDict

from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_at_least, check_number

EndedBy: TypeAlias = Literal["finished", "budget", "interrupt"]
"""Why a search ended.

"finished": it came to its own end, such as so many passes, rounds, iterations or drawn schedules. "budget": its budget was
used up, which is the only end of a search that goes on for as long as it may (random search, say, or a tree search that
divides a budget among the decisions), also if that budget is the agent's own because `plan` was given none. "interrupt":
Ctrl-C or a callback stopped it.
"""


class SearchLimits(TypedDict):
    """What the searches in C++ take of a `Budget`; None sets no limit."""

    max_seconds: float | None
    max_evaluations: int | None
    max_expansions: int | None


@dataclass(frozen=True)
class Budget:
    """When a search must end; the arguments of `Agent.plan`, checked.

    Attributes:
        seconds: wall-clock time; None for no limit, as for the others.
        evaluations: how often the cost model may be asked.
        expansions: how many states may be expanded.
        measurements: how many schedules may be timed.
    """

    seconds: float | None = None
    evaluations: int | None = None
    expansions: int | None = None
    measurements: int | None = None

    def __post_init__(self) -> None:
        check_number(seconds=self.seconds)
        check_at_least(1, evaluations=self.evaluations, expansions=self.expansions)
        check_at_least(1, measurements=self.measurements)
        if self.seconds in (0, math.inf):
            allows = "allows nothing" if self.seconds == 0 else "limits nothing"
            raise InvalidParameter(f"seconds={self.seconds} {allows}; give a positive number, or None for no limit")
        for name, amount in vars(self).copy().items():  # numbers of other libraries do not fit into the files of plans
            if amount is not None:
                object.__setattr__(self, name, float(amount) if name == "seconds" else int(amount))

    @property
    def is_unlimited(self) -> bool:
        """Whether neither time nor counts of the search are limited."""
        return self.seconds is None and self.evaluations is None and self.expansions is None

    @property
    def is_unlimited_for_rollouts(self) -> bool:
        """The same for a search that draws complete schedules, and expands no state."""
        return self.seconds is None and self.evaluations is None

    @property
    def limits(self) -> SearchLimits:
        """The arguments by which a search in C++ is limited."""
        return {
            "max_seconds": self.seconds,
            "max_evaluations": self.evaluations,
            "max_expansions": self.expansions,
        }

    @property
    def words(self) -> str:
        """For people to read, such as "2 seconds, 2,000 evaluations"."""
        given = {name: amount for name, amount in vars(self).items() if amount is not None}
        numbers = {name: f"{amount:,}" if isinstance(amount, int) else f"{amount:g}" for name, amount in given.items()}
        return ", ".join(f"{number} {name}" for name, number in numbers.items()) or "none"

    def is_used_up(self, *, seconds: float, evaluations: int = 0, expansions: int = 0, measurements: int = 0) -> bool:
        """Whether a search that has taken this must end."""
        limits = (self.seconds, self.evaluations, self.expansions, self.measurements)
        spent = (seconds, evaluations, expansions, measurements)
        return any(limit is not None and used >= limit for limit, used in zip(limits, spent, strict=True))

    def after(self, seconds: float) -> Budget:
        """Return what is left after so many seconds: an instant at least, since every search makes one schedule."""
        return self if self.seconds is None else replace(self, seconds=max(self.seconds - seconds, 1e-6))

    def or_evaluations(self, count: int) -> Budget:
        """Return this budget if it limits the search, else one of so many evaluations."""
        return replace(self, evaluations=count) if self.is_unlimited else self
