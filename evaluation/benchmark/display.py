"""Running a suite, and showing it on the error stream."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.envs.processes.workers import Workers
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.engine import kept_results, outdated_results, run_missing
from halidegym.evaluation.benchmark.run import Run, begin, check_free
from halidegym.evaluation.benchmark.suite import Suite
from halidegym.evaluation.benchmark.timings import time_missing


def run_suite(
    suite: Suite,
    folder: Path,
    *,
    workers: Workers = 1,
    retry: bool = False,
    edited: bool = False,
    next_step: str = "",
) -> Run:
    """Run what is missing of a suite in a folder, and show it on the error stream; what to do next, too, at the end.

    Raises:
        InvalidParameter, FormatError: the folder has something else, or is damaged.
        Error: the Ray cluster cannot be used.
        OSError: it cannot be written.
    """
    check_free(folder)  # before a lock is left in it
    with FolderLock(folder):
        run = begin(folder, suite)
        kept = kept_results(run, retry=retry, edited=edited)
        with _Display(run, kept) as display:
            run_missing(run, kept, workers=workers, on_cell=display.cell)
            run = Run(folder)
            time_missing(run, display.timing)
    run = Run(folder)
    results = run.results()
    outdated = outdated_results(run, results)
    for agent in dict.fromkeys(cell.agent for name, cell in run.cells.items() if name in outdated):
        click.echo(
            f"{agent} has been edited since some of its cells were run. To run these again, add --edited", err=True
        )
    failed = sum(bool(result.failure) for result in results.values())
    done = f"{folder}: {len(run.cells)} cells are done{f', {failed} of them failed' if failed else ''}."
    click.echo(" ".join(filter(None, (done, next_step))), err=True)
    return run


class _Display:
    """What is going on: a bar on a terminal, and a line a cell elsewhere."""

    def __init__(self, run: Run, kept: Mapping[str, CellResult]) -> None:
        self._console = Console(stderr=True)
        self._done = len(kept)
        self._total = len(run.cells)
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._task = self._progress.add_task("", total=self._total, completed=self._done)

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def cell(self, cell: Cell, result: CellResult, seconds_left: float) -> None:
        """A cell is done."""
        self._done += 1
        left = f"about {_duration(seconds_left)} left" if self._done < self._total else "searches done"
        self._progress.update(self._task, completed=self._done, description=escape(f"{left}; {cell.label}"))
        cost = "done" if result.cost is None else f"cost {result.cost:.6g}"
        outcome = f"failed: {result.failure.splitlines()[0]}" if result.failure else cost
        if result.failure or not self._console.is_terminal:
            self._say(f"{self._done}/{self._total} {cell.label}: {outcome}; {left}")

    def timing(self, pipeline: str) -> None:
        """The schedules of a pipeline are being timed."""
        self._progress.update(self._task, description=escape(f"timing the schedules of {pipeline}"))
        if not self._console.is_terminal:
            self._say(f"timing the schedules of {pipeline}")

    def _say(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
