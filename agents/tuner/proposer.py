"""What to measure might be worth while: beams and descents to begin with, then more and more of what the fastest lead to."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator, Sequence

from halidegym.agents.proposals import Proposal, beam_winners, careless_descents, in_turn, neighbours
from halidegym.agents.proposals.descents import CARELESSNESS
from halidegym.agents.tuner import moves
from halidegym.agents.tuner.trials import Trials
from halidegym.native._core import SearchExhausted, Space

_SEEDS = 2**31
_ATTEMPTS = 4  # for each proposal wanted; small problems run out of schedules
_BEAM_EVALUATIONS = 50_000  # of beams for other numbers of cores

# How often the fastest are varied in which way, and how often something else is tried.
_WAYS = {"variation": 0.4, "neighbour": 0.2, "crossing": 0.15, "elsewhere": 0.1, "fresh": 0.15}


class Proposer:
    """Draws schedules for some numbers of cores.

    Args:
        spaces: one for each number of cores, that of the problem first.
        seed: of the random numbers.
    """

    def __init__(self, spaces: Sequence[Space], seed: int) -> None:
        self._spaces = spaces
        self._rng = random.Random(seed)
        self._fresh = in_turn(*(self._descents(space) for space in spaces))

    def first(self, trials: Trials, count: int) -> list[Proposal]:
        """Schedules to begin with: what searches find for other numbers of cores, and descents of all kinds."""
        winners = [
            itertools.islice(beam_winners(space, widths=(32, 1), max_evaluations=_BEAM_EVALUATIONS), 2)
            for space in self._spaces
        ]
        return self._new(trials, itertools.chain(in_turn(*winners), self._fresh), count)

    def more(self, trials: Trials, count: int) -> list[Proposal]:
        """Different schedules that have not been measured, most of them made of the fastest so far."""
        return self._new(trials, self._offspring(trials), count)

    def _new(self, trials: Trials, proposals: Iterator[Proposal], count: int) -> list[Proposal]:
        found: dict[str, Proposal] = {}
        for proposal in itertools.islice(proposals, _ATTEMPTS * count):
            if trials.is_new(proposal):
                found.setdefault(proposal.state.dump(), proposal)
            if len(found) == count:
                break
        return list(found.values())

    def _offspring(self, trials: Trials) -> Iterator[Proposal]:
        while True:
            with contextlib.suppress(SearchExhausted, StopIteration):
                yield self._offspring_of(trials)

    def _offspring_of(self, trials: Trials) -> Proposal:
        way = self._rng.choices(list(_WAYS), list(_WAYS.values()))[0]
        if way == "fresh" or trials.best is None:
            return next(self._fresh)
        parent = trials.parent(self._rng)
        if way == "crossing":
            return moves.crossing(parent, trials.parent(self._rng), self._rng)
        if way == "neighbour":
            return next(neighbours(parent, self._rng.randrange(_SEEDS)))
        space = self._rng.choice(self._spaces) if way == "elsewhere" else parent.state.space
        return moves.variation(parent, space, self._rng)

    def _descents(self, space: Space) -> Iterator[Proposal]:
        return in_turn(careless_descents(space, self._rng.randrange(_SEEDS)), self._bold_descents(space))

    def _bold_descents(self, space: Space) -> Iterator[Proposal]:
        while True:
            with contextlib.suppress(SearchExhausted):
                yield moves.bold_descent(space, self._rng.choice(CARELESSNESS), self._rng)
