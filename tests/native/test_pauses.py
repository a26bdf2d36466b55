"""Native work that has no result unless it is done is ended by Ctrl-C, and by whatever else a signal raises."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping

import pytest

from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from halidegym.native._core import Space, SyntheticTree

ENDLESS: Mapping[str, Callable[[Space], object]] = {
    "random_rollouts": lambda space: _core.random_rollouts(space, 2**60),
    "rollout_speed": lambda space: _core.rollout_speed(space, seconds=1e9),
    "estimate_num_schedules": lambda space: _core.estimate_num_schedules(space, walks=2**31 - 1),
    "optimum": lambda _space: SyntheticTree(branching=8, depth=200, delta=1).optimum(),
}


class Interrupted(Exception):  # noqa: N818 - unlike KeyboardInterrupt, it would end no more than one test
    pass


def interrupt(*_: object) -> None:
    raise Interrupted


def call_for_a_while(work: str, space: Space) -> None:
    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        ENDLESS[work](space)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@pytest.mark.parametrize("work", ENDLESS)
def test_a_signal_ends_it(work: str) -> None:
    space = Rules().space(toys.problem("toy_blur"))
    begin = time.monotonic()
    with pytest.raises(Interrupted):
        call_for_a_while(work, space)
    assert time.monotonic() - begin < 30
