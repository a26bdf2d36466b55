"""MB2FBS on random trees and on the paper's pipelines (Gao et al. 2022). The algorithm's theorems are in tests/native."""

from __future__ import annotations

import os
import pickle
import signal
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipelines_for_tests
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.mb2fbs import MB2FBS, PRESETS
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.papers import mb2fbs as reproduce_mb2fbs
from halidegym.native._core import BeamOptions, InvalidParameter, Mb2fbsOptions, SyntheticTree, beam_search, mb2fbs
from oracle.builder_problem import AVX512, SSE_AVX2

TREES = st.builds(
    SyntheticTree,
    branching=st.integers(1, 5),
    depth=st.integers(1, 5),
    delta=st.sampled_from([0.5, 1.5, 10.0, 100.0]),
    seed=st.integers(0, 2**64 - 1),
)


@pytest.fixture(scope="module")
def harris() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("harris"), target=AVX512, parallelism=16)


@pytest.fixture(scope="module")
def mm() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=16)


@given(TREES)
def test_exact_presets_find_the_optimum(tree: SyntheticTree) -> None:
    cost, actions = tree.optimum()
    for name in ("breadth_first", "best_first"):
        found = MB2FBS.preset(name).solve(tree)
        assert (found.cost, found.actions) == (cost, tuple(actions))
    leaf = tree.max_depth() + min(tree.delta, tree.delta**2)

    def estimate(cost: float, depth: int, _best: float, _depth: float) -> float:
        return -cost if depth == tree.max_depth() else -cost - leaf

    informed = MB2FBS.preset("best_first", priority=estimate).solve(tree)
    assert informed.cost == cost
    assert informed.expansions <= MB2FBS.preset("best_first").solve(tree).expansions


@given(TREES, st.integers(1, 40))
def test_the_beam_preset_is_a_beam(tree: SyntheticTree, beam_size: int) -> None:
    beam = BeamSearch(beam_size=beam_size, passes=1).solve(tree)
    ours = MB2FBS.preset("beam", beta=beam_size).solve(tree)
    assert (ours.cost, ours.actions, ours.expansions) == (beam.cost, beam.actions, beam.expansions)


@given(TREES, st.integers(1, 40))
def test_a_best_first_beam_that_forgets_nothing_finds_what_a_beam_finds(tree: SyntheticTree, beam_size: int) -> None:
    """As Meister et al. 2020 prove for costs that never shrink on the way down; Table 1's row forgets some."""
    beam = BeamSearch(beam_size=beam_size, passes=1).solve(tree)
    ours = MB2FBS.preset("best_first_beam", beta=beam_size, beta2=None).solve(tree)
    assert (ours.cost, ours.actions) == (beam.cost, beam.actions)
    assert ours.expansions <= beam.expansions


@given(TREES, st.integers(2, 40))
def test_controlled_expands_no_more_than_a_beam(tree: SyntheticTree, beta: int) -> None:
    beta2 = beta // 2
    ours = mb2fbs(
        tree,
        Mb2fbsOptions(beta1=beta - beta2, beta2=beta2, beta=beta, memory=beta * tree.max_depth(), passes=1),
    )
    beam = BeamSearch(beam_size=beta, passes=1).solve(tree)
    assert max(ours.pass_expansions[0]) <= beta
    assert sum(ours.pass_expansions[0]) <= beam.expansions


@pytest.mark.parametrize("name", PRESETS)
def test_presets_find_complete_states(name: str) -> None:
    tree = SyntheticTree(branching=3, depth=5, delta=10.0, seed=1)
    agent = MB2FBS.preset(name, **({"memory": 20} if name == "memory_bounded_best_first" else {}))
    found = agent.solve(tree)
    assert found.cost >= tree.optimum()[0]
    assert len(found.actions) == 5
    assert found.candidates == agent.solve(tree).candidates


def test_the_papers_choices_are_presets() -> None:
    assert MB2FBS.preset("controlled") == MB2FBS() == MB2FBS(28, 4, 32, None, 5, "depth_and_cost")
    assert MB2FBS.preset("uncontrolled") == MB2FBS(30, 2, None, None, 5, "depth_and_cost")


def test_a_priority_in_python_is_that_in_the_core(mm: SchedulingProblem) -> None:
    calls = []

    def depth_and_cost(cost: float, depth: int, best: float, max_depth: float) -> float:
        calls.append((best, max_depth))
        return (best - cost) / (max_depth - depth)

    named, called = MB2FBS().plan(mm), MB2FBS(priority=depth_and_cost).plan(mm)
    assert (named.candidates, named.pass_costs, named.expansions) == (
        called.candidates,
        called.pass_costs,
        called.expansions,
    )
    depth = 2 * mm.num_nodes
    assert calls[0] == (1e9, depth + 1)
    assert calls[-1] == (named.cost, 5 * depth + 1)


def test_an_error_in_a_priority_arrives() -> None:
    def broken(*_: float) -> float:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        MB2FBS(priority=broken).solve(SyntheticTree())
    with pytest.raises(InvalidParameter, match="nan"):
        MB2FBS(priority=lambda *_: float("nan")).solve(SyntheticTree())
    with pytest.raises(InvalidParameter, match="priority returned 'high'; return a number"):
        MB2FBS(priority=lambda *_: "high").solve(SyntheticTree())  # type: ignore[return-value, arg-type]


