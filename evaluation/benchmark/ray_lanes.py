"""Cells of a run on the nodes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.processes.ray_cluster import RayCluster, WorkersLost
from halidegym.envs.timing.machine import installation_and_machine
from halidegym.evaluation.arguments.agent import load_agent
from halidegym.evaluation.benchmark.attempts import Attempt, CellProcesses, failed
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.problems import kind_of
from halidegym.evaluation.benchmark.problems.kind import Problem
from halidegym.evaluation.benchmark.suite import Suite


class RayLanes:
    """Cells on the nodes of a Ray cluster, which must be machines like this one.

    Pipelines are analysed here, so that the files of their authors need not be on the nodes.
    """

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._cells: dict[str, Cell] = {}
        self._calls: dict[str, Any] = {}
        self._problems: dict[str, Any] = {}
        self._cluster = RayCluster(installation_and_machine)
        self.count = self._cluster.num_cpus

    def submit(self, name: str, cell: Cell, baseline: str | CellResult | None) -> None:
        """See `Lanes`."""
        if cell.pipeline not in self._problems:
            self._problems[cell.pipeline] = self._cluster.put(_problem(cell))
        self._cells[name] = cell
        self._calls[name] = self._cluster.submit(
            run_attempt,
            cell,
            self._calls[baseline] if isinstance(baseline, str) else baseline,
            self._suite.cell_seconds,
            self._problems[cell.pipeline],
            timed=looks_at_the_clock(cell, self._suite),
        )

    def completed(self) -> Iterator[tuple[str, Attempt]]:
        """See `Lanes`."""
        names = {call: name for name, call in self._calls.items()}
        for call in self._cluster.completed(list(names)):
            try:
                yield names[call], self._cluster.result(call)
            except WorkersLost as error:
                yield names[call], failed(self._cells[names[call]], str(error))

    def close(self) -> None:
        """See `Lanes`."""
        self._cluster.close()


def run_attempt(cell: Cell, baseline: Attempt | CellResult | None, limit: float, problem: Problem | None) -> Attempt:
    """Run a cell on a node; see `CellProcesses.run`."""
    known = baseline.result if isinstance(baseline, Attempt) else baseline
    return CellProcesses().run(cell, known, limit, problem)


def looks_at_the_clock(cell: Cell, suite: Suite) -> bool:
    """Whether another cell beside it would change what comes of it: it measures, or seconds are its budget or a unit."""
    budgets = [*suite.budgets, *(budget for agent in suite.agents.values() for budget in agent.budgets or [])]
    is_unit = cell.agent == suite.baseline and any(budget.baseline_seconds is not None for budget in budgets)
    is_limited = cell.budget is not None and bool(cell.budget.seconds or cell.budget.baseline_seconds)
    agent = load_agent(cell.settings.agent, cell.settings.parameters, cell.settings.preset)
    return is_unit or is_limited or agent.measures or kind_of(cell.pipeline).measures(cell.pipeline)


def _problem(cell: Cell) -> Problem | None:
    """The problem of a cell; None if there is none, which the cell will find out, too."""
    try:
        return run_isolated(kind_of(cell.pipeline).load, cell.pipeline, cell.target, cell.parallelism)
    except Exception:  # of a pipeline of the user
        return None
