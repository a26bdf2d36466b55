"""Schedules of a problem drawn at random, bad ones and good ones."""

from __future__ import annotations

import contextlib
import heapq
import random
from collections.abc import Iterator
from typing import Literal, TypeAlias

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import BeamOptions, SearchExhausted, Space, State, beam_search

Kind: TypeAlias = Literal["random", "good"]

_CARELESSNESS = (0.1, 0.2, 0.4, 0.8)
_ALTERNATIVES = 10
_REPETITIONS = 100


def draw(problem: SchedulingProblem, seed: int) -> Iterator[tuple[Kind, State]]:
    """Complete schedules without end, each with its kind: first the greedy one, then in turn a random and a good one.

    A random one is the end of a random walk through the decisions. A good one is that of a greedy descent which, at some
    of its decisions, takes any of the ten cheapest instead of the cheapest.

    Raises:
        SearchExhausted: the problem has no schedule.
    """
    space, generator = Rules().space(problem), random.Random(seed)
    yield "good", beam_search(space, BeamOptions(beam_size=1)).solutions[0].state
    while True:
        with contextlib.suppress(SearchExhausted):
            yield "random", _random_walk(space, generator)
        with contextlib.suppress(SearchExhausted):
            yield "good", _careless_descent(space, generator)


def draw_distinct(problem: SchedulingProblem, seed: int) -> Iterator[tuple[Kind, State]]:
    """What `draw` yields, without what was there before; ends where a problem has hardly more to offer."""
    seen: set[str] = set()
    repetitions = 0
    for kind, state in draw(problem, seed):
        key = schedule_key(problem, Schedule.from_state(problem, state))
        repetitions = repetitions + 1 if key in seen else 0
        if repetitions > _REPETITIONS:
            return
        if key not in seen:
            seen.add(key)
            yield kind, state


def _random_walk(space: Space, generator: random.Random) -> State:
    state = space.initial_state()
    while not state.is_complete:
        _, state = state.random_decision(generator.getrandbits(63))
    return state


def _careless_descent(space: Space, generator: random.Random) -> State:
    carelessness = generator.choice(_CARELESSNESS)
    state = space.initial_state()
    while not state.is_complete:
        expansion = state.expand()
        children = [expansion.child(index) for index in range(len(expansion))]
        if not children:
            raise SearchExhausted("A descent came to where no decision is legal")
        is_careless = generator.random() < carelessness
        cheapest = heapq.nsmallest(_ALTERNATIVES if is_careless else 1, children, key=State.cost)
        state = generator.choice(cheapest)
    return state
