"""Progress in known numbers of steps: a bar on a terminal, and now and then a line where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from halidegym.evaluation.output.console import output_console

LINE_EVERY_S = 60.0
"""Seconds between lines at least, so that the log of hours can be read, and what takes less than this says nothing."""


@contextmanager
def steps_bar(total: int) -> Iterator[Callable[[str], None]]:
    """Show progress on the error stream while the context is open.

    Yields:
        A function to call when a step begins, with a text that says what it does.
    """
    with _shown() as shown:
        shown.begin("", total, completed=-1)
        yield shown.step  # the step before this one is over


@contextmanager
def phases_bar() -> Iterator[tuple[Callable[[str, int], None], Callable[[str], None]]]:
    """The same for work in several phases, whose numbers of steps are known when they begin.

    Yields:
        A function to call when a phase begins, with what it does and its number of steps; and one to call when a step is
        over, with a text.
    """
    with _shown() as shown:
        yield shown.begin, shown.step


@contextmanager
def _shown() -> Iterator[_Shown]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = output_console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Shown(progress)


class _Shown:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._id = progress.add_task("")
        self._begun_at = self._said_at = time.monotonic()

    def begin(self, text: str, steps: int, completed: int = 0) -> None:
        self._begun_at = time.monotonic()
        self._progress.reset(self._id, total=steps, completed=completed, description=escape(text))

    def step(self, text: str) -> None:
        self._progress.update(self._id, advance=1, description=escape(text))
        now = time.monotonic()
        if not self._progress.console.is_terminal and now - self._said_at >= LINE_EVERY_S:
            self._said_at = now
            task = self._progress.tasks[self._id]
            line = f"{text}: {task.completed:,} of {task.total:,}, {timedelta(seconds=int(now - self._begun_at))}"
            self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
