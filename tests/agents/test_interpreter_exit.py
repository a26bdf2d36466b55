"""An interpreter that exits while other threads search ends them, and its status is 0."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

SEARCHES = {
    "beam": "BeamSearch(beam_size=10**6).plan(harris)",
    "trees on threads": "MCTS(trees=4, iterations=10**9, threads=2).plan(harris)",
    "a space in Python": "TAG(num_evaluations=10**9).solve(PythonTree(SyntheticTree(branching=10, depth=9)))",
    "rounds": "IteratedSearch(RandomSearch(), workers=2).plan(harris, seconds=3600)",
    "episodes": "play()",
    "plans that run": "run_a_plan()",
    "costs by a function": "ask_for_costs()",
    "one after another": "[RandomSearch(num_schedules=20).plan(harris) for _ in range(10**6)]",
}


def exits(daemon: str) -> subprocess.CompletedProcess[str]:
    """Exit while four threads do this."""
    program = f"""
        import threading, time
        import numpy as np
        from halidegym.agents import *
        from halidegym.envs.sources import load_problem
        from halidegym.envs.problems.rules import Rules
        from halidegym.native._core import Environment, ObservationShape, SyntheticTree, TransformPlan, TransformSpace
        from search_spaces_for_tests import PythonTree

        harris = load_problem("harris", parallelism=4)
        root = Rules().space(harris).initial_state()
        numbers = np.ones(65536, dtype=complex)

        def play():
            environment = Environment(ObservationShape(stages=64, edges=64, loops=32, decisions=64))
            while True:
                environment.start(root)
                while not environment.state.is_complete:
                    environment.step(0)

        def run_a_plan():
            plan = TransformPlan(65536, TransformSpace(65536, lanes=[1]).root().plan)
            while True:
                plan.run(numbers)

        def ask_for_costs():
            while True:
                space = TransformSpace(64, cost=lambda plan: sum(float(i) for i in range(3000)))
                space.cost(space.root())

        for _ in range(4):
            threading.Thread(target=lambda: {daemon}, daemon=True).start()
        time.sleep(0.3)
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, cwd="tests"
    )


@pytest.mark.parametrize("daemon", SEARCHES.values(), ids=SEARCHES)
def test_searches_in_daemon_threads_are_stopped(daemon: str) -> None:
    ended = exits(daemon)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_search_begun_at_exit_still_works() -> None:
    """What was registered before runs after ours, in the thread that exits."""
    program = """
        import atexit
        atexit.register(lambda: print(TAG(num_evaluations=10).solve(SyntheticTree()).evaluations))
        from halidegym.agents import TAG
        from halidegym.native._core import SyntheticTree
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, "10", "")


def test_a_child_process_does_not_wait_for_threads_that_it_does_not_have() -> None:
    program = """
        import os, sys, threading, time
        from halidegym.agents import TAG
        from halidegym.native._core import SyntheticTree

        search = lambda: TAG(num_evaluations=10**9).solve(SyntheticTree(branching=10, depth=9))
        threading.Thread(target=search, daemon=True).start()
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            sys.exit(3)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=120)
    assert ended.returncode == 3
