"""A set: what is measured of one pipeline together, on so many threads; and drawing its schedules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from halidegym.agents import proposals
from halidegym.agents.proposals import Proposal
from halidegym.agents.reference.groups import mullapudi_groups
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import Weights
from halidegym.native.checks import check_at_least

FEWEST_SCHEDULES = 8
"""Of a set; Halide's own retraining program asks for as many."""

_GROUPING_S = 20.0  # at most for Mullapudi2016, which takes one or two on pipelines as small as these

_RANDOM_SHARE = 20  # one random walk in so many schedules: they are slow, and teach little


class NotCollected(Exception):  # noqa: N818 - says what happened
    """A pipeline is left out; the message says why."""


@dataclass(frozen=True, order=True)
class SetName:
    """What a set is known by: it is measured once.

    Attributes:
        pipeline: its name.
        threads: that its schedules run on.
    """

    pipeline: str
    threads: int


@dataclass(frozen=True)
class Recipe:
    """How the schedules of a set are drawn.

    Attributes:
        schedules: how many different ones.
        parallelisms: numbers of cores to search schedules for by a beam, besides the threads that they run on.
        weights: of the cost model, to search with besides the shipped ones. What they think best is drawn, and what is
            near it: a model errs most where its own searches lead, and learns of it from nobody else.
        seed: of the random numbers.

    Raises:
        InvalidParameter: there are too few schedules, or cores.
    """

    schedules: int = 20
    parallelisms: tuple[int, ...] = ()
    weights: tuple[Weights, ...] = field(default=(), repr=False)
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least(FEWEST_SCHEDULES, schedules=self.schedules)
        check_at_least(0, seed=self.seed)
        for parallelism in self.parallelisms:
            check_at_least(1, parallelisms=parallelism)


def draw(problem: SchedulingProblem, recipe: Recipe) -> list[Proposal]:
    """Different schedules of every kind that searches meet, the greedy one first.

    Args:
        problem: for as many cores as they will run on.
        recipe: how to draw.

    Raises:
        NotCollected: the problem has too few of them.
    """
    drawn = list(itertools.islice(proposals.distinct(problem, _mixed(problem, recipe)), recipe.schedules))
    if len(drawn) < FEWEST_SCHEDULES:
        raise NotCollected(f"it has {len(drawn)} different schedules; {FEWEST_SCHEDULES} are needed to compare")
    return drawn


def _mixed(problem: SchedulingProblem, recipe: Recipe) -> Iterator[Proposal]:
    space, seed = Rules().space(problem), recipe.seed
    others = [Rules().space(problem, weights) for weights in recipe.weights]
    winners = list(proposals.beam_winners(space))
    for parallelism in recipe.parallelisms:
        winners += proposals.beam_winners(Rules().space(problem.with_parallelism(parallelism)), widths=(32,))
    favourites = [list(proposals.beam_winners(other, widths=(1, 32))) for other in others]
    yield from itertools.chain(winners, *favourites)
    yield from itertools.islice(proposals.random_walks(space, seed), -(-recipe.schedules // _RANDOM_SHARE))
    careless = proposals.in_turn(*(proposals.careless_descents(each, seed) for each in (space, *others)))
    groups = mullapudi_groups(problem, _GROUPING_S)
    grouped = proposals.in_turn(*(proposals.grouped_descents(each, groups, seed) for each in (space, *others)))
    # Neighbours of what costs least, and of other schedules than a search would begin with.
    own = [winner for winner in winners if winner.parallelism == problem.parallelism]
    cheapest = [sorted(found, key=lambda winner: winner.cost)[:1] for found in (own, *favourites)]
    bases = [*itertools.chain(*cheapest), *itertools.islice(careless, 2), *itertools.islice(grouped, 1)]
    yield from bases
    neighbours = proposals.in_turn(*(proposals.neighbours(base, seed + index) for index, base in enumerate(bases)))
    dropout = proposals.dropout_descents(space, seed)
    yield from proposals.in_turn(careless, neighbours, grouped, careless, dropout, careless, neighbours)
