"""Beam search and greedy search against the tabulated searches of the plugin, and as agents."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import pytest

import pipelines_for_tests
from halidegym.agents.agent import Agent
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.reference.log import format_cost
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter, SearchExhausted, SyntheticTree
from halidegym.native.weights import builtin_weights, make_weights, save_weights
from oracle.builder_problem import AVX512, SSE_AVX2
from oracle.tabulated import AFFINE, GENERAL, TabulatedSearch
from search_spaces_for_tests import PythonTree


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=SSE_AVX2, parallelism=16)


@pytest.fixture(scope="module")
def mm() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=16)


@pytest.fixture(scope="module")
def harris() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("harris"), target=AVX512, parallelism=16)


@pytest.mark.parametrize("search", [*GENERAL, *AFFINE], ids=lambda search: search.id)
def test_it_equals_the_tabulated_search(search: TabulatedSearch) -> None:
    problem = SchedulingProblem.from_pipeline(
        search.problem.pipeline(), target=search.problem.target, parallelism=search.problem.parallelism
    )
    agent = BeamSearch(
        beam_size=search.agent.beam_size,
        passes=search.agent.passes,
        random_dropout=search.agent.random_dropout,
        subtiling=not search.agent.disable_subtiling,
        memory_limit=search.agent.memory_limit,
    )
    plan = agent.plan(problem, seed=search.agent.random_dropout_seed or 0)
    assert tuple(format_cost(cost, level=1) for cost in plan.pass_costs) == search.pass_costs
    assert plan.evaluations == search.evaluations
    assert plan.ended_by == "finished"


def test_the_published_search(harris: SchedulingProblem) -> None:
    """The beam's row for harris in MB2FBS' Table 2 (docs/specification/papers.md, section 2)."""
    plan = BeamSearch().plan(harris)
    assert [f"{cost:g}" for cost in plan.pass_costs] == ["2.29997", "2.2596", "1.97878", "1.73584", "1.73584"]
    assert (plan.evaluations, plan.distinct_evaluations) == (175193, 117108)
    assert plan.expansions == 5 * 770
    costs = [improvement.cost for improvement in plan.history]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == plan.cost == plan.top(1)[0].cost
    counts = [improvement.evaluations for improvement in plan.history]
    assert counts == sorted(counts)
    assert counts[-1] <= 175193


def test_greedy_is_a_beam_of_one(blur: SchedulingProblem) -> None:
    greedy, beam = Greedy().plan(blur), BeamSearch(beam_size=1).plan(blur)
    assert (greedy.candidates, greedy.evaluations) == (beam.candidates, beam.evaluations)
    assert len(greedy.pass_costs) == 1
    dropped = Greedy(random_dropout=1).plan(blur.with_parallelism(8), seed=3)
    assert (f"{dropped.cost:g}", dropped.evaluations) == ("0.925701", 613)


def test_equal_seeds_give_equal_plans(mm: SchedulingProblem) -> None:
    agent = BeamSearch(beam_size=8, random_dropout=40)
    first, again = (agent.plan(mm, seed=2) for _ in range(2))
    assert (first.candidates, first.pass_costs) == (again.candidates, again.pass_costs)
    assert {agent.plan(mm, seed=seed).pass_costs for seed in range(4)} != {first.pass_costs}


@pytest.mark.parametrize(
    "budget", [{}, {"evaluations": 100}, {"evaluations": 5000}, {"evaluations": 50000}, {"expansions": 40}], ids=str
)
@pytest.mark.parametrize("dropout", [100, 30])
def test_threads_make_no_difference(dropout: int, budget: dict[str, int], harris: SchedulingProblem) -> None:
    def plan(threads: int) -> Plan:
        agent = BeamSearch(beam_size=12, random_dropout=dropout, threads=threads)
        found = agent.plan(harris, seed=1, **budget)  # type: ignore[arg-type]
        history = tuple(replace(improvement, seconds=0.0) for improvement in found.history)
        return replace(found, agent="", seconds=0.0, cpu_seconds=0.0, history=history)

    assert plan(1) == plan(2) == plan(5)


def test_costs_are_computed_once(mm: SchedulingProblem) -> None:
    tree = PythonTree(SyntheticTree(branching=3, depth=5, delta=10, seed=1))
    asked: list[tuple[int, ...]] = []

    class Counted(PythonTree):
        def cost(self, path: tuple[int, ...]) -> float:
            asked.append(path)
            return super().cost(path)

    for threads in (1, 3):
        asked.clear()
        solution = BeamSearch(beam_size=4, threads=threads).solve(Counted(tree.tree))
        assert len(asked) == len(set(asked)) == solution.distinct_evaluations < solution.evaluations
    once = BeamSearch(beam_size=4, passes=1).plan(mm)
    assert once.distinct_evaluations == once.evaluations


def test_other_weights_give_other_costs(mm: SchedulingProblem, tmp_path: object) -> None:
    tensors = builtin_weights().tensors()
    other = make_weights({**tensors, "conv1_filter": tensors["conv1_filter"] * 2})
    path = os.path.join(str(tmp_path), "other.weights")
    save_weights(other, path)
    from_object, from_file = (BeamSearch(beam_size=4, weights=weights).plan(mm) for weights in (other, path))
    default = BeamSearch(beam_size=4).plan(mm)
    assert from_object.cost == from_file.cost != default.cost
    assert from_object.fingerprint == from_file.fingerprint != default.fingerprint


@pytest.mark.parametrize("agent", [BeamSearch(), Greedy()], ids=lambda agent: agent.name)
@pytest.mark.parametrize("budget", [{"evaluations": 1}, {"expansions": 3}, {"seconds": 1e-9}], ids=str)
def test_a_budget_ends_the_search_with_a_complete_schedule(
    agent: Agent, budget: dict[str, int], harris: SchedulingProblem
) -> None:
    plan = agent.plan(harris, **budget)  # type: ignore[arg-type]
    assert plan.ended_by == "budget"
    assert len(plan.actions) == 2 * harris.num_nodes
    assert plan.schedule_of(plan.top(1)[0]) == plan.schedule
    assert plan.evaluations is not None
    assert plan.evaluations < 5000


def test_more_evaluations_are_spent_if_allowed(harris: SchedulingProblem) -> None:
    plan = BeamSearch().plan(harris, evaluations=60000)
    assert plan.ended_by == "budget"
    assert plan.evaluations is not None
    assert 60000 <= plan.evaluations < 70000
    assert plan.pass_costs == BeamSearch().plan(harris).pass_costs[: len(plan.pass_costs)]
    assert len(plan.pass_costs) in (1, 2)


@pytest.mark.parametrize("progress", [False, True])
def test_an_interrupt_returns_the_best_so_far(progress: bool) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines.build("bilateral_grid"), target=AVX512, parallelism=16)
    interrupt = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    begin = time.monotonic()
    plan = BeamSearch(beam_size=1000).plan(problem, progress=progress)
    interrupt.join()
    assert plan.ended_by == "interrupt"
    assert len(plan.actions) == 2 * problem.num_nodes
    assert time.monotonic() - begin < 20


def test_progress_is_shown_on_a_terminal_only(
    harris: SchedulingProblem, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    BeamSearch(beam_size=4).plan(harris, progress=True)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")
    BeamSearch(beam_size=4).plan(harris, progress=True)
    output = capfd.readouterr()
    assert output.out == ""
    assert "Beam search, harris" in output.err


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BeamSearch(beam_size=0), "beam_size=0"),
        (lambda: BeamSearch(beam_size=2.5), "beam_size=2.5"),  # type: ignore[arg-type]
        (lambda: BeamSearch(beam_size=True), "beam_size=True"),
        (lambda: BeamSearch(beam_size=10**12), "beam_size=10{12} is out of range; give an integer"),
        (lambda: BeamSearch(passes=0), "passes=0"),
        (lambda: BeamSearch(random_dropout=-1), "random_dropout=-1"),
        (lambda: BeamSearch(threads=0), "threads=0"),
        (lambda: BeamSearch(random_dropout=101), "random_dropout=101"),
        (lambda: BeamSearch(memory_limit=-1), "memory_limit=-1"),
        (lambda: Greedy(random_dropout=200), "random_dropout=200"),
        (lambda: RandomSearch(num_schedules=0), "num_schedules=0"),
    ],
)
def test_absurd_parameters_are_refused(make: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("agent", [BeamSearch(), Greedy(), RandomSearch()], ids=lambda agent: agent.name)
@pytest.mark.parametrize(
    "arguments",
    [
        {"seconds": -1},
        {"seconds": float("nan")},
        {"evaluations": 0},
        {"expansions": -3},
        {"measurements": -1},
        {"seed": -1},
    ],
    ids=str,
)
def test_absurd_arguments_are_refused(agent: Agent, arguments: dict[str, int], mm: SchedulingProblem) -> None:
    (name,) = arguments
    with pytest.raises(InvalidParameter, match=name):
        agent.plan(mm, **arguments)  # type: ignore[arg-type]


def test_something_else_than_a_problem_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="Cannot plan for a str"):
        BeamSearch().plan("harris")


@pytest.mark.parametrize(
    ("env", "remedy"),
    [
        (
            lambda: gym.make("SyntheticTree-v0"),
            "a SyntheticTreeEnv: .* env.unwrapped.tree of SyntheticTree-v0, call solve",
        ),
        (
            lambda: gym.make_vec("HalideSchedule-v0", 2, pipeline="toy_blur"),
            "a HalideScheduleVector: .* problems of a vector",
        ),
    ],
    ids=["tree", "vector"],
)
def test_an_environment_without_a_problem_of_its_own_is_named(env: Callable[[], Any], remedy: str) -> None:
    with pytest.raises(InvalidParameter, match=f"Cannot plan for {remedy}"):
        BeamSearch().plan(env())


def test_an_impossible_limit_is_reported(blur: SchedulingProblem) -> None:
    with pytest.raises(SearchExhausted, match="memory_limit"):
        BeamSearch(beam_size=2, memory_limit=0).plan(
            SchedulingProblem.from_pipeline(pipelines_for_tests.matmul, target=SSE_AVX2, parallelism=16)
        )


def test_agents_are_values() -> None:
    agent = BeamSearch(beam_size=4, memory_limit=10)
    assert pickle.loads(pickle.dumps(agent)) == agent
    assert agent != BeamSearch(beam_size=4)
    assert "beam_size=4" in repr(agent)
    assert agent.name == "BeamSearch"
