"""How far a tuning run is: the best time so far against the baseline's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from halidegym.agents.budget import Budget
from halidegym.envs.timing.measurements import milliseconds

if TYPE_CHECKING:
    from rich.progress import Progress


class TuningProgress:
    """Shows a bar on the error stream, or, where that is no terminal, a line for each new fastest schedule.

    Args:
        bar: to show it with.
        title: what stands before it.
        budget: of the run, whose seconds, or else measurements, are full at the end.
    """

    def __init__(self, bar: Progress, title: str, budget: Budget) -> None:
        self._bar, self._title, self._by_time = bar, title, budget.seconds is not None
        self._begin, self._shown = time.perf_counter(), 0.0
        total = budget.seconds if self._by_time else budget.measurements
        self._task = bar.add_task(title, total=total, words="searching for the baseline")

    def __call__(self, *_: float) -> bool:
        """Go on, as the callback of the search for the baseline."""
        self._bar.update(self._task, completed=self._done(0))
        return True

    def show(self, measured: int, baseline: str, baseline_s: float, speedup: float) -> None:
        """Show how many were measured, what the baseline takes, and how many times as fast the best so far is."""
        best, beside = milliseconds(baseline_s / speedup), milliseconds(baseline_s)
        words = f"best {best} ms ({speedup:.2f}x), {baseline} {beside} ms"
        self._bar.update(self._task, completed=self._done(measured), words=f"{measured} measured, {words}")
        if not self._bar.console.is_terminal and speedup > self._shown:
            seconds = time.perf_counter() - self._begin
            self._bar.console.print(f"{self._title}: {seconds:.0f} s, {measured} measured, {words}", soft_wrap=True)
        self._shown = max(self._shown, speedup)

    def _done(self, measured: int) -> float:
        return time.perf_counter() - self._begin if self._by_time else measured


@contextmanager
def tuning_progress(title: str, budget: Budget) -> Iterator[TuningProgress]:
    """Show progress while the context is open."""
    from rich.console import Console  # here, as in `progress_bar`
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield TuningProgress(bar, title, budget)
