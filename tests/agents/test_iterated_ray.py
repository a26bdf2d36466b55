"""Rounds on the nodes of a Ray cluster."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from halidegym.agents import MCTS, IteratedSearch, RandomSearch
from halidegym.native._core import InvalidParameter, SyntheticTree
from ray_nodes import RayNodes

# In a process of its own, which Ray's threads and warnings end with.
COMPARISON = """
from dataclasses import replace
from halidegym.agents import MCTS, IteratedSearch
from halidegym.envs.sources import load_problem

problem = load_problem("toy_blur", target="x86-64-linux-sse41", parallelism=4)
trees = IteratedSearch(MCTS(trees=1, greedy_trees=0, threads=1), rounds=4, workers=2)

def outcome(plan):
    history = [(step.evaluations, step.expansions, step.cost) for step in plan.history]
    return replace(plan, seconds=0.0, cpu_seconds=0.0, history=()), history

for budget in ({}, {"evaluations": 300}):
    here, there = (replace(trees, backend=name).plan(problem, seed=3, **budget) for name in ("threading", "ray"))
    assert len(here.pass_costs) > 1 and outcome(here) == outcome(there)
try:
    replace(trees, workers=1000, backend="ray").plan(problem, seconds=1)
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_trees_find_what_they_find_in_threads() -> None:
    with RayNodes() as nodes:
        for _ in range(2):
            nodes.add(num_cpus=1)
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(COMPARISON)],
            env=nodes.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "workers=1000, but the Ray cluster has 2 CPUs; give fewer workers\n"


def test_what_does_not_travel_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="give threading or ray"):
        IteratedSearch(RandomSearch(), backend="dask")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="not spaces"):
        IteratedSearch(RandomSearch(), backend="ray").solve(SyntheticTree(seed=1))
    assert IteratedSearch(MCTS(measured=True)).measures and not IteratedSearch(MCTS(), backend="ray").measures
