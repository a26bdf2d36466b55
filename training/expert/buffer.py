"""The best plan that is known of each pipeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from halidegym.training.data.shard import TaughtPlan, TaughtProblem


class Buffer:
    """Problems with their plans, of which the best one is never replaced by a worse one.

    Args:
        taught: what is known to begin with.
        within: plans whose costs exceed the best one's by at most this share are kept besides it.
        weight: of these.
    """

    def __init__(self, taught: Sequence[TaughtProblem], *, within: float, weight: float) -> None:
        self._problems = list(taught)
        self._improved = set[int]()
        self._within, self._weight = within, weight

    def __len__(self) -> int:
        return len(self._problems)

    def __getitem__(self, index: int) -> TaughtProblem:
        return self._problems[index]

    @property
    def num_improved(self) -> int:
        """Pipelines of which a better plan was found than was known to begin with."""
        return len(self._improved)

    def offer(self, index: int, plan: TaughtPlan) -> bool:
        """Keep a plan if it is better than all that are known of this problem; return whether it is."""
        problem = self._problems[index]
        if not plan.cost < problem.cost:
            return False
        best = dataclasses.replace(plan, weight=1.0)
        near = plan.cost * (1 + self._within)
        others = [
            dataclasses.replace(other, weight=self._weight if other.cost <= near else 0.0)
            for other in problem.plans
            if other.cost <= near or other.teacher == "greedy"
        ]
        self._problems[index] = dataclasses.replace(problem, plans=(best, *others))
        self._improved.add(index)
        return True

    def state(self) -> dict[int, Any]:
        """The plans of the problems with improved ones, as plain values, for `go_on`."""
        return {index: [dataclasses.asdict(plan) for plan in self._problems[index].plans] for index in self._improved}

    def go_on(self, state: Mapping[int, Any]) -> None:
        """Take over what another buffer, which began with the same plans, had found."""
        for index, plans in state.items():
            known = tuple(TaughtPlan(**plan) for plan in plans)
            self._problems[index] = dataclasses.replace(self._problems[index], plans=known)
        self._improved = set(state)
