"""A progress bar for searches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from halidegym.agents.budget import Budget

#: Receives pass (or round), depth, evaluations, expansions and the best cost so far; returns whether to go on.
OnProgress = Callable[[int, int, int, int, float], bool]


@contextmanager
def progress_bar(title: str, total: float | None, done: Callable[[int, int, int], float]) -> Iterator[OnProgress]:
    """Show a bar on the error stream, if that is a terminal, while the context is open.

    Args:
        title: what is going on.
        total: the value of `done` at the end; None if it cannot be known.
        done: how far the search is, from pass, depth and evaluations.
    """
    # Here, since most processes that import agents never show a bar, and rich takes a tenth of their time to begin.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[evaluations]:,} evaluations, best cost {task.fields[best]}"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total, evaluations=0, best="-")

        def update(search_pass: int, depth: int, evaluations: int, _expansions: int, best: float) -> bool:
            best_text = f"{best:.6g}" if math.isfinite(best) else "-"
            bar.update(task, completed=done(search_pass, depth, evaluations), evaluations=evaluations, best=best_text)
            return True

        yield update


def budget_bar(title: str, budget: Budget) -> AbstractContextManager[OnProgress]:
    """Show how much of a limited budget is used up, by evaluations if they are limited, else by time."""
    if budget.evaluations is not None:
        return progress_bar(title, budget.evaluations, lambda _pass, _depth, evaluations: evaluations)
    start = time.perf_counter()
    return progress_bar(title, budget.seconds, lambda *_: time.perf_counter() - start)
