"""Work that one thread at a time does, and that no fork of the process falls into."""

from __future__ import annotations

import os
import threading


class Turn:
    """Of one thread at a time, in the order in which they come: a plain lock can go to the same thread again and again.

    A fork waits until the work is done: the locks that a thread holds meanwhile, those of libraries among them, would stay
    locked for ever in the other process. Use as a context. It stays as long as the process, so make one for each kind of
    work, and not for each object.
    """

    def __init__(self) -> None:
        self._next, self._now = threading.Lock(), threading.RLock()  # who has it may fork, too
        os.register_at_fork(before=self._begin_fork, after_in_parent=self._end_fork, after_in_child=self._end_fork)

    def __enter__(self) -> None:
        with self._next:
            self._now.acquire()

    def __exit__(self, *_exception: object) -> None:
        self._now.release()

    def _begin_fork(self) -> None:
        self._next.acquire()  # and keep it, or a thread that comes meanwhile would have it, which the other process lacks
        self._now.acquire()

    def _end_fork(self) -> None:
        self._now.release()
        self._next.release()
