"""The passes of a beam search as data of a page: what each kept of what it rated, decision by decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from halidegym.envs.views import decision_words
from halidegym.evaluation.viewing.beam_record import Level, Pass, Visit
from halidegym.evaluation.viewing.page_numbers import rounded, spread
from halidegym.native._core import Expansion

# Of the decisions of a state that were left behind, the cheapest are told.
_TOLD = 5


def beam_data(passes: Sequence[Pass], compared: Sequence[float]) -> dict[str, Any]:
    """The passes as JSON can hold them; decisions that leave no choice are left out.

    Args:
        passes: of the search.
        compared: the cost of the result of each pass that was completed, as the search compared it.

    Returns:
        "words", which decisions refer to by their number, and "passes", each with its "levels". A level has the "step" of
        its decision in the schedule and what it is "about", how many states were "rated" and their "costs", and the states
        that were "kept": (parent in the level before, family, action, cost, words). "families" are their siblings, i.e. what
        one state was expanded to: (number of all, those left behind as (action, cost, words, whether it had come up)).
        "best" has the place of what the pass's result comes from among the kept ones.
    """
    words: dict[str, int] = {}
    data = [_pass(one, words) for one in passes]
    for one, cost in zip(data, compared, strict=False):
        one["compared"] = rounded(cost)
    return {"words": list(words), "passes": data}


def _pass(one: Pass, words: dict[str, int]) -> dict[str, Any]:
    result = one.result
    ancestors = set() if result is None else set(result.line)
    levels: list[dict[str, Any]] = []
    places: dict[Visit, int] = {}  # in the last level that is told, of states or of those that they come from
    parents = [one.levels[0].kept[0].origin] if one.levels else []
    for step, level in enumerate(one.levels, start=1):
        if any(len(parent.costs) > 1 for parent in parents):
            levels.append(_level(step, level, parents, places, words))
            places = {visit: place for place, visit in enumerate(level.kept)}
            levels[-1]["best"] = next((places[visit] for visit in level.kept if visit in ancestors), -1)
        else:
            places = {visit: places.get(visit.origin, -1) for visit in level.kept}
        parents = level.kept
    return {"levels": levels, "cost": None if result is None else rounded(result.cost), "compared": None}


def _level(
    step: int, level: Level, parents: Sequence[Visit], places: dict[Visit, int], words: dict[str, int]
) -> dict[str, Any]:
    state = parents[0].state
    families = {parent: number for number, parent in enumerate(dict.fromkeys(visit.origin for visit in level.kept))}
    expansions = {parent: parent.expansion for parent in families}
    kept = {(visit.origin, visit.action) for visit in level.kept}
    costs = np.sort(np.concatenate([parent.costs for parent in parents]))
    return {
        "step": step,
        "about": f"{state.next_phase} {state.next_func}",
        "rated": len(costs),
        "costs": spread(costs.tolist()),
        "kept": [
            [
                places.get(visit.origin, -1),
                families[visit.origin],
                visit.action,
                rounded(visit.cost),
                _words(expansions[visit.origin], visit.action, words),
            ]
            for visit in level.kept
        ],
        "families": [[len(parent.costs), list(_left(parent, level, kept, expansions, words))] for parent in families],
    }


def _left(
    parent: Visit,
    level: Level,
    kept: set[tuple[Visit, int]],
    expansions: Mapping[Visit, Expansion],
    words: dict[str, int],
) -> Iterator[list[Any]]:
    """The cheapest decisions of a state that the pass did not keep."""
    order = map(int, np.argsort(parent.costs, kind="stable"))
    for action in islice((action for action in order if (parent, action) not in kept), _TOLD):
        came_up = (parent, action) in level.came_up
        yield [action, rounded(float(parent.costs[action])), _words(expansions[parent], action, words), came_up]


def _words(expansion: Expansion, action: int, words: dict[str, int]) -> int:
    """The number of a decision's words."""
    return words.setdefault(decision_words(expansion.describe(action)), len(words))
