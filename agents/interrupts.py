"""Ctrl-C while a search runs methods of Python: it ends the search between two of them, and not one of them halfway."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from halidegym.agents.progress import OnProgress


@contextmanager
def interruptible(on_progress: OnProgress | None) -> Iterator[OnProgress]:
    """While the context is open, Ctrl-C makes a callback say no, so that the search returns its best so far.

    Without it, Python raises KeyboardInterrupt in whatever method it is in, a space's `cost` as a rule, and all that was
    found is lost. A second Ctrl-C does raise it: a method may hang. Handlers of others are left alone, and so are threads
    other than the main one, where Python handles no signals.

    Args:
        on_progress: which is asked, too.
    """
    interrupted = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            signal.default_int_handler(number, frame)
        interrupted = True

    def go_on(*state: Any) -> bool:
        return not interrupted and (on_progress is None or on_progress(*state))

    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_ours:
        signal.signal(signal.SIGINT, remember)
    try:
        yield go_on
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
