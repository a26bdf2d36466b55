"""Running the cells of a run that are missing: each in a process of its own, whatever becomes of it."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace

from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess
from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.benchmark.cells import Cell, CellResult, run_cell
from halidegym.evaluation.benchmark.run import Run
from halidegym.native._core import Error

OnCell = Callable[[Cell, CellResult, float], None]
"""Called with each cell that is done, what came of it, and about how many seconds the others will take."""


def run_missing(run: Run, *, workers: int = 1, retry: bool = False, on_cell: OnCell = lambda *_: None) -> None:
    """Run the cells that have no result yet, and write each result as soon as it is there.

    Args:
        run: of a folder.
        workers: cells that run at a time.
        retry: run also those that have failed.
        on_cell: see `OnCell`; called from this thread.

    Raises:
        OSError: a result cannot be written.
        FormatError: a result that is there is damaged.
    """
    results = {name: result for name, result in run.results().items() if not (retry and result.failure)}
    missing = {name: cell for name, cell in run.cells.items() if name not in results}
    jobs: dict[str, Future[tuple[CellResult, float]]] = {}
    processes = _Processes()
    outlook = _Outlook(run, results)
    executor = ThreadPoolExecutor(max_workers=workers)

    def job(cell: Cell) -> tuple[CellResult, float]:
        try:
            budget = _budget(cell, baseline)
        except Error as error:
            return replace(_unrun(cell, {}), failure=str(error)), 0.0
        begin = time.perf_counter()
        return processes.run(cell, budget, run.suite.cell_seconds), time.perf_counter() - begin

    def baseline(pipeline: str) -> CellResult:
        """The baseline's result, whose job was given to the executor before those that ask for it."""
        (name, *_) = (
            name for name, cell in run.cells.items() if (cell.pipeline, cell.agent) == (pipeline, run.suite.baseline)
        )
        return results[name] if name in results else jobs[name].result()[0]

    try:
        for name, cell in missing.items():
            jobs[name] = executor.submit(job, cell)
        names = {future: name for name, future in jobs.items()}
        for future in as_completed(names):
            name, (result, seconds) = names[future], future.result()
            result.save(run.path / name)
            outlook.add(name, seconds)
            on_cell(run.cells[name], result, outlook.seconds_left(workers))
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        processes.end()
        executor.shutdown()


def _budget(cell: Cell, baseline: Callable[[str], CellResult]) -> dict[str, float]:
    """The budget of a cell as `Agent.plan` takes it.

    Raises:
        Error: it is in units of what the baseline took, and that has failed.
    """
    if cell.budget is None:
        return {}
    budget: dict[str, float] = cell.budget.model_dump(exclude_none=True)
    for name, taken in (("seconds", "seconds"), ("evaluations", "distinct_evaluations")):
        factor = budget.pop(f"baseline_{name}", None)
        if factor is not None:
            count = baseline(cell.pipeline).count(taken)
            if count is None:
                raise Error(f"the baseline failed, and its {name} were to be the budget")
            budget[name] = factor * count if name == "seconds" else max(1, round(factor * count))
    return budget


class _Processes:
    """The processes that cells run in, so that all of them can be ended at once."""

    def __init__(self) -> None:
        self._running = set[PythonProcess]()
        self._lock = threading.Lock()
        self._is_ended = False

    def run(self, cell: Cell, budget: dict[str, float], limit: float) -> CellResult:
        with PythonProcess() as process:
            with self._lock:
                self._running.add(process)
                if self._is_ended:
                    process.kill()
            try:
                return process.call(run_cell, cell, budget, timeout_s=limit)
            except ProcessEnded as ended:
                words = f"its process {ended.finished.ending}: {ended.finished.last_words}"
                return replace(_unrun(cell, budget), failure=words.removesuffix(": "))
            finally:
                with self._lock:
                    self._running.discard(process)

    def end(self) -> None:
        """End all processes, and those that are started later."""
        with self._lock:
            self._is_ended = True
            for process in self._running:
                process.kill()


def _unrun(cell: Cell, budget: dict[str, float]) -> CellResult:
    return CellResult(cell.to_dict(), budget, machine=this_machine().fingerprint)


class _Outlook:
    """How long the rest will take: as long as the same agent took so far, or else all of them."""

    def __init__(self, run: Run, results: dict[str, CellResult]) -> None:
        self._cells = run.cells
        self._done = set(results)
        self._took: dict[str, list[float]] = {}

    def add(self, name: str, seconds: float) -> None:
        self._done.add(name)
        self._took.setdefault(self._cells[name].agent, []).append(seconds)

    def seconds_left(self, workers: int) -> float:
        overall = [seconds for took in self._took.values() for seconds in took] or [0.0]
        expected = [
            statistics.fmean(self._took.get(cell.agent, overall))
            for name, cell in self._cells.items()
            if name not in self._done
        ]
        return sum(expected) / workers
