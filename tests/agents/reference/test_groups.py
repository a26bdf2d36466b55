"""What Mullapudi2016 decides, as it is read off its source."""

from __future__ import annotations

from dataclasses import replace

import halide as hl
import pytest

import pipelines_for_tests
from halidegym.agents.reference import AutoschedulerFailed, Mullapudi2016
from halidegym.agents.reference.groups import Placement, mullapudi_groups
from halidegym.envs.pipelines import build
from halidegym.envs.problems.problem import SchedulingProblem
from oracle.builder_problem import SSE_AVX2


def problem_of(name: str) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.ALL[name](), target=SSE_AVX2, parallelism=2)


def groups_of(name: str) -> dict[str, tuple[str, Placement]]:
    """By name, with the name of the consumer, both without the numbers that Halide puts behind names that it knows."""
    problem = problem_of(name)
    names = {node.id: node.name.split("$")[0] for node in problem.nodes}
    return {
        names[node]: (
            "" if placement.consumer is None else names[placement.consumer],
            replace(placement, consumer=None),
        )
        for node, placement in mullapudi_groups(problem).items()
    }


def test_tiles_tasks_and_who_is_computed_in_them_are_read() -> None:
    """`bx` at the tiles of `by`, 256 x 256 of them, whose rows are parallel."""
    assert groups_of("blur") == {
        "bx": ("by", Placement(in_tiles=True, vector_dim=0)),
        "by": ("", Placement(vector_dim=0, task_sizes={1: 256}, tile_sizes={0: 256})),
    }


def test_where_tiles_are_the_tasks_nothing_is_in_other_tiles() -> None:
    at_tasks = ("s3", Placement(vector_dim=0))
    assert groups_of("stencil3") == {
        "s1": at_tasks,
        "s2": at_tasks,
        "s3": ("", Placement(vector_dim=0, task_sizes={0: 64})),
    }


def test_updates_are_no_part_of_it() -> None:
    """Two of them vectorize the other dimension."""
    of_rows = ("", Placement(vector_dim=0, task_sizes={1: 1}))
    assert groups_of("several_updates") == {"f": of_rows, "o": of_rows}


def test_groups_of_a_large_pipeline_hang_together() -> None:
    problem = SchedulingProblem.from_pipeline(build("interpolate"), parallelism=2)
    dimensions = {node.id: node.dimensions for node in problem.nodes if not node.is_input}
    groups = mullapudi_groups(problem)
    assert len(groups) > 10 and groups.keys() <= dimensions.keys()
    roots = {node for node, placement in groups.items() if placement.consumer is None}
    assert {placement.consumer for placement in groups.values()} <= {None, *roots}
    assert any(placement.consumer is not None for placement in groups.values())
    for node, placement in groups.items():
        dims = {*placement.task_sizes, *placement.tile_sizes, placement.vector_dim or 0}
        assert max(dims) < dimensions[node]
        assert not placement.in_tiles or (placement.consumer is not None and groups[placement.consumer].tile_sizes)


def test_of_the_same_pipeline_with_other_names_the_groups_are_the_same() -> None:
    """They are kept; Halide gives the Funcs of what is built a second time other names."""
    first, second = problem_of("blur"), problem_of("blur")
    assert [node.name for node in first.nodes] != [node.name for node in second.nodes]
    assert first == second and mullapudi_groups(first) == mullapudi_groups(second)


def test_names_that_are_words_of_the_source_are_no_hindrance() -> None:
    x, y = hl.Var("x"), hl.Var("y")
    image, first, last = hl.ImageParam(hl.Float(32), 2, "parallel"), hl.Func("pipeline"), hl.Func("in")
    first[x, y] = hl.sqrt(image[x, y])
    last[x, y] = sum((first[x, y + dy] for dy in range(1, 5)), first[x, y])
    for dim, extent in enumerate((512, 260)):
        image.dim(dim).set_estimate(0, extent)
    last.set_estimates([(0, 512), (0, 256)])
    problem = SchedulingProblem.from_pipeline(hl.Pipeline(last), target=SSE_AVX2, parallelism=2)
    names = {node.id: node.name.split("$")[0] for node in problem.nodes}
    assert {names[node] for node in mullapudi_groups(problem)} == {"pipeline", "in"}


def test_a_plugin_that_takes_too_long_is_no_answer() -> None:
    assert mullapudi_groups(problem_of("blur"), seconds=1e-3) == {}


def test_whoever_failed_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> object:
        raise AutoschedulerFailed("it is out of memory")

    problem = problem_of("blur").with_parallelism(5)
    with monkeypatch.context() as patch:
        patch.setattr(Mullapudi2016, "plan", fails)
        assert mullapudi_groups(problem) == {}
    assert mullapudi_groups(problem) != {}
