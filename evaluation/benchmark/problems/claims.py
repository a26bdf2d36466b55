"""Whether what a file claims is what was found here."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from halidegym.agents.plan import Candidate, Improvement
from halidegym.native._core import Error


class FalseClaimError(Error):
    """A result is not what it claims to be."""


def check_equal(what: str, claimed: object, found: object) -> None:
    """Raise FalseClaimError if two values differ."""
    if claimed != found:
        is_short = len(repr(claimed)) + len(repr(found)) < 200
        raise FalseClaimError(
            f"{what} is {claimed!r} there, and {found!r} here" if is_short else f"{what} is another one here"
        )


def check_history(history: Sequence[Improvement], candidates: Sequence[Candidate], evaluations: int | None) -> None:
    """An anytime curve falls as its time and its counts grow, each by itself.

    It ends with the best cost, and at most the counts of the plan.

    Raises:
        FalseClaimError: this one does not.
    """
    if not history:
        return
    for earlier, later in itertools.pairwise(history):
        goes_back = later.seconds < earlier.seconds or later.evaluations < earlier.evaluations
        if goes_back or later.cost >= earlier.cost:
            raise FalseClaimError("history is no curve that falls as the search goes on")
    check_equal("the last cost of the history", history[-1].cost, min(candidate.cost for candidate in candidates))
    if evaluations is not None and history[-1].evaluations > evaluations:
        raise FalseClaimError("history goes on beyond the evaluations of the plan")
