"""Every planner on every search space: schedules, synthetic trees, and Python objects."""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.agents.agent import Agent
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import InvalidParameter, SearchExhausted, SyntheticTree
from oracle.builder_problem import SSE_AVX2
from search_spaces_for_tests import PythonSchedules, PythonTree

PLANNERS = [
    BeamSearch(beam_size=1),
    BeamSearch(beam_size=8, passes=1),
    BeamSearch(beam_size=8, threads=3),
    BeamSearch(beam_size=8, random_dropout=50, passes=1),
    Greedy(),
    RandomSearch(num_schedules=100),
    ExhaustiveSearch(),
    MB2FBS(beta1=6, beta2=2, beta=8, passes=1),
    MCTS(trees=3, iterations=10, threads=2),
    TAG(num_evaluations=200),
    UCT(num_evaluations=200),
]


def found(solution: SpaceSolution) -> tuple[Any, ...]:
    """Everything but the time and the states."""
    return solution.cost, solution.candidates, solution.pass_costs, solution.evaluations, solution.expansions


@pytest.mark.parametrize("planner", PLANNERS, ids=repr)
def test_a_python_object_is_searched_like_the_tree_in_cpp(planner: NativeSearch) -> None:
    tree = SyntheticTree(branching=3, depth=5, delta=10, seed=1)
    native, python = planner.solve(tree, seed=3), planner.solve(PythonTree(tree), seed=3)
    assert found(native) == found(python)
    assert python.state == python.actions
    assert native.state.path_cost == native.cost >= tree.optimum()[0]


@pytest.mark.parametrize(
    "planner", [BeamSearch(beam_size=4, passes=3), MB2FBS(beta1=3, beta2=1, beta=4, passes=3)], ids=repr
)
def test_a_python_object_is_searched_like_schedules_in_cpp(planner: NativeSearch) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=2)
    space = Rules().space(problem)
    python = planner.solve(PythonSchedules(space, problem.num_nodes), seed=5)
    assert found(python) == found(planner.solve(space, seed=5))
    plan = planner.plan(problem, seed=5)
    assert (plan.cost, plan.candidates, plan.evaluations) == (python.cost, python.candidates, python.evaluations)


def test_exhaustive_search_finds_the_known_optimum() -> None:
    for delta in (0, 0.5, 3, 100):
        tree = SyntheticTree(branching=3, depth=6, delta=delta, seed=7)
        solution = ExhaustiveSearch().solve(tree)
        assert (solution.cost, solution.actions) == (tree.optimum()[0], tuple(tree.optimum()[1]))
        assert solution.evaluations == 3**6


class Deep:
    """A single walk, deeper than the stack."""

    def root(self) -> int:
        return 0

    def is_complete(self, state: int) -> bool:
        return state == self.max_depth()

    def depth(self, state: int) -> int:
        return state

    def max_depth(self) -> int:
        return 100_000

    def decisions(self, state: int) -> list[int]:
        return [1]

    def apply(self, state: int, decision: int) -> int:
        return state + decision

    def cost(self, state: int) -> float:
        return 1.0


def test_depth_is_no_matter_of_the_stack() -> None:
    assert len(ExhaustiveSearch().solve(Deep(), evaluations=1).actions) == 100_000


def test_budgets_hold_for_spaces() -> None:
    tree = SyntheticTree(seed=1)
    solution = TAG().solve(tree, evaluations=50)
    assert (solution.evaluations, solution.ended_by) == (50, "budget")
    with pytest.raises(InvalidParameter, match="evaluations"):
        TAG().solve(tree, evaluations=0)


class Failing(PythonTree):
    def cost(self, path: tuple[int, ...]) -> float:
        raise ZeroDivisionError(f"no cost of {path}")


class Unacceptable(PythonTree):
    def cost(self, path: tuple[int, ...]) -> Any:
        return None


class Nan(PythonTree):
    def cost(self, path: tuple[int, ...]) -> float:
        return float("nan")


class Text(PythonTree):
    def cost(self, path: tuple[int, ...]) -> Any:
        return "cheap"


class DeadEnds(PythonTree):
    def decisions(self, path: tuple[int, ...]) -> list[int]:
        return []


class Lists(PythonTree):
    def root(self) -> Any:
        return []

    def apply(self, path: Any, decision: int) -> Any:
        return [*path, decision]


class WordHash(PythonTree):
    def hash(self, path: tuple[int, ...], depth: int) -> str:
        return "word"


class Shallow(PythonTree):
    def max_depth(self) -> int:
        return 1

    def is_complete(self, path: tuple[int, ...]) -> bool:
        return len(path) == self.tree.max_depth()


class NegativeDepth(PythonTree):
    def max_depth(self) -> int:
        return -3


@pytest.mark.parametrize("planner", PLANNERS, ids=repr)
def test_what_a_python_object_raises_arrives(planner: NativeSearch) -> None:
    with pytest.raises(ZeroDivisionError, match="no cost of"):
        planner.solve(Failing(SyntheticTree(depth=3)))


@pytest.mark.parametrize("planner", PLANNERS, ids=repr)
@pytest.mark.parametrize("space", [Unacceptable, DeadEnds])
def test_spaces_without_a_solution(planner: NativeSearch, space: type[PythonTree]) -> None:
    with pytest.raises(SearchExhausted):
        planner.solve(space(SyntheticTree(depth=3)))


