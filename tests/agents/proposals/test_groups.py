"""Schedules in groups, in tiles as they are asked for, as far as the search space has them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

import pipelines_for_tests
from halidegym.agents.proposals import Proposal, proposal_of
from halidegym.agents.reference.groups import Placement
from halidegym.agents.tuner.groups import grouped_descent
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import LoopNest, Space
from oracle.builder_problem import SSE_AVX2

IN_TILES = ("s3", Placement(in_tiles=True, vector_dim=0))
ROOT = ("", Placement(vector_dim=0, task_sizes={1: 250}, tile_sizes={0: 504}))


@pytest.fixture(scope="module")
def space() -> Space:
    """Three stages, the last one of 1501 x 1000 points."""
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3(), target=SSE_AVX2, parallelism=2)
    return Rules().space(problem)


Named = Mapping[str, tuple[str, Placement]]


def descent(space: Space, groups: Named, rate: float = 0.0, seed: int = 0) -> Proposal:
    """By the names of Funcs and their consumers, without the numbers that Halide may put behind them."""
    ids = {node.name.split("$")[0]: node.id for node in space.problem.nodes}
    by_id = {
        ids[func]: replace(placement, consumer=ids[consumer] if consumer else None)
        for func, (consumer, placement) in groups.items()
    }
    return grouped_descent(space, by_id, rate, random.Random(seed))


def funcs(levels: Sequence[LoopNest]) -> list[str]:
    return sorted(level.func.split("$")[0] for level in levels)


def level_of(nest: LoopNest, func: str) -> LoopNest:
    return next(level for level in nest.children if level.func.split("$")[0] == func)


def counts(level: LoopNest) -> list[int]:
    return [size.count for size in level.sizes]


@pytest.mark.parametrize("members", [("s2",), ("s1", "s2")])
def test_members_share_the_tiles_of_their_group(space: Space, members: tuple[str, ...]) -> None:
    groups = {"s3": ROOT, **dict.fromkeys(members, IN_TILES)}
    nest = descent(space, groups).state.nest
    tasks = level_of(nest, "s3")
    assert tasks.parallel and counts(tasks) == [1, 4]
    tiles = level_of(tasks, "s3")
    assert counts(tiles) == [3, 1]
    assert funcs(tiles.children) == [*members, "s3"]
    assert funcs(nest.children) == ["s3"]


def test_members_of_tasks_are_in_no_tiles(space: Space) -> None:
    groups = {"s3": ("", Placement(task_sizes={1: 250})), "s2": ("s3", Placement())}
    nest = descent(space, groups).state.nest
    tasks = level_of(nest, "s3")
    assert counts(tasks) == [1, 4] and funcs(tasks.children) == ["s2", "s3"]


def test_each_func_of_a_group_of_its_own_is_at_the_root(space: Space) -> None:
    groups = dict.fromkeys(("s1", "s2", "s3"), ("", Placement(vector_dim=0, task_sizes={1: 125})))
    nest = descent(space, groups).state.nest
    assert funcs(nest.children) == [*groups]
    assert all(level.parallel and counts(level) == [1, 8] for level in nest.children)


def test_what_is_in_no_group_is_inlined(space: Space) -> None:
    nest = descent(space, {"s3": ROOT}).state.nest
    assert funcs(nest.children) == funcs(level_of(nest, "s3").children) == ["s3"]


def test_descents_differ_the_more_of_the_best_are_taken(space: Space) -> None:
    groups = {"s3": ROOT, "s2": IN_TILES, "s1": IN_TILES}
    strict, others = descent(space, groups), [descent(space, groups, 0.3, seed) for seed in range(20)]
    assert all(
        proposal_of("again", space, proposal.actions).state.dump() == proposal.state.dump()
        for proposal in (strict, *others)
    )
    assert len({proposal.state.dump() for proposal in others}) > 5


def test_groups_of_another_pipeline_do_no_harm(space: Space) -> None:
    rng = random.Random(0)
    assert grouped_descent(space, {99: ROOT[1]}, 0.0, rng).state.is_complete
    assert grouped_descent(space, {2: Placement(consumer=99, vector_dim=7)}, 0.0, rng).state.is_complete
