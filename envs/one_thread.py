"""Calls that must not overlap: an object that belongs to one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable

from halidegym.native._core import Error


class OneThread:
    """The time of a call that a call of another thread would spoil: `turn.begin()`, and `turn.end()` in any case.

    A lock would keep two threads apart, but each would then see the outcome of calls that it did not make. Copies and
    pickles are free. No context manager, since that alone takes a tenth of the time of a short step.
    """

    __slots__ = ("_in_use", "end")

    def __init__(self) -> None:
        self._in_use = threading.Lock()
        self.end: Callable[[], None] = self._in_use.release

    def begin(self) -> None:
        """Begin a call.

        Raises:
            Error: a call of another thread is under way.
        """
        if not self._in_use.acquire(False):
            raise Error("Another thread is using this environment; give each thread an environment of its own")

    def __reduce__(self) -> tuple[type[OneThread], tuple[()]]:
        return OneThread, ()
