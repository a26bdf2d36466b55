"""One cell, in a process of its own, whatever becomes of it; with the budget that the baseline's result leads to."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace

from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess
from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.benchmark.cells import Cell, CellResult, run_cell
from halidegym.evaluation.benchmark.problems.kind import Problem
from halidegym.native._core import Error


@dataclass(frozen=True)
class Attempt:
    """A cell that was run.

    Attributes:
        result: what came of it.
        seconds: that it took, its process included; 0 if there was none.
    """

    result: CellResult
    seconds: float = 0.0


class CellProcesses:
    """The processes that cells run in, so that all of them can be ended at once."""

    def __init__(self) -> None:
        self._running = set[PythonProcess]()
        self._lock = threading.Lock()
        self._is_ended = False

    def run(self, cell: Cell, baseline: CellResult | None, limit: float, problem: Problem | None = None) -> Attempt:
        """Run a cell.

        Args:
            cell: what to run.
            baseline: the result in whose units the budget is; None if it is in none.
            limit: seconds after which the process is ended.
            problem: see `run_cell`.
        """
        try:
            budget = search_budget(cell, baseline)
        except Error as error:
            return failed(cell, str(error))
        begin = time.perf_counter()
        with PythonProcess() as process:
            with self._lock:
                self._running.add(process)
                if self._is_ended:
                    process.kill()
            try:
                result = process.call(run_cell, cell, budget, problem, timeout_s=limit)
            except ProcessEnded as ended:
                words = f"its process {ended.finished.ending}: {ended.finished.last_words}"
                result = replace(failed(cell, words.removesuffix(": ")).result, budget=budget)
            finally:
                with self._lock:
                    self._running.discard(process)
        return Attempt(result, time.perf_counter() - begin)

    def end(self) -> None:
        """End all processes, and those that are started later."""
        with self._lock:
            self._is_ended = True
            for process in self._running:
                process.kill()


def failed(cell: Cell, reason: str) -> Attempt:
    """What is left of a cell that found nothing."""
    return Attempt(CellResult(cell.to_dict(), {}, failure=reason, machine=this_machine().fingerprint))


def search_budget(cell: Cell, baseline: CellResult | None) -> dict[str, float]:
    """The budget of a cell as `Agent.plan` takes it.

    Raises:
        Error: it is in units of what the baseline took, and that has failed, or does not count it.
    """
    if cell.budget is None:
        return {}
    budget: dict[str, float] = cell.budget.model_dump(exclude_none=True)
    for name, taken in (("seconds", "seconds"), ("evaluations", "distinct_evaluations")):
        factor = budget.pop(f"baseline_{name}", None)
        if factor is not None:
            if baseline is None or baseline.plan is None:
                raise Error(f"the baseline failed, and its {name} were to be the budget")
            count = baseline.count(taken)
            if not count:
                raise Error(f"the baseline counts no {name}, which were to be the budget; give another budget")
            budget[name] = factor * count if name == "seconds" else max(1, round(factor * count))
    return budget
