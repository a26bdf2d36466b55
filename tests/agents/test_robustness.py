"""No planner aborts: whatever goes wrong, there is the best so far, or a clear error, and the process lives."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from halidegym.agents.budget import Budget
from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.agents.reference import Mullapudi2016
from halidegym.envs.pipelines import toys
from halidegym.native._core import InvalidParameter, SearchExhausted, SyntheticTree
from search_spaces_for_tests import PythonTree

#: Some milliseconds of work on a small space, a minute and more on a large one.
SEARCHES: list[NativeSearch] = [
    BeamSearch(beam_size=10**6, passes=2),
    MB2FBS(10**6, 4, None, passes=2),
    MCTS(trees=3, iterations=10**9, threads=2),
    MCTS(trees=1, greedy_trees=0, iterations=10**9, deviations=2.0, epsilon=0.1),
    TAG(num_evaluations=10**9),
    TAG(num_evaluations=10**9, merge=False),
    UCT(num_evaluations=10**9),
    RandomSearch(num_schedules=10**9),
    ExhaustiveSearch(max_schedules=10**12),
]
each_search = pytest.mark.parametrize("planner", SEARCHES, ids=lambda planner: repr(planner)[:60])

#: The same, ending early where they would not end on a small space.
PLANNERS: list[NativeSearch | IteratedSearch] = [
    *(planner for planner in SEARCHES if not isinstance(planner, RandomSearch)),
    RandomSearch(num_schedules=300),
    IteratedSearch(RandomSearch(num_schedules=100), rounds=4, workers=2),
]
each_planner = pytest.mark.parametrize("planner", PLANNERS, ids=lambda planner: repr(planner)[:60])

SMALL = SyntheticTree(branching=2, depth=5, delta=10.0, seed=1)
LARGE = SyntheticTree(branching=10, depth=9, delta=10.0, seed=1)


def raise_here() -> None:
    raise KeyboardInterrupt


def interrupt_from_outside() -> None:
    """As the terminal does: at some time, whatever the main thread is doing."""
    threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()


@each_search
@pytest.mark.parametrize("interrupt", [raise_here, interrupt_from_outside])
def test_ctrl_c_gives_the_best_so_far(planner: NativeSearch, interrupt: Callable[[], None]) -> None:
    calls = 0

    def on_progress(*_: Any) -> bool:
        nonlocal calls
        calls += 1
        if calls == 1:
            interrupt()
        return True

    solution = planner.search_space(LARGE, Budget(), seed=0, on_progress=on_progress)
    assert solution.ended_by == "interrupt"
    node = LARGE.root()
    for action in solution.actions:
        node = LARGE.apply(node, action)
    assert (len(solution.actions), node.path_cost) == (LARGE.max_depth(), solution.cost)


@each_search
def test_what_the_callback_raises_arrives(planner: NativeSearch) -> None:
    def on_progress(*_: Any) -> bool:
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        planner.search_space(LARGE, Budget(), seed=0, on_progress=on_progress)


class Path(tuple[int, ...]):
    """A state whose comparisons are methods of its space, too."""

    space: Raising

    def __eq__(self, other: object) -> bool:
        self.space.count("__eq__")
        return super().__eq__(other)

    def __hash__(self) -> int:
        self.space.count("__hash__")
        return len(self)  # so that states have to be compared


class Raising:
    """A tree that raises an error in one method, at its n-th call."""

    def __init__(self, method: str, call: int, error: BaseException) -> None:
        self.tree = PythonTree(SMALL)
        self.calls: Counter[str] = Counter()
        self.method, self.call, self.error = method, call, error
        self.raised = False

    def count(self, method: str) -> None:
        self.calls[method] += 1
        if method == self.method and self.calls[method] == self.call:
            self.raised = True
            raise self.error

    def path(self, decisions: tuple[int, ...]) -> Path:
        path = Path(decisions)
        path.space = self
        return path

    def root(self) -> Path:
        self.count("root")
        return self.path(())

    def is_complete(self, path: Path) -> bool:
        self.count("is_complete")
        return self.tree.is_complete(path)

    def depth(self, path: Path) -> int:
        self.count("depth")
        return len(path)

    def max_depth(self) -> int:
        self.count("max_depth")
        return self.tree.max_depth()

    def decisions(self, path: Path) -> Iterator[int]:
        self.count("decisions")
        for decision in self.tree.decisions(path):
            self.count("next decision")
            yield decision

    def apply(self, path: Path, decision: int) -> Path:
        self.count("apply")
        return self.path((*path, decision))

    def inherits_cost(self, decision: int) -> bool:
        self.count("inherits_cost")
        return False

    def cost(self, path: Path) -> float:
        self.count("cost")
        return self.tree.cost(path)


METHODS = ("root", "is_complete", "decisions", "next decision", "apply", "cost")  # of all planners
MORE_METHODS = ("depth", "max_depth", "inherits_cost", "__eq__", "__hash__")  # of some


@each_planner
@pytest.mark.parametrize("method", [*METHODS, *MORE_METHODS])
def test_what_a_space_raises_arrives_unchanged(planner: NativeSearch | IteratedSearch, method: str) -> None:
    for call, error in ((1, ZeroDivisionError()), (20, KeyboardInterrupt())):
        space = Raising(method, call, error)
        arrived: BaseException | None = None
        try:
            planner.solve(space)
        except (ZeroDivisionError, KeyboardInterrupt) as caught:
            arrived = caught
        assert arrived is (error if space.raised else None)
        assert space.raised or method not in METHODS or space.calls[method] < call


def test_every_method_is_called_by_some_planner() -> None:
    calls: Counter[str] = Counter()
    for planner in PLANNERS:
        space = Raising("none", 0, ZeroDivisionError())
        planner.solve(space)
        calls += space.calls
    assert set(calls) == {*METHODS, *MORE_METHODS}


@each_planner
def test_a_budget_of_nothing(planner: NativeSearch | IteratedSearch) -> None:
    for name in ("seconds", "evaluations", "expansions"):
        with pytest.raises(InvalidParameter, match=f"{name}=0"):
            planner.solve(SMALL, **{name: 0})
    for budget in ({"seconds": 1e-9}, {"evaluations": 1}):
        assert len(planner.solve(LARGE, **budget).actions) == LARGE.max_depth()  # type: ignore[arg-type]


class OneWay(PythonTree):
    """Whatever is not the first decision leads to a dead end, but for the last one."""

    def decisions(self, path: tuple[int, ...]) -> range:
        return range(0 if any(path) else 2)

    def cost(self, path: tuple[int, ...]) -> float:
        return 1 + len(path) - 0.5 * sum(path)


@each_planner
def test_the_only_solutions_among_dead_ends(planner: NativeSearch | IteratedSearch) -> None:
    solution = planner.solve(OneWay(SMALL))
    assert (solution.actions, solution.cost) == ((0, 0, 0, 0, 1), 5.5)


@each_search
def test_too_little_memory_for_any_schedule(planner: NativeSearch) -> None:
    with pytest.raises(SearchExhausted):
        dataclasses.replace(planner, memory_limit=0).plan(toys.problem("toy_stencil_chain"))


ABSURD: list[tuple[Callable[[], Any], str]] = [
    (lambda: MCTS(trees=10**9), "trees=10{9}"),
    (lambda: MCTS(trees=2, threads=10**6), "threads=10{6}"),
    (lambda: MCTS(tree_memory=10**30), "tree_memory=10{30}"),
    (lambda: MCTS(iterations=10**30), "iterations=10{30}"),
    (lambda: MCTS(draws=10**12), "draws=10{12}"),
    (lambda: MCTS(epsilon="1"), "epsilon='1'"),  # type: ignore[arg-type]
    (lambda: MB2FBS(10**30, 4, None), "beta1=10{30}"),
    (lambda: MB2FBS(passes=10**12), "passes=10{12}"),
    (lambda: TAG(best_rewards=10**12), "best_rewards=10{12}"),
    (lambda: TAG(delta=float("inf")), "delta=inf"),
    (lambda: UCT(exploration=float("nan")), "exploration=nan"),
    (lambda: UCT(num_evaluations=10**30), "num_evaluations=10{30}"),
    (lambda: RandomSearch(num_schedules=10**30), "num_schedules=10{30}"),
    (lambda: IteratedSearch(RandomSearch(), workers=10**30), "workers=10{30}"),
    (lambda: SyntheticTree(branching=2**31 - 1), "branching=2147483647"),
    (lambda: SyntheticTree(depth=2**31 - 1), "depth=2147483647"),
    (lambda: TAG().solve(SMALL, evaluations=10**30), "evaluations=10{30}"),
    (lambda: TAG().solve(SMALL, evaluations=1.5), "evaluations=1.5"),  # type: ignore[arg-type]
    (lambda: TAG().solve(SMALL, seconds="1"), "seconds='1'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "message"), ABSURD, ids=[message for _, message in ABSURD])
def test_absurd_numbers_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


@pytest.mark.parametrize(
    "planner",
    [
        BeamSearch(beam_size=2**31 - 1),
        MB2FBS(2**62, 2**61, None, memory=2**63 - 2),
        MCTS(trees=2**16, iterations=1, tree_memory=1),
        MCTS(trees=2, seconds_per_decision=1e300, tree_memory=2**62),
        TAG(best_rewards=2**31 - 1),
        IteratedSearch(RandomSearch(num_schedules=10), workers=2**40, rounds=2),
    ],
    ids=lambda planner: repr(planner)[60:],
)
def test_large_numbers_are_no_reservation(planner: NativeSearch | IteratedSearch) -> None:
    """They say what may be used, not what is."""
    assert len(planner.solve(SMALL).actions) == SMALL.max_depth()


def limited(program: str, megabytes: int) -> str:
    """What a program prints in a process whose address space may grow by this much."""
    preamble = f"""
        import resource
        from halidegym import OutOfResources
        from halidegym.agents import *
        from halidegym.native._core import SyntheticTree

        tree = SyntheticTree(branching=10, depth=9)
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ({megabytes} << 20),) * 2)
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(preamble) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout


