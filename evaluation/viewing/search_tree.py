"""The tree of what a plan tells of its search: the ways to its schedules and to the results of its passes.

Siblings, i.e. the other decisions at each step, are enumerated and rated anew, which gives the same costs as in the search;
those of a pass are without the penalties that it may have added. `beam_record.py` has what passes kept besides, and
`tree_record.py` what the trees of a tree search brought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from halidegym.agents.plan import Candidate, Plan
from halidegym.envs.views import decision_words
from halidegym.evaluation.viewing.tree_record import Move
from halidegym.native._core import Expansion, Space, State

# What the agents call that of which a plan has the results, if not passes.
_PASSES = {"MCTS": "move", "PolicyGuidedMCTS": "move", "IteratedSearch": "round"}


@dataclass(frozen=True)
class Known:
    """The schedules that are known of a part of the space.

    Attributes:
        count: how many, all different.
        best: the least of their costs.
        mean: of their costs.
    """

    count: int
    best: float
    mean: float


@dataclass(frozen=True)
class Sibling:
    """One legal decision beside others.

    Attributes:
        index: among all.
        cost: that it leads to.
        words: of the decision.
        known: schedules below; None if there are none.
    """

    index: int
    cost: float
    words: str
    known: Known | None


@dataclass(frozen=True)
class Choice:
    """All legal decisions of a step, the one taken among them.

    Attributes:
        rank: of the one taken, by cost; 1 is the cheapest.
        costs: of all of them, ascending.
        siblings: the cheapest, the one taken, and all below which a schedule is known.
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
        known: schedules below it.
        choice: the siblings, where the path is one that is told in full.
    """

    parent: int
    step: int
    index: int
    words: str
    cost: float
    state: State
    known: Known
    choice: Choice | None = None


@dataclass(frozen=True)
class Path:
    """The way to a complete schedule.

    Attributes:
        name: what a reader calls the schedule.
        cost: of the schedule.
        compared: as a pass or move compared it, penalties included; None for other schedules.
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
        paths: the best schedule first, then the results of the passes or moves, then the other schedules by cost.
        nodes: the decisions of all paths that had an alternative; the last one, where none had.
        known: how many schedules are known, those without a path included.
    """

    paths: tuple[Path, ...]
    nodes: tuple[Node, ...]
    known: int


def search_tree(
    plan: Plan, space: Space, moves: Sequence[Move] = (), *, siblings: int = 20, schedules: int = 64
) -> SearchTree:
    """Replay the schedules that a plan tells of.

    Args:
        plan: with decisions, so of no reference autoscheduler.
        space: the search space of the plan, with the weights of its cost model.
        moves: of a tree search; what was brought to them are schedules, too.
        siblings: how many of a choice are told, at most, besides the one that was taken and those below which schedules are
            known.
        schedules: how many are told, at most, besides the best one and the results of passes; the others count only.
    """
    nodes: list[Node] = []
    numbers: dict[tuple[int, ...], int] = {}
    paths = []
    kept = {*plan.candidates, *plan.pass_candidates}
    brought = {one for move in moves for one in move.brought} - kept
    below = _below(kept | brought)
    others = sorted([*plan.candidates[1:], *brought], key=lambda schedule: (schedule.cost, schedule.actions))
    for name, actions, cost, compared, in_full in _schedules(plan, others[:schedules]):
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
                nodes.append(_node(expansion, action, parent, step, below[actions[:step]]))
            if in_full and nodes[known].choice is None:
                nodes[known] = replace(nodes[known], choice=_choice(state.expand(), actions[:step], siblings, below))
            state, parent = nodes[known].state, known
            way.append(known)
        paths.append(Path(name, cost, compared, tuple(way)))
    return SearchTree(tuple(paths), tuple(nodes), len(kept | brought))


def _schedules(
    plan: Plan, others: Sequence[Candidate]
) -> Iterator[tuple[str, tuple[int, ...], float, float | None, bool]]:
    """Name, actions, cost and compared cost of each schedule, and whether its siblings are told."""
    best, kind = plan.candidates[0], _PASSES.get(plan.agent.partition("(")[0], "pass")
    yield "best schedule", best.actions, best.cost, None, True
    for number, (result, compared) in enumerate(zip(plan.pass_candidates, plan.pass_costs, strict=True), start=1):
        yield f"{kind} {number}", result.actions, result.cost, compared, True
    for number, other in enumerate(others, start=2):
        yield f"schedule {number}", other.actions, other.cost, None, False


def _below(schedules: Iterable[Candidate]) -> Mapping[tuple[int, ...], Known]:
    """What is known after each beginning of any of the schedules."""
    costs: dict[tuple[int, ...], list[float]] = {}
    for schedule in schedules:
        for step in range(1, len(schedule.actions) + 1):
            costs.setdefault(schedule.actions[:step], []).append(schedule.cost)
    return {beginning: Known(len(some), min(some), float(np.mean(some))) for beginning, some in costs.items()}


def _node(expansion: Expansion, action: int, parent: int, step: int, known: Known) -> Node:
    state = expansion.child(action)
    return Node(parent, step, action, decision_words(expansion.describe(action)), state.cost(), state, known)


def _choice(
    expansion: Expansion, beginning: tuple[int, ...], siblings: int, below: Mapping[tuple[int, ...], Known]
) -> Choice:
    """The choice with which a schedule's beginning ends."""
    costs = expansion.costs()
    order = np.argsort(costs, kind="stable").tolist()
    before, action = beginning[:-1], beginning[-1]
    known = [index for index in order if (*before, index) in below]
    told = dict.fromkeys([*order[:siblings], *known, action])
    found = [
        Sibling(index, float(costs[index]), decision_words(expansion.describe(index)), below.get((*before, index)))
        for index in told
    ]
    return Choice(order.index(action) + 1, tuple(np.sort(costs).tolist()), tuple(found))
