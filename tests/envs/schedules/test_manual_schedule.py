"""Schedules that a person wrote."""

from __future__ import annotations

import halide as hl
import pytest

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.manual_schedule import manual_schedule
from halidegym.native._core import InvalidParameter


@pytest.fixture
def problem() -> SchedulingProblem:
    f, g, x = hl.Func("f"), hl.Func("g"), hl.Var("x")
    f[x] = x
    g[x] = f[x] + f[x + 1]
    g.set_estimates([(0, 64)])
    return SchedulingProblem.from_pipeline(g)


def test_what_is_no_func_keeps_its_default(problem: SchedulingProblem) -> None:
    given = []

    def by_hand(f: hl.Func, width: int = 8) -> None:
        f.compute_root()
        given.append((f.name().partition("$")[0], width))

    manual_schedule(problem, by_hand)
    assert given == [("f", 8)]


def test_a_func_without_a_default_must_be_there(problem: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match="wants 'h', and the pipeline has no such Func: it has f, g;"):
        manual_schedule(problem, lambda f, h: None)


@pytest.mark.parametrize("function", [lambda: None, lambda width=8: None])
def test_who_takes_nothing_schedules_nothing(problem: SchedulingProblem, function: object) -> None:
    """Such as the function that builds the pipeline: it would be timed as if it were a schedule."""
    with pytest.raises(InvalidParameter, match="is no schedule, since it takes nothing to schedule"):
        manual_schedule(problem, function)  # type: ignore[arg-type]