@pytest.mark.parametrize(
    ("space", "message"), [(Nan, "nan"), (Text, "'cheap'"), (object, "root"), (dict, "no search space")]
)
def test_objects_that_are_no_spaces(space: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        BeamSearch(beam_size=2).solve(space() if space in (object, dict) else space(SyntheticTree(depth=3)))


@pytest.mark.parametrize("agent", [Greedy(), PolicyAgent(), DynamicProgramming()], ids=lambda agent: agent.name)
def test_a_problem_is_for_plan(agent: Agent) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=4)
    with pytest.raises(InvalidParameter, match="a SchedulingProblem is no search space; call plan"):
        agent.solve(problem)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("space", "planner", "message"),
    [
        (Lists, TAG(), r"state \[\] cannot be hashed \(unhashable type: 'list'\); give immutable states"),
        (WordHash, TAG(), r"hash\(\) returned 'word'"),
        (NegativeDepth, Greedy(), r"max_depth\(\) returned -3"),
        (
            Shallow,
            MCTS(trees=1, iterations=5),
            r"after 2 decisions a state .* not complete, but its max_depth\(\) is 1",
        ),
    ],
)
def test_methods_that_return_what_cannot_be(space: type[PythonTree], planner: NativeSearch, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        planner.solve(space(SyntheticTree(depth=3)))


@pytest.mark.parametrize("choices", [1, 2])
@pytest.mark.parametrize("planner", PLANNERS, ids=repr)
def test_walks_that_do_not_end_where_the_space_says_are_refused(planner: NativeSearch, choices: int) -> None:
    class Endless(PythonTree):
        def is_complete(self, path: tuple[int, ...]) -> bool:
            return False

        def decisions(self, path: tuple[int, ...]) -> list[int]:
            return list(range(choices))

        def cost(self, path: tuple[int, ...]) -> float:
            return 1.0

    with pytest.raises(InvalidParameter, match=r"its max_depth\(\) is 3; return the"):
        planner.solve(Endless(SyntheticTree(depth=3)))


@pytest.mark.parametrize("planner", PLANNERS, ids=repr)
def test_only_the_limits_of_the_space_are_advised(planner: NativeSearch) -> None:
    with pytest.raises(SearchExhausted, match="decisions in the search space allows more"):
        planner.solve(DeadEnds(SyntheticTree(depth=3)))
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=2)
    with pytest.raises(SearchExhausted, match="a larger memory_limit or max_recompute allows more"):
        planner.solve(Rules(memory_limit=0).space(problem))


def test_the_examples_of_the_documentation() -> None:
    page = Path(__file__).parents[2] / "docs" / "environments" / "synthetic_tree.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert (names["solution"].cost, names["solution"].state) == (12, (0, 1, 0, 1))
    assert len(blocks) == 2


class _Interrupted(PythonTree):
    """Ctrl-C comes while a cost is computed, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__(SyntheticTree(branching=3, depth=5, delta=10, seed=1))
        self._left = times

    def cost(self, state: Any) -> float | None:
        if self.is_complete(state) and self._left > 0:
            self._left -= 1
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.06)  # longer than a search goes on without looking
        return super().cost(state)


@pytest.mark.parametrize("planner", [TAG(), RandomSearch(), MCTS(trees=1, greedy_trees=0, threads=1)], ids=repr)
def test_ctrl_c_in_a_method_of_the_space_keeps_the_best_so_far(planner: NativeSearch) -> None:
    solution = planner.solve(_Interrupted(times=1), evaluations=10**6)
    assert (solution.ended_by, len(solution.actions)) == ("interrupt", 5)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_is_not_held_back() -> None:
    class Endless(_Interrupted):
        def is_complete(self, state: Any) -> bool:
            os.kill(os.getpid(), signal.SIGINT)
            return False

    with pytest.raises(KeyboardInterrupt):
        RandomSearch().solve(Endless(times=0))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("selection", ["mean_cost", "mean_inverse", "ucb", "best_cost"])
def test_tree_search_by_inverse_costs_refuses_those_that_are_not_positive(selection: str) -> None:
    class Shifted(PythonTree):
        def cost(self, state: Any) -> float | None:
            cost = super().cost(state)
            return None if cost is None else cost - 1e6

    shifted = Shifted(SyntheticTree(branching=3, depth=5, delta=10, seed=1))
    with pytest.raises(InvalidParameter, match="needs positive costs; use selection"):
        MCTS(trees=1, iterations=5, selection=selection).solve(shifted)
    assert MCTS(trees=1, iterations=5, selection="success_rate").solve(shifted).cost < 0


def test_decisions_that_are_none_are_refused_in_a_sentence() -> None:
    class NoDecisions(PythonTree):
        def decisions(self, state: Any) -> Any:
            return None

    with pytest.raises(InvalidParameter, match=r"decisions\(\) returned None.*return a list"):
        TAG().solve(NoDecisions(SyntheticTree(seed=1)))


def test_a_solution_says_in_a_line_what_people_ask_first() -> None:
    found = BeamSearch(beam_size=2).solve(SyntheticTree())
    assert repr(found) == (
        f"SpaceSolution(cost={found.cost!r}, evaluations={found.evaluations}, seconds={round(found.seconds, 3)}, "
        f"ended_by='finished', seed=0, agent={found.agent!r})"
    )


@dataclass(frozen=True)
class Forgetful(Greedy):
    def search_space(self, *_: Any) -> SpaceSolution:
        return None  # type: ignore[return-value]


def test_an_agent_of_ones_own_that_returns_no_solution_is_told_so() -> None:
    with pytest.raises(
        InvalidParameter, match=r"Forgetful\.search_space returned None; let it return the SpaceSolution"
    ):
        Forgetful().solve(SyntheticTree())


@pytest.mark.parametrize("planner", [Greedy(), MCTS(measured=True)], ids=repr)
def test_a_measure_that_cannot_be_called_is_refused(planner: NativeSearch) -> None:
    with pytest.raises(InvalidParameter, match="measure=3 cannot be called; give a function of a state"):
        planner.solve(SyntheticTree(), measure=3)  # type: ignore[arg-type]
