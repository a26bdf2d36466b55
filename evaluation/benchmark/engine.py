"""Running the cells of a run that are missing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from halidegym.envs.processes.workers import Workers
from halidegym.evaluation.benchmark.agent_code import current_code
from halidegym.evaluation.benchmark.attempts import search_budget
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.lanes import lanes_for
from halidegym.evaluation.benchmark.one_problem import OneProblem
from halidegym.evaluation.benchmark.run import Run
from halidegym.native._core import Error

OnCell = Callable[[Cell, CellResult, float], None]
"""Called with each cell that is done, what came of it, and about how many seconds the others will take."""


def run_missing(
    run: Run,
    kept: Mapping[str, CellResult],
    *,
    workers: Workers = 1,
    on_cell: OnCell = lambda *_: None,
) -> None:
    """Run the cells that have no result to be kept, and write each result as soon as it is there.

    Args:
        run: of a folder.
        kept: results that are not made again, see `kept_results`.
        workers: cells that run at a time.
        on_cell: see `OnCell`; called from this thread.

    Raises:
        OSError: a result cannot be written.
        FormatError: a result that is there is damaged.
        Error: the Ray cluster cannot be used; or a pipeline has become another problem since it had results, see
            `OneProblem`.
    """
    one_problem = OneProblem(run.path)
    missing = {name: cell for name, cell in run.cells.items() if name not in kept}
    if not missing:
        return
    for name, result in kept.items():
        one_problem.add(name, result)
    baselines = _baselines(run)
    outlook = _Outlook(run, kept)
    lanes = lanes_for(workers, run.suite)
    try:
        for name, cell in missing.items():
            baseline = baselines[cell.pipeline] if cell.budget is not None and cell.budget.needs_baseline else None
            lanes.submit(name, cell, None if baseline is None else kept.get(baseline, baseline))
        for name, attempt in lanes.completed():
            one_problem.add(name, attempt.result)
            attempt.result.save(run.path / name)
            outlook.add(name, attempt.seconds)
            on_cell(run.cells[name], attempt.result, outlook.seconds_left(lanes.count))
    finally:
        lanes.close()


def kept_results(run: Run, *, retry: bool, edited: bool) -> dict[str, CellResult]:
    """The results that are not made again; those whose budget is in units of a baseline's that is made again, are, too.

    Args:
        run: of a folder.
        retry: leave out those that have failed.
        edited: leave out those of agents whose files have been edited since.
    """
    results = run.results()
    outdated = outdated_results(run, results) if edited else set()
    kept = {name: result for name, result in results.items() if not (retry and result.failure) and name not in outdated}
    baselines = _baselines(run)
    return {
        name: result
        for name, result in kept.items()
        if _has_its_budget(cell := run.cells[name], result, kept.get(baselines[cell.pipeline]))
    }


def outdated_results(run: Run, results: Mapping[str, CellResult]) -> set[str]:
    """The names of those of agents whose files have been edited since."""
    coded = {name: run.cells[name] for name, result in results.items() if result.code}
    settings = {cell.agent: cell.settings for cell in coded.values()}
    codes = {agent: current_code(each) for agent, each in settings.items()}
    return {name for name, cell in coded.items() if codes[cell.agent] not in (None, results[name].code)}


def _baselines(run: Run) -> dict[str, str]:
    """By pipeline the cell in whose units budgets are."""
    names: dict[str, str] = {}
    for name, cell in run.cells.items():
        if cell.agent == run.suite.baseline:
            names.setdefault(cell.pipeline, name)
    return names


def _has_its_budget(cell: Cell, result: CellResult, baseline: CellResult | None) -> bool:
    """Whether a search was given what its cell says, now that the baseline has come to this; None if that is to come."""
    if cell.budget is None or not cell.budget.needs_baseline:
        return True
    try:
        return baseline is not None and result.budget == search_budget(cell, baseline)
    except Error:  # the baseline has failed
        return bool(result.failure)


class _Outlook:
    """How long the rest will take: as long as the same agent took so far, or else all of them."""

    def __init__(self, run: Run, results: Mapping[str, CellResult]) -> None:
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
