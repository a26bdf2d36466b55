"""Searches, and trees of one search, on the nodes of a Ray cluster."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.rounds import Searches
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.ray_cluster import RayCluster
from halidegym.envs.processes.replayed import Replayed
from halidegym.native._core import InvalidParameter, MctsOptions, Space, TreeOrder, TreeReport, TreeShare

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


class TreesOnRay:
    """The trees of one search, shares of which live on the nodes. Use as a context: leaving it ends them.

    Args:
        make_options: parameters of the search, whose threads are those of each share, with a CPU each; picklable.
        workers: shares; None for as many as the cluster has CPUs for, and trees to fill them.

    Attributes:
        cpu_seconds: CPU time of all shares so far, that of searches whose results were lost left out.

    Raises:
        InvalidParameter: the cluster has too few CPUs for the workers.
        Error: there is no connection to the Ray cluster, or its nodes are not alike.
    """

    def __init__(self, make_options: Callable[[], MctsOptions], workers: int | None) -> None:
        self.cpu_seconds = 0.0
        self._make_options = make_options
        options = make_options()
        self._threads = options.threads
        self._cluster = RayCluster()
        self._shares: list[Replayed] = []
        room = self._cluster.num_cpus // self._threads
        self._count = min(workers or room, options.trees)
        if not 1 <= self._count <= room:
            self._cluster.close()
            raise InvalidParameter(
                f"workers={max(self._count, 1)} and threads={self._threads}, but the Ray cluster has "
                f"{self._cluster.num_cpus} CPUs; give fewer of them"
            )

    def __enter__(self) -> TreesOnRay:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.close()

    def of(self, space: Space) -> Callable[[TreeOrder, Callable[[int], bool]], list[TreeReport] | None]:
        """Let them grow, and return what `mcts` takes for them."""
        self._shares = [
            Replayed(self._cluster, hold_trees, space, self._make_options, part, self._count, num_cpus=self._threads)
            for part in range(self._count)
        ]
        return self._search

    def _search(self, order: TreeOrder, keep_searching: Callable[[int], bool]) -> list[TreeReport] | None:
        for share in self._shares:
            share.begin(order)
        try:
            for share in self._shares:
                while not share.is_done(_LOOK_S):
                    if not keep_searching(0):
                        return None
        except KeyboardInterrupt:
            return None
        reports: list[TreeReport] = []
        for share in self._shares:
            told, seconds = share.result()
            reports += told
            self.cpu_seconds += seconds
            share.repeat_as(order.repeated())
        return sorted(reports, key=lambda report: report.tree)


def hold_trees(
    space: Space, make_options: Callable[[], MctsOptions], part: int, parts: int
) -> Callable[[TreeOrder], tuple[list[TreeReport], float]]:
    """Hold one of so many parts of the trees of a search, on a node."""
    share = TreeShare(space, make_options(), part, parts)

    def search(order: TreeOrder) -> tuple[list[TreeReport], float]:
        start = time.process_time()
        reports = share.search(order)
        return reports, time.process_time() - start

    return search
