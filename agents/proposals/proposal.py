"""A complete schedule that somebody proposes, as a value, and streams of such."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import Space, State

_REPETITIONS = 100

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Proposal:
    """A complete schedule.

    Attributes:
        kind: how it came about: "random", "careless", "dropout", "beam", "neighbour", ...
        actions: per decision, the index of the one taken among the legal ones.
        state: that they lead to.
    """

    kind: str
    actions: tuple[int, ...]
    state: State

    @property
    def parallelism(self) -> int:
        """Number of cores that it is scheduled for."""
        return self.state.space.problem.parallelism

    @functools.cached_property
    def cost(self) -> float:
        """By the cost model of its space."""
        return self.state.cost()


def proposal_of(kind: str, space: Space, actions: Sequence[int]) -> Proposal:
    """The proposal of known decisions.

    Raises:
        InvalidParameter: one is illegal.
    """
    state = space.initial_state()
    for action in actions:
        state = state.apply(action)
    return Proposal(kind, tuple(actions), state)


def in_turn(*streams: Iterable[T]) -> Iterator[T]:
    """Yield one of each stream after another; a stream that ends drops out."""
    iterators = [iter(stream) for stream in streams]
    while iterators:
        for iterator in list(iterators):
            try:
                yield next(iterator)
            except StopIteration:
                iterators.remove(iterator)


def distinct(problem: SchedulingProblem, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yield each schedule once, whatever cores it is for; end where the proposals have hardly more to offer.

    Args:
        problem: that they schedule, for any number of cores.
        proposals: the schedules.
    """
    seen = set[str]()
    repetitions = 0
    for proposal in proposals:
        key = schedule_key(problem, Schedule.from_state(problem, proposal.state))
        repetitions = repetitions + 1 if key in seen else 0
        if repetitions > _REPETITIONS:
            return
        if key not in seen:
            seen.add(key)
            yield proposal
