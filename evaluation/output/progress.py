"""A progress bar for a known number of steps."""

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
