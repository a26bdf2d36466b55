"""Search spaces written in Python, for the tests of the planners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from halidegym.native._core import Space, State, SyntheticNode, SyntheticTree


@dataclass(frozen=True)
class PythonTree:
    """A synthetic tree as a Python object; paths are its states, so that none of the C++ nodes is used as one."""

    tree: SyntheticTree

    def root(self) -> tuple[int, ...]:
        return ()

    def is_complete(self, path: tuple[int, ...]) -> bool:
        return len(path) == self.tree.max_depth()

    def depth(self, path: tuple[int, ...]) -> int:
        return len(path)

    def max_depth(self) -> int:
        return self.tree.max_depth()

    def decisions(self, path: tuple[int, ...]) -> Iterable[int]:
        return range(self.tree.branching)

    def apply(self, path: tuple[int, ...], decision: int) -> tuple[int, ...]:
        return (*path, decision)

    def cost(self, path: tuple[int, ...]) -> float:
        return self._node(path).path_cost

    def _node(self, path: tuple[int, ...]) -> SyntheticNode:
        node = self.tree.root()
        for decision in path:
            node = self.tree.apply(node, decision)
        return node


@dataclass(frozen=True)
class PythonSchedules:
    """The schedules of a problem as a Python object."""

    space: Space
    num_nodes: int

    def root(self) -> State:
        return self.space.initial_state()

    def is_complete(self, state: State) -> bool:
        return state.is_complete

    def depth(self, state: State) -> int:
        return state.num_decisions_made

    def max_depth(self) -> int:
        return 2 * self.num_nodes

    def decisions(self, state: State) -> list[tuple[int, bool]]:
        expansion = state.expand()
        return [(i, expansion.describe(i)["kind"] == "pass") for i in range(len(expansion))]

    def apply(self, state: State, decision: tuple[int, bool]) -> State:
        return state.apply(decision[0])

    def inherits_cost(self, decision: tuple[int, bool]) -> bool:
        return decision[1]

    def cost(self, state: State) -> float:
        return state.cost()

    def hash(self, state: State, depth: int) -> int:
        return state.hash(depth)