def test_expansions_are_counted_by_depth(harris: SchedulingProblem) -> None:
    plan = MB2FBS().plan(harris)
    result = mb2fbs(Rules().space(harris))
    assert len(result.pass_expansions) == len(result.pass_complete_states) == 5
    assert sum(map(sum, result.pass_expansions)) == result.expansions == plan.expansions
    for expansions in result.pass_expansions:
        assert len(expansions) == 2 * harris.num_nodes
        assert expansions[:2] == [1, 1]
        assert max(expansions) <= 32
        assert sum(expansions) <= 770


@pytest.mark.parametrize("budget", [{"evaluations": 1}, {"expansions": 3}, {"seconds": 1e-9}], ids=str)
def test_a_budget_ends_the_search_with_a_complete_schedule(budget: dict[str, int], harris: SchedulingProblem) -> None:
    plan = MB2FBS().plan(harris, **budget)  # type: ignore[arg-type]
    assert plan.ended_by == "budget"
    assert len(plan.actions) == 2 * harris.num_nodes
    assert plan.schedule_of(plan.top(1)[0]) == plan.schedule


def test_a_search_that_prunes_all_complete_states_still_returns_one() -> None:
    """Where a depth has used up its expansions before its best children are reached, the pass comes to nothing."""
    fruitless = 0
    for seed in range(100):
        result = mb2fbs(SyntheticTree(seed=seed), Mb2fbsOptions(beta1=4, beta2=4, beta=4, passes=1, priority="cost"))
        assert len(result.solutions[0].actions) == 8
        fruitless += result.pass_complete_states == [0]
    assert fruitless > 0


def test_an_interrupt_returns_the_best_so_far() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines.build("bilateral_grid"), target=AVX512, parallelism=16)
    interrupt = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    plan = MB2FBS(1000, 4, None).plan(problem, progress=True)
    interrupt.join()
    assert plan.ended_by == "interrupt"
    assert len(plan.actions) == 2 * problem.num_nodes


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MB2FBS(beta1=0), "beta1=0"),
        (lambda: MB2FBS(beta2=-1), "beta2=-1"),
        (lambda: MB2FBS(beta=0), "beta=0"),
        (lambda: MB2FBS(memory=0), "memory=0"),
        (lambda: MB2FBS(passes=0), "passes=0"),
        (lambda: MB2FBS(priority="depth"), "priority='depth'"),  # type: ignore[arg-type]
        (lambda: MB2FBS.preset("dijkstra"), "preset 'dijkstra'"),
        (lambda: MB2FBS.preset("memory_bounded_best_first"), "needs memory"),
        (lambda: MB2FBS.preset("beam", beta=0), "beta=0"),
    ],
)
def test_absurd_parameters_are_refused(make: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (MB2FBS(30, 2, None, memory=31), "memory=31 is out of range; it must be at least 32"),
        (MB2FBS(memory=255), r"memory=255 is out of range.* where the expansions per depth are limited"),
        (MB2FBS(32, 0, memory=31), "memory=31 is out of range; it must be at least 32"),
        (MB2FBS(1, None, None, memory=1), "memory=1 is out of range; it must be at least 2"),
    ],
    ids=str,
)
def test_too_little_memory_is_refused(agent: MB2FBS, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        agent.solve(SyntheticTree(depth=8))


def test_agents_are_values() -> None:
    agent = MB2FBS(beta1=4, memory_limit=10)
    assert pickle.loads(pickle.dumps(agent)) == agent
    assert agent != MB2FBS()
    assert agent.name == "MB2FBS"


#: Those on which a search takes many seconds.
LARGE = (
    "bilateral_grid",
    "local_laplacian",
    "nl_means",
    "lens_blur",
    "camera_pipe",
    "interpolate",
    "bgu",
    "stencil_chain",
)


@pytest.mark.parametrize(
    "pipeline", [pytest.param(p, marks=pytest.mark.slow) if p in LARGE else p for p in reproduce_mb2fbs.PAPER]
)
def test_expansions_on_the_papers_pipelines(pipeline: str) -> None:
    """A pass of the beam expands 2 + 32 * (2n - 2) states, as the paper prints; controlled MB2FBS no more, at any depth."""
    problem = load_problem(pipeline, target=reproduce_mb2fbs.TARGET, parallelism=reproduce_mb2fbs.PARALLELISM)
    space, passes = Rules().space(problem), 2
    beam = beam_search(space, BeamOptions(beam_size=32, passes=passes))
    assert beam.expansions == passes * (2 + 32 * (2 * problem.num_nodes - 2))
    assert beam.expansions == passes * reproduce_mb2fbs.PAPER[pipeline][reproduce_mb2fbs.BEAM_32].expansions
    controlled = mb2fbs(space, Mb2fbsOptions(beta1=28, beta2=4, beta=32, passes=passes))
    assert max(max(expansions) for expansions in controlled.pass_expansions) <= 32
    assert controlled.expansions <= beam.expansions


@pytest.mark.parametrize("pipeline", ["mat_mul", "iir_blur", "conv_layer"])
def test_costs_of_table_2_that_are_equal(pipeline: str) -> None:
    cells = reproduce_mb2fbs.reproduce([pipeline], reproduce_mb2fbs.TABLES_2_AND_3)
    assert all(cell.equal for cell in cells)
