"""The moves of a tree search as data of a page: what decided each, and what the trees would have taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halidegym.evaluation.viewing.page_numbers import rounded
from halidegym.evaluation.viewing.search_tree import SearchTree
from halidegym.evaluation.viewing.tree_record import Move


def moves_data(moves: Sequence[Move], tree: SearchTree) -> list[dict[str, Any]]:
    """The moves as JSON can hold them.

    Args:
        moves: of the search.
        tree: of the same plan and moves.

    Returns:
        Of each move the "path" and the "node" of the tree that it decided for, the "tree" that brought the schedule, in
        words, the "cost" of that, and the "options": the decisions that were brought, by the cost of the best schedule
        through them, as (index, words, number of schedules, least cost).
    """
    by_name = {path.name: number for number, path in enumerate(tree.paths)}
    return [_move(move, number, by_name[f"move {number + 1}"], tree) for number, move in enumerate(moves)]


def _move(move: Move, number: int, path: int, tree: SearchTree) -> dict[str, Any]:
    at = tree.paths[path].nodes[number]  # the root moves where there is a choice, and so do paths have nodes
    node = tree.nodes[at]
    assert node.choice is not None
    words = {sibling.index: sibling.words for sibling in node.choice.siblings}
    costs: dict[int, list[float]] = {}
    for schedule in move.brought:
        costs.setdefault(schedule.actions[node.step - 1], []).append(schedule.cost)
    options = sorted((min(found), index, len(found)) for index, found in costs.items())
    return {
        "path": path,
        "node": at,
        "tree": f"tree {move.tree}{', greedy' * move.is_greedy}" if move.tree else "the beginning",
        "cost": rounded(move.decided.cost),
        "options": [[index, words[index], count, rounded(best)] for best, index, count in options],
    }
