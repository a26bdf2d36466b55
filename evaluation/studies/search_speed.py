"""How fast the parts of a search are, each alone: per second of CPU time, on one thread.

What is to be compared is measured in turns, because machines slow down and recover.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from halidegym.evaluation.output.spread import Spread
from halidegym.native._core import (
    BeamOptions,
    MctsOptions,
    Network,
    Space,
    State,
    beam_search,
    compute_features,
    mcts,
    random_rollouts,
)

GROWTH = {"harris": 13, "camera_pipe": 38, "lens_blur": 76, "local_laplacian": 104}
"""Pipelines of more and more Funcs."""

# Narrow enough for the largest pipelines; what an evaluation takes hardly depends on it.
BEAM = BeamOptions(beam_size=4, passes=1)

_ENSEMBLE = MctsOptions(greedy_trees=0, threads=1)
_SIMULATIONS = 1000  # of one search; a share of its time goes into growing the trees anew
_SIBLINGS = 2000
_BATCH = 256
_ROLLOUTS = 20

Rate = Callable[[], float]
Key = TypeVar("Key")


def in_turns(
    rates: Mapping[Key, Rate], rounds: int, on_round: Callable[[str], None] = lambda text: None
) -> dict[Key, Spread]:
    """Measure rates, once each round.

    Args:
        rates: what to measure.
        rounds: how often.
        on_round: called with the name of what is measured next.
    """
    values: dict[Key, list[float]] = {key: [] for key in rates}
    for _ in range(rounds):
        for key, rate in rates.items():
            on_round(str(key))
            values[key].append(rate())
    return {key: Spread(tuple(measured)) for key, measured in values.items()}


def per_second(work: Callable[[], int], seconds: float) -> float:
    """Repeat work for so much CPU time.

    Args:
        work: returns how much it did.
        seconds: after which no more is begun.
    """
    done, start = 0, time.process_time()
    while (elapsed := time.process_time() - start) < seconds:
        done += work()
    return done / elapsed


def evaluations(space: Space, seconds: float) -> Rate:
    """Evaluations that a beam search computes."""
    return lambda: per_second(lambda: beam_search(space, BEAM).distinct_evaluations, seconds)


def network_rows(space: Space, seconds: float) -> Rate:
    """Rows of features through the network, in batches of states of this pipeline."""
    network, numbers = Network(space.weights), np.random.default_rng(0)
    stages = space.problem.num_stages
    pipeline = numbers.integers(0, 10, (stages, 7, 40))
    rows = numbers.uniform(1, 1e6, (_BATCH, stages, 39))
    parallelism = space.problem.parallelism
    return lambda: per_second(lambda: stages * len(network.predict(pipeline, rows, parallelism)), seconds)


def feature_rows(space: Space, seconds: float) -> Rate:
    """Rows of features of whole nests, where siblings follow each other as in a search."""
    states = siblings(space, _SIBLINGS)
    return lambda: per_second(lambda: compute_features(states), seconds)


def rollouts(space: Space, seconds: float) -> Rate:
    """Complete random schedules with their costs."""
    return lambda: per_second(lambda: random_rollouts(space, _ROLLOUTS), seconds)


def simulations(space: Space, seconds: float) -> Rate:
    """Simulations of tree search, in the paper's ensemble without its greedy tree."""
    return lambda: per_second(lambda: mcts(space, _ENSEMBLE, max_evaluations=_SIMULATIONS).evaluations, seconds)


def siblings(space: Space, at_least: int) -> list[State]:
    """All children of the states on random ways to complete schedules."""
    numbers, states = random.Random(0), list[State]()
    while len(states) < at_least:
        state = space.initial_state()
        while not state.is_complete:
            expansion = state.expand()
            children = [expansion.child(index) for index in range(len(expansion))]
            states += children
            state = numbers.choice(children)
    return states
