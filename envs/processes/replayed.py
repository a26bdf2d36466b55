"""Objects on the nodes of a Ray cluster that outlive their workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from halidegym.envs.processes.ray_cluster import RayCluster


class Replayed:
    """An object on a node, which is what the calls so far have made of it.

    If its worker or node dies, Ray has it made again somewhere, and all calls are made again there.

    Args:
        cluster: where; it ends the object when it is closed.
        make: what makes an object to be called with one argument; importable by its module and name.
        *args: its arguments.
        num_cpus: which the object holds.
    """

    def __init__(self, cluster: RayCluster, make: Callable[..., Callable[[Any], Any]], *args: Any, num_cpus: int = 1):
        self._cluster = cluster
        self._object = cluster.start(_Follower, make, *args, num_cpus=num_cpus)
        self._first = 0  # number of the first call that has to be made again
        self._calls: list[Any] = []
        self._call: Any = None
        self._result: Any = None

    def begin(self, argument: Any, *, anew: bool = False) -> None:
        """Call it. Before the next call, wait until `is_done`.

        Args:
            argument: picklable, as the result must be.
            anew: whether the calls so far make no difference to this one and those that follow.
        """
        if anew:
            self._first += len(self._calls)
            self._calls = []
        self._calls.append(argument)
        number = self._first + len(self._calls) - 1
        self._call = self._cluster.ask(self._object, number, [argument], anew)

    def is_done(self, timeout_s: float) -> bool:
        """Wait for the call as long as that, and return whether it is over.

        Raises:
            WorkersLost: so many workers died that it has no result, or there is none left for it.
            UnlikeNodes: the node is not like this one.
            Exception: whatever the call raised.
        """
        if not self._cluster.is_done(self._call, timeout_s):
            self._cluster.check_room()
            return False
        self._result = self._cluster.result(self._call)
        if isinstance(self._result, _Forgotten):
            self._call = self._cluster.ask(self._object, self._first, self._calls, True)
            return False
        return True

    def result(self) -> Any:
        """What the call returned that is over."""
        return self._result

    def repeat_as(self, argument: Any) -> None:
        """If the last call has to be made again, make it with this argument instead."""
        self._calls[-1] = argument


@dataclass(frozen=True)
class _Forgotten:
    """In place of a result: earlier calls are missing here."""


class _Follower:
    """The object in its worker, which knows how many calls it has followed."""

    def __init__(self, make: Callable[..., Callable[[Any], Any]], *args: Any) -> None:
        self._object = make(*args)
        self._count = 0
        self._result: Any = None

    def __call__(self, first: int, arguments: Sequence[Any], is_begin: bool) -> Any:
        """Make the calls from a number on, but for those that have been made; return the result of the last one."""
        if is_begin:
            self._count = max(self._count, first)
        if self._count < first:
            return _Forgotten()
        for argument in arguments[self._count - first :]:
            self._result = self._object(argument)
            self._count += 1
        return self._result
