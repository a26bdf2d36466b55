"""What is left of a schedule as a search space of its own, so that every planner can finish what another began."""

from __future__ import annotations

from collections.abc import Sequence

from halidegym.native._core import Decision, InvalidParameter, State


class RestOfSchedule:
    """The schedules that begin with the decisions of a state: a `SearchSpace` for `Agent.solve`."""

    def __init__(self, beginning: State) -> None:
        """See the class.

        Raises:
            InvalidParameter: the schedule is complete already.
        """
        if beginning.is_complete:
            raise InvalidParameter("beginning=... is a complete schedule: there is nothing left to decide")
        self._beginning = beginning

    def root(self) -> State:
        """The state that the search begins with."""
        return self._beginning

    def is_complete(self, state: State) -> bool:
        """Whether nothing is left to decide."""
        return state.is_complete

    def depth(self, state: State) -> int:
        """Decisions made since the beginning."""
        return state.num_decisions_made - self._beginning.num_decisions_made

    def max_depth(self) -> int:
        """Decisions left at the beginning."""
        return self._beginning.num_decisions - self._beginning.num_decisions_made

    def decisions(self, state: State) -> Sequence[Decision]:
        """The legal decisions in the autoscheduler's order."""
        expansion = state.expand()
        return [expansion.decision(index) for index in range(expansion.count)]

    def apply(self, state: State, decision: Decision) -> State:
        """The state after a legal decision."""
        child = state.child_if_legal(decision)
        if child is None:
            raise InvalidParameter(f"{decision!r} is not legal here; give one of decisions(state)")
        return child

    def cost(self, state: State) -> float:
        """By the cost model."""
        return state.cost()

    def hash(self, state: State, depth: int) -> int:
        """A structural hash, for the passes of `BeamSearch`."""
        return state.hash(depth)
