"""The tree of what a plan tells of its search: the ways to its schedules and to the results of its passes.

Siblings, i.e. the other decisions at each step, are enumerated and rated anew, which gives the same costs as in the search;
those of a pass are without the penalties that it may have added. `beam_record.py` has what passes kept besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.plan import Plan
from halidegym.envs.views import decision_words
from halidegym.native._core import Expansion, Space, State


@dataclass(frozen=True)
class Sibling:
    """One legal decision beside others: its index among all, the cost that it leads to, and its words."""

    index: int
    cost: float
    words: str


@dataclass(frozen=True)
class Choice:
    """All legal decisions of a step, the one taken among them.

    Attributes:
        rank: of the one taken, by cost; 1 is the cheapest.
        costs: of all of them, ascending.
        siblings: the cheapest, and the one taken.
    """

    rank: int
    costs: tuple[float, ...]
    siblings: tuple[Sibling, ...]


@dataclass(frozen=True)
class Node:
    """A decision that was taken, and what it led to.

    Attributes:
        parent: number of the node of the choice before; -1 for the first one.
        step: of the decision among all of the schedule, forced ones included, from 1.
        index: of the decision among the legal ones.
        words: of the decision.
        cost: of the state that it led to.
        state: the state.
        choice: the siblings, where the path is one that is told in full.
    """

    parent: int
    step: int
    index: int
    words: str
    cost: float
    state: State
    choice: Choice | None = None


@dataclass(frozen=True)
class Path:
    """The way to a complete schedule.

    Attributes:
        name: what a reader calls the schedule.
        cost: of the schedule.
        compared: as a pass compared it, penalties included; None for other schedules.
        nodes: numbers of its nodes, in order.
    """

    name: str
    cost: float
    compared: float | None
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class SearchTree:
    """Paths that share their beginnings.

    Attributes:
        paths: the best schedule first, then the results of the passes, then the other schedules by cost.
        nodes: the decisions of all paths that had an alternative; the last one, where none had.
    """

    paths: tuple[Path, ...]
    nodes: tuple[Node, ...]


def search_tree(plan: Plan, space: Space, *, siblings: int = 20) -> SearchTree:
    """Replay the schedules that a plan tells of.

    Args:
        plan: with decisions, so of no reference autoscheduler.
        space: the search space of the plan, with the weights of its cost model.
        siblings: how many of a choice are told, at most, besides the one that was taken.
    """
    nodes: list[Node] = []
    numbers: dict[tuple[int, ...], int] = {}
    paths = []
    for name, actions, cost, compared, in_full in _schedules(plan):
        state, parent = space.initial_state(), -1
        way: list[int] = []
        for step, action in enumerate(actions, start=1):
            known = numbers.get(actions[:step])
            if known is None:
                expansion = state.expand()
                if len(expansion) == 1 and (way or step < len(actions)):  # no path is empty
                    state = expansion.child(0)
                    continue
                known = numbers[actions[:step]] = len(nodes)
                nodes.append(_node(expansion, action, parent, step))
            if in_full and nodes[known].choice is None:
                nodes[known] = replace(nodes[known], choice=_choice(state.expand(), action, siblings))
            state, parent = nodes[known].state, known
            way.append(known)
        paths.append(Path(name, cost, compared, tuple(way)))
    return SearchTree(tuple(paths), tuple(nodes))


def _schedules(plan: Plan) -> Iterator[tuple[str, tuple[int, ...], float, float | None, bool]]:
    """Name, actions, cost and compared cost of each schedule, and whether its siblings are told."""
    best, *others = plan.candidates
    yield "best schedule", best.actions, best.cost, None, True
    for number, (result, compared) in enumerate(zip(plan.pass_candidates, plan.pass_costs, strict=True), start=1):
        yield f"pass {number}", result.actions, result.cost, compared, True
    for number, other in enumerate(others, start=2):
        yield f"schedule {number}", other.actions, other.cost, None, False


def _node(expansion: Expansion, action: int, parent: int, step: int) -> Node:
    state = expansion.child(action)
    return Node(parent, step, action, decision_words(expansion.describe(action)), state.cost(), state)


def _choice(expansion: Expansion, action: int, siblings: int) -> Choice:
    costs = expansion.costs()
    order = np.argsort(costs, kind="stable")
    rank = int(np.flatnonzero(order == action)[0]) + 1
    told = list(dict.fromkeys([*order[:siblings].tolist(), action]))
    return Choice(rank, _sorted(costs), tuple(_siblings(expansion, told, costs)))


def _siblings(expansion: Expansion, indices: Sequence[int], costs: NDArray[np.float64]) -> Iterator[Sibling]:
    for index in indices:
        yield Sibling(index, float(costs[index]), decision_words(expansion.describe(index)))


def _sorted(costs: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(np.sort(costs).tolist())
