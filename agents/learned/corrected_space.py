"""Schedules whose partial costs a learned policy corrects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halidegym.native._core import Expansion, Policy, Space, State


class RankedState:
    """A state, with the cost by which it is ranked; its children are ranked once.

    Attributes:
        space: that it is of.
        state: partial or complete schedule.
        rank: cost * probability of the last decision ^ -weight; of a complete schedule the cost.
    """

    def __init__(self, space: CorrectedSpace, state: State, rank: float) -> None:
        self.space, self.state, self.rank = space, state, rank
        self.children: tuple[Expansion, Sequence[float]] | None = None


class CorrectedSpace:
    """A search space of schedules for the planners; see `halidegym.agents.spaces.SearchSpace`.

    Attributes:
        forwards: states that went through the network.
    """

    def __init__(self, space: Space, policy: Policy, weight: float) -> None:
        self._root = space.initial_state()
        self._policy, self._weight = policy, weight
        self.forwards = 0

    def root(self) -> RankedState:
        """Return the state in which nothing is decided."""
        return RankedState(self, self._root, 0.0)

    def is_complete(self, state: RankedState) -> bool:
        """Return whether all is decided."""
        return state.state.is_complete

    def depth(self, state: RankedState) -> int:
        """Return the number of decisions that led to a state."""
        return state.state.num_decisions_made

    def max_depth(self) -> int:
        """Return the number of decisions of a complete schedule."""
        return self._root.num_decisions

    def decisions(self, state: RankedState) -> range:
        """Return the numbers of the legal decisions."""
        return range(len(self._children(state)[1]))

    def apply(self, state: RankedState, decision: int) -> RankedState:
        """Return the state after a decision."""
        expansion, ranks = self._children(state)
        return RankedState(self, expansion.child(decision), ranks[decision])

    def cost(self, state: RankedState) -> float:
        """Return what a state is ranked by."""
        return state.rank

    def hash(self, state: RankedState, depth: int) -> int:
        """Return the structural hash of the schedule."""
        return state.state.hash(depth)

    def _children(self, state: RankedState) -> tuple[Expansion, Sequence[float]]:
        if state.children is None:
            expansion = state.state.expand()
            ranks = expansion.costs()
            is_last = state.state.num_decisions_made + 1 == state.state.num_decisions
            if self._weight > 0 and len(ranks) > 1 and not is_last:
                logits = self._policy.child_logits(expansion).astype(np.float64)
                self.forwards += 1
                log_probabilities = logits - np.logaddexp.reduce(logits)
                ranks = ranks * np.exp(-self._weight * log_probabilities)
            state.children = expansion, ranks.tolist()
        return state.children
