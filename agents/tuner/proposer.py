"""What to measure might be worth while: beams and descents to begin with, then more and more of what the fastest lead to."""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from halidegym.agents.proposals import (
    Proposal,
    beam_winners,
    careless_descents,
    grouped_descents,
    in_turn,
    neighbours,
    proposal_of,
)
from halidegym.agents.proposals.descents import CARELESSNESS
from halidegym.agents.reference.groups import Placement
from halidegym.agents.tuner import moves
from halidegym.agents.tuner.retraining import LEAST_TRIALS, retrained
from halidegym.agents.tuner.styles import styled_descent
from halidegym.agents.tuner.trials import Attempts, Trials
from halidegym.native._core import SearchExhausted, Space, Weights

_SEEDS = 2**31
_ATTEMPTS = 4  # for each proposal wanted
_BEAM_EVALUATIONS = 50_000  # of beams for other numbers of cores

# How often the fastest are varied in which way, and how often something else is tried.
_WAYS = {"variation": 0.4, "neighbour": 0.2, "crossing": 0.15, "elsewhere": 0.1, "fresh": 0.15}


class Proposer:
    """Draws schedules for some numbers of cores, by the costs of two models in turn.

    Args:
        spaces: one for each number of cores, that of the problem first.
        seed: of the random numbers.
        guide: weights of the second cost model; those of the spaces for none.
        retrain: whether to fine-tune the guide on what was measured so far.
        threads: that beams search with.
        groups: where Mullapudi2016 computes the Funcs, asked for when it is needed; nothing if that is not known.
    """

    def __init__(
        self,
        spaces: Sequence[Space],
        seed: int,
        *,
        guide: Weights,
        retrain: bool = False,
        threads: int = 1,
        groups: Callable[[], Mapping[int, Placement]] = dict,
    ) -> None:
        self._spaces = {space.problem.parallelism: space for space in spaces}
        self._seed, self._guide, self._retrain, self._threads = seed, guide, retrain, threads
        self._rng, self._groups = random.Random(seed), functools.cache(groups)
        self._models = [self._spaces]  # the same spaces by each model
        if any(space.weights != guide for space in spaces):
            self._models.append(self._guided_by(guide))
        self._turns = itertools.count()
        self._fresh = self._descents()

    def first(self, trials: Trials, count: int) -> list[Proposal]:
        """Schedules to begin with: groups, what searches find for all numbers of cores, and descents of all kinds."""
        grouped = [itertools.islice(self._grouped(next(iter(model.values()))), 2) for model in self._models]
        winners = [
            itertools.islice(self._winners(space, (32, 1)), 2) for model in self._models for space in model.values()
        ]
        return self._new(trials, itertools.chain(in_turn(*grouped, *winners), self._fresh), count)

    def more(self, trials: Trials, count: int) -> list[Proposal]:
        """Different schedules that have not been measured, most of them made of the fastest so far."""
        if self._retrain and len(trials.done) >= LEAST_TRIALS:
            self._learn(trials)
        return self._new(trials, self._offspring(trials), count)

    def _learn(self, trials: Trials) -> None:
        guided = self._guided_by(retrained(self._guide, trials.done, self._seed))
        self._models[-1] = guided
        winners = [self._winners(space, (8,)) for space in guided.values()]
        self._fresh = itertools.chain(in_turn(*(itertools.islice(found, 2) for found in winners)), self._descents())

    def _winners(self, space: Space, widths: Sequence[int]) -> Iterator[Proposal]:
        return beam_winners(space, widths=widths, max_evaluations=_BEAM_EVALUATIONS, threads=self._threads)

    def _guided_by(self, weights: Weights) -> dict[int, Space]:
        return {cores: _with_weights(space, weights) for cores, space in self._spaces.items()}

    def _new(self, trials: Trials, attempts: Attempts, count: int) -> list[Proposal]:
        return trials.new_of(map(self._by_known_costs, attempts), count, _ATTEMPTS)

    def _offspring(self, trials: Trials) -> Attempts:
        return self._drawn(lambda: self._offspring_of(trials))

    def _offspring_of(self, trials: Trials) -> Proposal | None:
        way = self._rng.choices(list(_WAYS), list(_WAYS.values()))[0]
        if way == "fresh" or trials.best is None:
            return next(self._fresh, None)
        parent = trials.parent(self._rng)
        if way == "crossing":
            return moves.crossing(parent, trials.parent(self._rng), self._rng)
        if way == "neighbour":
            return next(neighbours(parent, self._rng.randrange(_SEEDS)), None)
        cores = self._rng.choice(list(self._spaces)) if way == "elsewhere" else parent.parallelism
        model = self._models[next(self._turns) % len(self._models)]
        return moves.variation(parent, model.get(cores, parent.state.space), self._rng)

    def _by_known_costs(self, proposal: Proposal | None) -> Proposal | None:
        """The same schedule in the space whose costs plans state."""
        if proposal is None:
            return None
        space = self._spaces.get(proposal.parallelism, proposal.state.space)
        is_there = proposal.state.space.weights == space.weights
        return proposal if is_there else proposal_of(proposal.kind, space, proposal.actions)

    def _descents(self) -> Attempts:
        return in_turn(*map(self._descents_by, self._models))

    def _descents_by(self, model: Mapping[int, Space]) -> Attempts:
        """Every other one is careless and for the problem's own cores, as nothing else is as hard to beat.

        One of 32 of these was five times as fast on max_filter as all that the other kinds came to
        (docs/reproductions/tuning-before.md).
        """
        own, *others = model.values()
        careless = careless_descents(own, self._rng.randrange(_SEEDS))
        others_by_turns = in_turn(self._ruled(own), *(self._descents_in(other) for other in others))
        return in_turn(careless, self._grouped(own), others_by_turns)

    def _grouped(self, space: Space) -> Iterator[Proposal]:
        """The groups are asked for with the first one."""
        yield from grouped_descents(space, self._groups(), self._rng.randrange(_SEEDS))

    def _descents_in(self, space: Space) -> Attempts:
        return in_turn(careless_descents(space, self._rng.randrange(_SEEDS)), self._ruled(space))

    def _ruled(self, space: Space) -> Attempts:
        return in_turn(
            self._drawn(lambda: styled_descent(space, self._rng)),
            self._drawn(lambda: moves.bold_descent(space, self._rng.choice(CARELESSNESS), self._rng)),
        )

    @staticmethod
    def _drawn(draw: Callable[[], Proposal | None]) -> Attempts:
        """Draw without end; dead ends are attempts, too, or where there are hardly any others nothing would ever come."""
        while True:
            proposal = None
            with contextlib.suppress(SearchExhausted):
                proposal = draw()
            yield proposal


def _with_weights(space: Space, weights: Weights) -> Space:
    """The same space by another cost model: the same decisions, other costs."""
    return Space(
        space.problem,
        weights,
        subtiling=space.subtiling,
        memory_limit=space.memory_limit,
        max_recompute=space.max_recompute,
    )
