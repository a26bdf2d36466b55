"""Whether what a file claims is what was found here."""

from __future__ import annotations

import pytest

from halidegym.agents.plan import Candidate, Improvement
from halidegym.evaluation.benchmark.problems.claims import FalseClaimError, check_history

FIRST = Improvement(1.0, 10, 0, 3.0)


def check(second: Improvement) -> None:
    check_history((FIRST, second), (Candidate(cost=2.0, actions=()),), 20)


def test_a_history_goes_on_by_time_and_by_counts() -> None:
    check(Improvement(1.0, 10, 0, 2.0))
    check(Improvement(1.5, 12, 0, 2.0))
    for second in (Improvement(0.9, 12, 0, 2.0), Improvement(1.5, 9, 0, 2.0), Improvement(1.5, 12, 0, 3.0)):
        with pytest.raises(FalseClaimError, match="no curve"):
            check(second)