def test_threads_that_cannot_start_are_an_error() -> None:
    """Each wants megabytes of stack. Those that have started end, and the next search works."""
    searches = """
        for search in (
            lambda: MCTS(trees=200, threads=200, iterations=10**9).solve(tree),
            lambda: BeamSearch(beam_size=200, threads=200).solve(tree),
            lambda: IteratedSearch(RandomSearch(), workers=200).solve(tree, seconds=3600),
        ):
            try:
                search()
            except OutOfResources as error:
                print(error)
        print(MCTS(trees=2, iterations=10, threads=1).solve(tree).ended_by)
    """
    trees, beam, workers, after = limited(searches, megabytes=300).splitlines()
    assert "of 200 cannot start" in trees and trees.endswith("give fewer threads")
    assert "of 200 cannot start" in beam and beam.endswith("give fewer threads")
    assert "of 200 cannot start" in workers and workers.endswith("give fewer workers")
    assert after == "finished"


def test_too_little_memory_for_the_search_is_an_error() -> None:
    search = """
        try:
            BeamSearch(beam_size=2**31 - 1).solve(tree)
        except OutOfResources as error:
            print(error)
    """
    assert "ran out of memory" in limited(search, megabytes=100)


def test_reference_autoschedulers_search_no_other_spaces() -> None:
    with pytest.raises(InvalidParameter, match=r"Mullapudi2016 schedules pipelines only.*BeamSearch"):
        Mullapudi2016().solve(SMALL)
