"""Searches on the nodes of a Ray cluster."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.rounds import Searches
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.ray_cluster import RayCluster
from halidegym.native._core import InvalidParameter

_LOOK_S = 0.1  # between two looks at a search


@contextlib.contextmanager
def searches_on_ray(at_once: int) -> Iterator[Searches]:
    """Searches on the nodes, each on one CPU; those that measure are alone on their node.

    A search that is to end early, because its callback says so, is ended there, and nothing is left of it but the first
    schedule that it comes by.

    Args:
        at_once: searches for which there must be a CPU at the same time.

    Raises:
        InvalidParameter: there are fewer CPUs.
        Error: there is no connection to the Ray cluster, or its nodes are not alike.
    """
    with RayCluster() as cluster:
        if at_once > cluster.num_cpus:
            raise InvalidParameter(
                f"workers={at_once}, but the Ray cluster has {cluster.num_cpus} CPUs; give fewer workers"
            )
        problems: dict[SchedulingProblem, Any] = {}

        def search(
            agent: Agent, problem: SchedulingProblem, budget: Budget, seed: int, on_progress: OnProgress
        ) -> Plan:
            if problem not in problems:
                problems[problem] = cluster.put(problem)
            call = cluster.submit(search_here, agent, problems[problem], budget, seed, timed=agent.measures)
            while not cluster.is_done(call, _LOOK_S):
                if not on_progress(0, 0, 0, 0, math.inf):
                    cluster.end(call)
                    return agent.search(problem, budget, seed, on_progress)
            return cluster.result(call)  # type: ignore[no-any-return]

        yield search


def search_here(agent: Agent, problem: SchedulingProblem, budget: Budget, seed: int) -> Plan:
    """Search on a node."""
    return agent.search(problem, budget, seed)
