"""Problems and plans whose states are replayed."""

from __future__ import annotations

import functools
import random

import pipelines_for_tests
from halidegym.agents import BeamSearch
from halidegym.agents.plan import Plan
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.native import _core
from oracle.builder_problem import AVX512

KINDS = ["pass", "inline", "compute_at_level", "compute_at_tile", "store_at_tile", "store_at_tile_split"]
KINDS += ["store_at_level", "store_at_level_split", "parallelize"]


@functools.cache
def load(name: str) -> SchedulingProblem:
    source = pipelines_for_tests.ALL.get(name, name)
    problem = load_problem(source, target=AVX512, parallelism=16)
    assert isinstance(problem, SchedulingProblem)
    return problem


@functools.cache
def plan_of(name: str) -> Plan:
    return BeamSearch(beam_size=4).plan(load(name))


def random_actions(space: _core.Space, seed: int) -> list[int]:
    """Now and then the first one, which inlines."""
    draw, state, actions = random.Random(seed), space.initial_state(), []
    while not state.is_complete:
        actions.append(0 if draw.random() < 0.2 else draw.randrange(len(state.expand())))
        state = state.apply(actions[-1])
    return actions
