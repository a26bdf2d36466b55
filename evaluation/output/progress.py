"""Progress bars for known numbers of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def steps_bar(total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on the error stream, if that is a terminal, while the context is open.

    Yields:
        A function to call when a step begins, with a text that says what it does.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total, completed=-1)

        def begin(text: str) -> None:
            # The step before this one is over.
            progress.update(task, description=escape(text), advance=1)

        yield begin


@contextmanager
def phases_bar() -> Iterator[tuple[Callable[[str, int], None], Callable[[str], None]]]:
    """The same for work in several phases, whose numbers of steps are known when they begin.

    Yields:
        A function to call when a phase begins, with what it does and its number of steps; and one to call when a step is
        over, with a text.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("")

        def begin(text: str, steps: int) -> None:
            progress.reset(task, total=steps, description=escape(text))

        def step(text: str) -> None:
            progress.update(task, description=escape(text), advance=1)

        yield begin, step
