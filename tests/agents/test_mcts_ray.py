"""The trees of one search on the nodes of a Ray cluster, whoever dies."""

from __future__ import annotations

import pytest

from ray_nodes import RayNodes

# In a process of its own, which Ray's threads and warnings end with.
SEARCHES = """
from dataclasses import replace
from halidegym.agents import MCTS
from halidegym.agents.budget import Budget
from halidegym.envs.processes.ray_cluster import RayCluster, WorkersLost
from halidegym.envs.sources import load_problem

problem = load_problem("harris", target="x86-64-linux-sse41", parallelism=4)
agent = MCTS(trees=3, iterations=10, threads=1)

def outcome(plan):
    history = [(step.evaluations, step.expansions, step.cost) for step in plan.history]
    return replace(plan, seconds=0.0, cpu_seconds=0.0, history=()), history

def search(backend, *accidents):
    left = list(accidents)

    def on_progress(decision, *_):
        if left and decision >= left[0][0]:
            print(left.pop(0)[1], flush=True)
            input()
        return True

    return outcome(replace(agent, backend=backend).search(problem, Budget(), 3, on_progress))

here = search("threading")
with RayCluster():  # one connection for all
    print(search("ray") == here)
    print(search("ray", (2, "kill"), (6, "kill")) == here)
    try:
        replace(agent, backend="ray", workers=3).plan(problem)
    except ValueError as error:
        print(error)
    try:
        search("ray", (2, "remove"))
    except WorkersLost as error:
        print(error)
"""


@pytest.mark.slow
def test_trees_find_what_they_find_in_one_process() -> None:
    with RayNodes() as nodes:
        for _ in range(2):
            nodes.add(num_cpus=1)
        told = nodes.follow(SEARCHES)
    assert told == [
        "True",
        "True",
        "workers=3 and threads=1, but the Ray cluster has 2 CPUs; give fewer of them",
        "nodes of the Ray cluster were lost: there are 1 CPUs left, but 2 are held; start others, or give fewer workers",
    ]
