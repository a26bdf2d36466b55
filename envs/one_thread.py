"""Calls that must not overlap: an object that belongs to one thread at a time."""

from __future__ import annotations

import threading
from types import TracebackType

from halidegym.native._core import Error


class OneThread:
    """The time of a call that a call of another thread would spoil: `with turn: ...`.

    A lock would keep two threads apart, but each would then see the outcome of calls that it did not make. Copies and
    pickles are free.
    """

    def __init__(self) -> None:
        self._in_use = threading.Lock()

    def __enter__(self) -> None:
        """Begin a call.

        Raises:
            Error: a call of another thread is under way.
        """
        if not self._in_use.acquire(blocking=False):
            raise Error("Another thread is using this environment; give each thread an environment of its own")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in_use.release()

    def __reduce__(self) -> tuple[type[OneThread], tuple[()]]:
        return OneThread, ()
