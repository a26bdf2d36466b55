"""What the passes of a beam search kept and left behind.

A plan keeps no beams, but a beam search is a function of its problem, parameters and seed. So the planner searches once
more, now over a space of Python objects that takes notes of what it is asked, and the record counts only if it finds what
the plan says.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.agent import Agent
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.spaces import SpaceSolution
from halidegym.evaluation.viewing.recorded_agent import recorded_agent
from halidegym.native._core import Error, Expansion, Space, State

_RECORDED: dict[str, type[Agent]] = {"BeamSearch": BeamSearch, "Greedy": Greedy}


@dataclass(eq=False)
class Visit:
    """A state that the search came to, in one of its passes.

    Attributes:
        parent: that it was expanded from; None for the root.
        action: index of its decision among those of the parent.
        depth: decisions made.
        cost: of the cost model, without the penalties of passes (section 2.5); 0 for the root.
    """

    parent: Visit | None
    action: int
    depth: int
    cost: float

    @property
    def origin(self) -> Visit:
        """The parent of any but the root."""
        assert self.parent is not None
        return self.parent

    @cached_property
    def state(self) -> State:
        """The state itself."""
        return self.origin.state.apply(self.action)

    @property
    def expansion(self) -> Expansion:
        """Its legal decisions; made anew each time, because those of all states are too many to keep."""
        return self.state.expand()

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """What its decisions lead to costs."""
        return self.expansion.costs()

    @property
    def line(self) -> Sequence[Visit]:
        """It and those that led to it, the root last."""
        line = [self]
        while (parent := line[-1].parent) is not None:
            line.append(parent)
        return line


@dataclass
class Level:
    """The states of a pass that have the same number of decisions.

    Attributes:
        kept: in the order in which they were taken off the queue; of the last level, the result of the pass alone.
        came_up: (parent, action) of states that were the cheapest in the queue once; those of them that were not kept had
            been penalized (section 2.5), or were dropped (section 2.6).
    """

    kept: list[Visit] = field(default_factory=list)
    came_up: set[tuple[Visit, int]] = field(default_factory=set)


@dataclass
class Pass:
    """One pass of the search; `levels[d]` are the states after d + 1 decisions."""

    levels: list[Level] = field(default_factory=list)

    @property
    def result(self) -> Visit | None:
        """The complete state that it ended with; None if something ended it before."""
        last = self.levels[-1].kept[-1] if self.levels and self.levels[-1].kept else None
        return last if last is not None and last.state.is_complete else None


def beam_passes(plan: Plan, space: Space) -> Sequence[Pass]:
    """The passes of a beam search or greedy search, recorded in a second run.

    Args:
        plan: of such a search.
        space: the search space of the plan, with the weights of its cost model.

    Returns:
        None at all for another agent, or where the second run finds something else: if the first one was stopped before it
        had completed a pass.
    """
    agent = recorded_agent(plan.agent, _RECORDED)
    if agent is None or plan.expansions is None:
        return ()
    record = _Record(space)
    limit = plan.expansions + (plan.ended_by == "finished")  # one that is not reached, or the one that was
    try:
        found = agent.solve(record, expansions=limit, seed=plan.seed)
    except Error:
        return ()
    return record.passes if _outcome(found) == _outcome(plan) else ()


def _outcome(found: Plan | SpaceSolution) -> tuple[object, ...]:
    return found.evaluations, found.expansions, found.pass_costs, [one.actions for one in found.candidates]


class _Record:
    """Schedules as a `SearchSpace` that notes what a beam search does.

    Every pass begins at the root. It asks of each state that it takes whether it is complete, and for the hash of each that
    comes up.
    """

    def __init__(self, space: Space) -> None:
        self.passes: list[Pass] = []
        self._root = Visit(None, -1, 0, 0.0)
        self._root.state = space.initial_state()

    def root(self) -> Visit:
        self.passes.append(Pass())
        return self._root

    def is_complete(self, state: Visit) -> bool:
        if state.parent is not None:
            level = self._level(state.depth)
            if not level.kept or level.kept[-1] is not state:  # asked again when it is expanded
                level.kept.append(state)
        return state.depth == self.max_depth()

    def depth(self, state: Visit) -> int:
        return state.depth

    def max_depth(self) -> int:
        return self._root.state.num_decisions

    def decisions(self, state: Visit) -> list[tuple[int, bool]]:
        expansion = state.expansion
        state.costs = expansion.costs()
        is_pass = len(expansion) == 1 and expansion.describe(0)["kind"] == "pass"
        return [(index, is_pass) for index in range(len(expansion))]

    def apply(self, state: Visit, decision: tuple[int, bool]) -> Visit:
        index, _ = decision
        return Visit(state, index, state.depth + 1, float(state.costs[index]))

    def cost(self, state: Visit) -> float:
        return state.cost

    def inherits_cost(self, decision: tuple[int, bool]) -> bool:
        return decision[1]

    def hash(self, state: Visit, depth: int) -> int:
        if state.parent is not None and depth == len(self.passes):  # section 2.5; others are those of section 2.7
            self._level(state.depth).came_up.add((state.parent, state.action))
        return state.state.hash(depth)

    def _level(self, depth: int) -> Level:
        levels = self.passes[-1].levels
        while len(levels) < depth:
            levels.append(Level())
        return levels[depth - 1]
