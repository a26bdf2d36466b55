"""Schedules in groups, in tiles as they are asked for, as far as the search space has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

import pipelines_for_tests
from halidegym.agents.proposals import Proposal, grouped_descents, proposal_of
from halidegym.agents.reference.groups import Placement
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


def descents(space: Space, groups: Named, seed: int = 0) -> Iterator[Proposal]:
    """By the names of Funcs and their consumers, without the numbers that Halide may put behind them."""
    ids = {node.name.split("$")[0]: node.id for node in space.problem.nodes}
    by_id = {
        ids[func]: replace(placement, consumer=ids[consumer] if consumer else None)
        for func, (consumer, placement) in groups.items()
    }
    return grouped_descents(space, by_id, seed)


def descent(space: Space, groups: Named) -> Proposal:
    """What fits the groups best."""
    return next(descents(space, groups))


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


def test_those_that_follow_the_first_take_others_of_the_best(space: Space) -> None:
    groups = {"s3": ROOT, "s2": IN_TILES, "s1": IN_TILES}
    first, again, other = (list(itertools.islice(descents(space, groups, seed), 20)) for seed in (0, 0, 1))
    assert [drawn.actions for drawn in first] == [drawn.actions for drawn in again]
    assert first[0].actions == other[0].actions
    assert [drawn.actions for drawn in first] != [drawn.actions for drawn in other]
    assert len({drawn.state.dump() for drawn in first}) > 5
    for drawn in first:
        assert drawn.kind == "grouped"
        assert proposal_of("again", space, drawn.actions).state.dump() == drawn.state.dump()


def test_groups_of_another_pipeline_do_no_harm(space: Space) -> None:
    for groups in ({99: ROOT[1]}, {2: Placement(consumer=99, vector_dim=7)}):
        assert next(grouped_descents(space, groups)).state.is_complete


def test_where_no_descent_comes_to_a_schedule_they_end() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.several_updates(), target=SSE_AVX2, parallelism=2)
    at_the_root = {node.id: Placement() for node in problem.nodes if not node.is_input}
    assert next(grouped_descents(Rules().space(problem), at_the_root)).state.is_complete
    assert list(grouped_descents(Rules(memory_limit=1).space(problem), at_the_root)) == []


def test_without_groups_there_is_nothing(space: Space) -> None:
    assert list(grouped_descents(space, {})) == []
