"""New schedules from old ones: variations, also for other numbers of cores, and crossings; and descents that dare more.

What experts write differs from what the cost model likes by few decisions (few large tasks, long strips, a Func computed
where another one is). `proposals.neighbours` replays the decisions after a change by their number, and leaves it to the cost
model where that is not legal any more. Here they are followed by what they say: the same place, sizes as near as can be.
"""

from __future__ import annotations

import random

import numpy as np

from halidegym.agents.proposals import Proposal
from halidegym.agents.proposals.descents import descend, nearly_cheapest
from halidegym.agents.tuner.likeness import Step, distances, likest, steps_of
from halidegym.native._core import Expansion, Space, State

_CHEAPEST = 10
_CHANGES = 1.8  # of a variation, on average; at most four
_CROSSOVERS = 3.0


def variation(parent: Proposal, space: Space, rng: random.Random) -> Proposal:
    """The schedule with one decision changed, or a few, and the others as alike as they can be.

    Args:
        parent: the schedule.
        space: to make the new one in; it may be for another number of cores.
        rng: to draw with.
    """
    steps = steps_of(parent)
    choices = [index for index, step in enumerate(steps) if step.choices > 1]
    changes = min(1 + int(rng.expovariate(1 / (_CHANGES - 1))), 4, len(choices))
    changed = set(rng.sample(choices, changes))

    def choose(state: State, expansion: Expansion) -> int:
        index = state.num_decisions_made
        return _another(expansion, steps[index], rng) if index in changed else likest(expansion, steps[index])

    return descend("variation", space.initial_state(), (), choose)


def crossing(a: Proposal, b: Proposal, rng: random.Random) -> Proposal:
    """Some decisions as in one schedule, the others as in another one, several in a row from each."""
    sources = [steps_of(a), steps_of(b)]

    def choose(state: State, expansion: Expansion) -> int:
        if rng.random() < _CROSSOVERS / len(sources[0]):
            sources.reverse()
        return likest(expansion, sources[0][state.num_decisions_made])

    return descend("crossing", a.state.space.initial_state(), (), choose)


def bold_descent(space: Space, rate: float, rng: random.Random) -> Proposal:
    """A greedy descent that takes at some of its decisions any place at all, and only the sizes by their cost."""

    def choose(_state: State, expansion: Expansion) -> int:
        return _any_place(expansion, rng) if rng.random() < rate else nearly_cheapest(expansion, rng, 1)

    return descend("bold", space.initial_state(), (), choose)


def _another(expansion: Expansion, step: Step, rng: random.Random) -> int:
    """Another decision than the one that was taken: a similar one, one of the cheapest, or one at any place."""
    kind = rng.choices(("near", "cheap", "any"), (0.4, 0.3, 0.3))[0]
    if kind == "near":
        apart = distances(expansion, step)
        weights = np.where(apart > 0, np.exp(-apart), 0.0)
        return rng.choices(range(len(expansion)), weights.tolist())[0] if weights.any() else 0
    return nearly_cheapest(expansion, rng, _CHEAPEST) if kind == "cheap" else _any_place(expansion, rng)


def _any_place(expansion: Expansion, rng: random.Random) -> int:
    """First where and how, so that rare ways are as likely as frequent ones; then one of the cheapest sizes."""
    codes, sizes = expansion.sizes()
    places = np.column_stack([codes[:, :3], sizes[:, 2]])  # kind, level, depth and tasks
    _, firsts, place_of = np.unique(places, axis=0, return_index=True, return_inverse=True)
    place = rng.choice(np.argsort(firsts).tolist())
    among = np.flatnonzero(place_of.ravel() == place)
    cheapest = among[np.argsort(expansion.costs()[among], kind="stable")]
    return int(rng.choice(cheapest[:_CHEAPEST]))
