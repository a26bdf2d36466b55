"""Search spaces besides schedules: what a Python object needs to be searched by every planner, and what is found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from halidegym.agents.budget import EndedBy
from halidegym.agents.plan import Candidate, Improvement
from halidegym.native._core import Space, SyntheticTree, TransformSpace


class SearchSpace(Protocol):
    """A space of decisions, to be minimised by any planner; an object needs these methods and no base class.

    States and decisions are whatever Python values the space likes; states must not change once they are returned. Equal
    calls must give equal results, so decisions that are objects need an ``__eq__``. What a method raises ends the search and
    arrives at the caller.

    Planners are slower on a Python object than on a space in C++, and find the same; but the same seed draws other random
    schedules in C++, where they are drawn without listing all decisions.

    Complete states may differ in depth. But a pass of `BeamSearch` ends, as Adams et al. have it, with the first complete
    state that the beam comes to: a cheaper one that takes more decisions is then not looked for, however wide the beam is.

    More methods are optional. Planners look for exactly these names, and nobody notices if one is misspelt:

    - ``hash(state, depth) -> int``: a structural hash that looks `depth` levels deep, for the passes of `BeamSearch`; equal
      states have equal hashes. By default Python's ``hash(state)``, which lists and dictionaries lack.
    - ``inherits_cost(decision) -> bool``: whether the decision changes nothing that the cost depends on, so that a planner
      need not ask for it. By default False.
    - ``__eq__`` and ``__hash__`` of the states: which ones have the same future, for `TAG` on a graph.
    """

    def root(self) -> Any:
        """Return the state in which nothing is decided."""

    def is_complete(self, state: Any) -> bool:
        """Return whether a state is a solution; it has no decisions then."""

    def depth(self, state: Any) -> int:
        """Return the number of decisions that led to a state."""

    def max_depth(self) -> int:
        """Return the largest depth of any state; it is asked once a search."""

    def decisions(self, state: Any) -> Iterable[Any]:
        """Return the legal decisions of an incomplete state, in a fixed order; none in a dead end."""

    def apply(self, state: Any, decision: Any) -> Any:
        """Return the state after one of its decisions."""

    def cost(self, state: Any) -> float | None:
        """Return what a complete or partial state costs, the less the better; None if it is not acceptable after all.

        An answer of None is not counted as an evaluation, but by MCTS: where nothing is acceptable, its budget would have
        no end.
        """


AnySpace: TypeAlias = Space | SyntheticTree | TransformSpace | SearchSpace
"""What the planners in C++ take: Halide schedules, a synthetic tree, plans of a transform, or an object with the methods of
`SearchSpace`."""


@dataclass(frozen=True, repr=False)
class SpaceSolution:
    """The best complete state that an agent found in a search space, and how its search went; the `Plan` of such spaces.

    Attributes:
        agent: the agent with its parameters.
        seed: of the search.
        cost: of `state`.
        state: the best complete state.
        candidates: complete states that the search came by, as decisions; `state` is the first one, the fastest if the
            agent measured, and the others follow by cost.
        pass_costs: per pass of a multi-pass search, the cost of its result as the search compared it.
        evaluations: how often a cost was asked for, and there was one; by MCTS, how often it was asked for.
        distinct_evaluations: how many of these costs were computed, the others being known from an earlier pass.
        expansions: states expanded.
        forwards: states that went through a learned network.
        seconds: wall-clock time of the search.
        history: the improvements of the best cost, in order.
        ended_by: "finished", "budget" or "interrupt"; see `EndedBy`.
    """

    agent: str
    seed: int
    cost: float
    state: Any
    candidates: tuple[Candidate, ...]
    pass_costs: tuple[float, ...]
    evaluations: int
    distinct_evaluations: int
    expansions: int
    forwards: int
    seconds: float
    history: tuple[Improvement, ...]
    ended_by: EndedBy

    def __repr__(self) -> str:
        """What people ask first, in a line: all decisions of all candidates would be a page."""
        found = f"cost={self.cost!r}, evaluations={self.evaluations}, seconds={round(self.seconds, 3)}"
        return f"SpaceSolution({found}, ended_by={self.ended_by!r}, seed={self.seed}, agent={self.agent!r})"

    @property
    def actions(self) -> tuple[int, ...]:
        """The decisions that lead to `state`: per depth, the index of the one taken among all."""
        return self.candidates[0].actions
