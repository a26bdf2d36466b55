"""An episode that can be taken back: the points of it at which there was a choice."""

from __future__ import annotations

from dataclasses import dataclass, replace

from halidegym.agents.agent import Agent
from halidegym.agents.rest_of_schedule import RestOfSchedule
from halidegym.native._core import InvalidParameter, State
from halidegym.native.checks import shown


@dataclass(frozen=True)
class Game:
    """Where an episode stands, and how it came there; immutable.

    Attributes:
        states: those in which there was a choice, and the one that stands now; never none.
    """

    states: tuple[State, ...]

    @classmethod
    def start(cls, state: State) -> Game:
        """A game that begins at the next choice after a state."""
        return cls((_next_choice(state),))

    @property
    def state(self) -> State:
        """The state that stands now."""
        return self.states[-1]

    def take(self, index: int) -> Game:
        """The game after one of the legal decisions, and those after it that leave no choice.

        Raises:
            InvalidParameter: there is no such decision, or the schedule is complete.
        """
        if self.state.is_complete:
            raise InvalidParameter("The schedule is complete: undo a decision, or quit")
        count = self.state.expand().count
        if not 0 <= index < count:
            raise InvalidParameter(f"There is no decision {shown(index)}: there are {count}, counted from 0")
        return self._after(self.state.apply(index))

    def undo(self) -> Game:
        """The game before the last choice.

        Raises:
            InvalidParameter: there was none.
        """
        if len(self.states) == 1:
            raise InvalidParameter("There is nothing to undo: no decision was made")
        return replace(self, states=self.states[:-1])

    def finish(self, agent: Agent) -> Game:
        """The game after an agent has made all decisions that are left; one undo takes them all back.

        Raises:
            InvalidParameter: the schedule is complete.
            SearchExhausted: the agent finds no schedule that begins so.
        """
        return self._after(agent.solve(RestOfSchedule(self.state)).state)

    def _after(self, state: State) -> Game:
        return replace(self, states=(*self.states, _next_choice(state)))


def _next_choice(state: State) -> State:
    while not state.is_complete and (expansion := state.expand()).count == 1:
        state = expansion.child(0)
    return state
