"""The buffer forgets no better plan."""

from __future__ import annotations

import pytest

from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.expert.buffer import Buffer

KNOWN = (
    TaughtPlan(1.0, (0, 1), "tree", 1.0),
    TaughtPlan(1.04, (0, 2), "beam", 0.3),
    TaughtPlan(2.0, (3, 3), "greedy", 0.0),
)
PROBLEM = TaughtProblem("random-train-v1/0", b"", 2.0, 1.04, KNOWN)


def plan(cost: float) -> TaughtPlan:
    return TaughtPlan(cost, (5, 5), "policy", 1.0)


@pytest.mark.parametrize("cost", [1.0, 1.5])
def test_a_plan_that_is_no_better_changes_nothing(cost: float) -> None:
    buffer = Buffer([PROBLEM], within=0.05, weight=0.3)
    assert not buffer.offer(0, plan(cost))
    assert buffer[0] == PROBLEM and buffer.num_improved == 0 and buffer.state() == {}


def test_a_better_plan_becomes_the_label_beside_near_ones() -> None:
    buffer = Buffer([PROBLEM], within=0.05, weight=0.3)
    assert buffer.offer(0, plan(0.99))
    assert [(p.cost, p.weight) for p in buffer[0].plans] == [(0.99, 1.0), (1.0, 0.3), (2.0, 0.0)]
    assert not buffer.offer(0, plan(0.995))
    assert buffer.offer(0, plan(0.5))
    assert [(p.cost, p.weight) for p in buffer[0].plans] == [(0.5, 1.0), (2.0, 0.0)]
    assert buffer.num_improved == 1


def test_a_buffer_goes_on() -> None:
    buffer, again = (Buffer([PROBLEM, PROBLEM], within=0.05, weight=0.3) for _ in range(2))
    buffer.offer(1, plan(0.99))
    again.go_on(buffer.state())
    assert [again[0], again[1]] == [buffer[0], buffer[1]] and again.num_improved == 1
