"""Native work that has no result unless it is done is ended by Ctrl-C."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator

import pytest

from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from halidegym.native._core import Space, SyntheticTree


@pytest.fixture
def interrupted_soon() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def endless(space: Space) -> dict[str, Callable[[], object]]:
    return {
        "random_rollouts": lambda: _core.random_rollouts(space, 2**60),
        "rollout_speed": lambda: _core.rollout_speed(space, seconds=1e9),
        "estimate_num_schedules": lambda: _core.estimate_num_schedules(space, walks=2**31 - 1),
        "optimum": SyntheticTree(branching=8, depth=200, delta=1).optimum,
    }


@pytest.mark.parametrize("work", ["random_rollouts", "rollout_speed", "estimate_num_schedules", "optimum"])
def test_ctrl_c_ends_it(work: str, interrupted_soon: None) -> None:
    call = endless(Rules().space(toys.problem("toy_blur")))[work]
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call()
    assert time.monotonic() - begin < 30
