"""Descents from the first decision to the last: random walks, careless ones, and ones with dropout."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from halidegym.agents.proposals.proposal import Proposal
from halidegym.native._core import BeamOptions, Expansion, InvalidParameter, SearchExhausted, Space, State, beam_search
from halidegym.native.checks import check_number, check_present, checked_integers

Choice: TypeAlias = Callable[[State, Expansion], int]
"""Which of the legal decisions of a state to take."""

CARELESSNESS = (0.1, 0.2, 0.4, 0.8)
"""Shares of careless decisions that searches and measurements were made with."""

DROPOUTS = (1, 10, 50)
"""Percent of runs without dropout; the first one is that of Halide's own tuning loop."""

_ALTERNATIVES = 10
_REPETITIONS = 100


def random_walks(space: Space, seed: int = 0) -> Iterator[Proposal]:
    """Schedules of uniformly random decisions, without end; none where nearly all walks end in a dead end."""
    generator = random.Random(seed)
    yield from endless("random", space, lambda: lambda _state, expansion: generator.randrange(len(expansion)))


def careless_descents(space: Space, seed: int = 0, *, rates: Sequence[float] = CARELESSNESS) -> Iterator[Proposal]:
    """Greedy descents that take any of the ten cheapest at some of their decisions, without end.

    Args:
        space: to descend in.
        seed: of the random numbers.
        rates: share of careless decisions; each descent draws one of these.

    Raises:
        InvalidParameter: one of `rates` is not from 0 to 1, or there is none.
    """
    if len(rates) == 0:
        raise InvalidParameter(f"rates={rates!r} leaves nothing to draw from; give at least one")
    for rate in rates:
        check_number(0, 1, **check_present(**{"each of rates": rate}))
    generator = random.Random(seed)

    def careless() -> Choice:
        rate = generator.choice(rates)
        return lambda _state, expansion: nearly_cheapest(
            expansion, generator, _ALTERNATIVES if generator.random() < rate else 1
        )

    yield from endless("careless", space, careless)


def dropout_descents(space: Space, seed: int = 0, *, dropouts: Sequence[int] = DROPOUTS) -> Iterator[Proposal]:
    """Greedy searches that drop states at random, as Halide's own tuning loop makes them, without end.

    Args:
        space: to search.
        seed: of the dropout.
        dropouts: percent of runs in which nothing is dropped; searches take turns.

    Raises:
        InvalidParameter: one of `dropouts` is no integer from 0 to 100, or there is none.
    """
    dropouts = checked_integers("dropouts", dropouts, 0, 100)
    if not dropouts:
        raise InvalidParameter("dropouts=() leaves nothing to search with; give at least one")
    generator, failures = random.Random(seed), 0
    while failures <= _REPETITIONS:
        for dropout in dropouts:
            options = BeamOptions(beam_size=1, passes=1, random_dropout=dropout, seed=generator.getrandbits(31))
            try:
                best = beam_search(space, options).solutions[0]
            except SearchExhausted:
                failures += 1
                continue
            failures = 0
            yield Proposal("dropout", tuple(best.actions), best.state)


def nearly_cheapest(expansion: Expansion, generator: random.Random, alternatives: int = _ALTERNATIVES) -> int:
    """Any of the cheapest decisions, or the first cheapest one if there is one alternative."""
    costs = expansion.costs()
    if alternatives == 1:
        return int(np.argmin(costs))
    return int(generator.choice(np.argsort(costs, kind="stable")[:alternatives]))


def descend(kind: str, state: State, actions: Sequence[int], choose: Choice) -> Proposal:
    """The schedule that choices complete from a state on.

    Args:
        kind: of the proposal.
        state: where to begin.
        actions: that led there.
        choose: makes the decisions.

    Raises:
        SearchExhausted: it comes to where no decision is legal.
    """
    taken = list(actions)
    while not state.is_complete:
        expansion = state.expand()
        if not expansion:
            raise SearchExhausted("A descent came to where no decision is legal")
        taken.append(choose(state, expansion) if len(expansion) > 1 else 0)
        state = expansion.child(taken[-1])
    return Proposal(kind, tuple(taken), state)


def endless(
    kind: str, space: Space, chooser: Callable[[], Choice], repetitions: int = _REPETITIONS
) -> Iterator[Proposal]:
    """Descents without end; the stream ends where nearly all of them come to where no decision is legal.

    Args:
        kind: of the proposals.
        space: to descend in.
        chooser: begins a descent: what it returns makes the decisions of one.
        repetitions: of a descent that comes to no schedule, in a row.
    """
    failures = 0
    while failures <= repetitions:
        failures += 1
        with contextlib.suppress(SearchExhausted):
            proposal = descend(kind, space.initial_state(), (), chooser())
            failures = 0
            yield proposal
