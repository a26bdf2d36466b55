"""Where the cells of a run are run: several at a time on this machine, or on the nodes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Protocol

from halidegym.envs.processes.workers import RAY, Workers
from halidegym.evaluation.benchmark.attempts import Attempt, CellProcesses
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.suite import Suite


class Lanes(Protocol):
    """Runs cells, as many at a time as there is room for.

    Attributes:
        count: about how many that are.
    """

    count: int

    def submit(self, name: str, cell: Cell, baseline: str | CellResult | None) -> None:
        """Have a cell run.

        Args:
            name: of the cell.
            cell: what to run.
            baseline: the result in whose units the budget is, or the name of the cell that was submitted for it.
        """

    def completed(self) -> Iterator[tuple[str, Attempt]]:
        """Yield all that was submitted as soon as it is done."""

    def close(self) -> None:
        """End what is still going on."""


def lanes_for(workers: Workers, suite: Suite) -> Lanes:
    """The lanes for the cells of a suite.

    Raises:
        Error: there is no connection to the Ray cluster, or its nodes are not alike.
    """
    if workers == RAY:
        from halidegym.evaluation.benchmark.ray_lanes import RayLanes  # brings ray, which others need not have

        return RayLanes(suite)
    return LocalLanes(suite, workers)


class LocalLanes:
    """Cells on this machine."""

    def __init__(self, suite: Suite, count: int) -> None:
        self.count = count
        self._limit = suite.cell_seconds
        self._jobs: dict[str, Future[Attempt]] = {}
        self._processes = CellProcesses()
        self._executor = ThreadPoolExecutor(max_workers=count)

    def submit(self, name: str, cell: Cell, baseline: str | CellResult | None) -> None:
        """See `Lanes`."""
        self._jobs[name] = self._executor.submit(self._run, cell, baseline)

    def _run(self, cell: Cell, baseline: str | CellResult | None) -> Attempt:
        # The baseline's job was given to the executor before those that wait for it.
        known = self._jobs[baseline].result().result if isinstance(baseline, str) else baseline
        return self._processes.run(cell, known, self._limit)

    def completed(self) -> Iterator[tuple[str, Attempt]]:
        """See `Lanes`."""
        names = {future: name for name, future in self._jobs.items()}
        for future in as_completed(names):
            yield names[future], future.result()

    def close(self) -> None:
        """See `Lanes`."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._processes.end()
        self._executor.shutdown()
