"""A Ray cluster that calls functions on its nodes; the only file that knows Ray.

Ray places the calls, hands results of some to others, and makes calls again whose worker or node died. What is here says
what a call needs, and that the nodes are alike.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from halidegym.envs.processes.workers import Conditions, installation
from halidegym.native._core import Error

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"Work on several machines needs {error.name}, which is not installed: pip install 'halidegym[ray]'",
        name=error.name,
    ) from error

TIMING = "timing"
"""The resource of which a node has one, and which is held by whoever must be the only one there that looks at the clock."""

_RETRIES = 3  # of a call whose worker or node died
_KNOCK_S = 10.0
_OBJECT_STORE_BYTES = 256 << 20  # of a cluster of our own; problems and results have kilobytes


class WorkersLost(Error):  # noqa: N818 - says what happened
    """A call has no result, because the workers that made it died as often as it was tried."""


class UnlikeNodes(Error):  # noqa: N818 - says what was found
    """A node of the cluster is not like this one, so that results would differ."""


class RayCluster:
    """A connection to a cluster. Use as a context: leaving it ends the calls that are still going on, and disconnects.

    The cluster is the one at the address in ``RAY_ADDRESS``, else the one that runs on this machine. If there is none, or
    the address is ``local``, one of this machine alone is started, and ended with the connection. A process that is
    connected already stays so.

    Args:
        conditions: says what has to be equal on all nodes; importable by its module and name.

    Attributes:
        num_cpus: of all nodes.
        num_timing: nodes that may measure.

    Raises:
        Error: there is no cluster at that address, or no connection to it.
        UnlikeNodes: a node is not like this one.
    """

    def __init__(self, conditions: Callable[[], Conditions] = installation) -> None:
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _connect()
        self._conditions, self._expected = conditions, conditions()
        self._pending = set[Any]()
        self._objects: list[Any] = []
        self._held_cpus = 0
        self.num_cpus, self.num_timing = (int(ray.cluster_resources().get(name, 0)) for name in ("CPU", TIMING))
        try:
            self._check_nodes()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def put(self, value: Any) -> Any:
        """Keep a value in the cluster, and return what stands for it among the arguments of calls."""
        return ray.put(value)

    def submit(self, function: Callable[..., Any], *args: Any, timed: bool = False) -> Any:
        """Have a function called on some node, and return what stands for its result.

        Args:
            function: importable by its module and name.
            *args: its arguments, picklable as the result must be; or what stands for one, which is waited for.
            timed: whether it looks at the clock. Then it is alone on its node: it holds the node's `TIMING`, and as many
                CPUs as the smallest node with that resource has.

        Raises:
            Error: no node offers `TIMING`.
        """
        needs = {"resources": {TIMING: 1}, "num_cpus": self._cpus_for_timing} if timed else {"num_cpus": 1}
        task = _task.options(name=function.__name__, **needs)
        call = task.remote(self._conditions, self._expected, os.getcwd(), function, *args)
        self._pending.add(call)
        return call

    def start(self, make: Callable[..., Any], *args: Any, num_cpus: int = 1) -> Any:
        """Have an object made on some node, which holds so many CPUs until the connection is closed.

        If its worker or node dies, it is made again, as it was at first.

        Args:
            make: what makes it, an object to be called; importable by its module and name.
            *args: its arguments, picklable.
            num_cpus: for which it waits.
        """
        made = _object.options(num_cpus=num_cpus).remote(self._conditions, self._expected, os.getcwd(), make, *args)
        self._objects.append(made)
        self._held_cpus += num_cpus
        return made

    def ask(self, made: Any, *args: Any) -> Any:
        """Call an object of `start`, and return what stands for the result; see `submit`.

        If the object dies before it has returned, the one that takes its place is called.
        """
        return made.call.remote(*args)

    def check_room(self) -> None:
        """Look for CPUs of the objects that were started.

        Raises:
            WorkersLost: nodes were lost, and those that are left have too few.
        """
        left = int(ray.cluster_resources().get("CPU", 0))
        if left < self._held_cpus:
            raise WorkersLost(
                f"nodes of the Ray cluster were lost: there are {left} CPUs left, but {self._held_cpus} are held; start "
                "others, or give fewer workers"
            )

    def result(self, call: Any) -> Any:
        """What a call returned, when it is there.

        Raises:
            WorkersLost: it has no result.
            UnlikeNodes: the node that was to make it is not like this one.
            Exception: whatever it raised.
        """
        try:
            return ray.get(call)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise WorkersLost(f"its worker was lost {1 + _RETRIES} times: {_first_line(error)}") from error
        finally:
            self._pending.discard(call)

    def is_done(self, call: Any, timeout_s: float) -> bool:
        """Wait for a call as long as that, and return whether it has a result, or failed."""
        return bool(ray.wait([call], timeout=timeout_s)[0])

    def end(self, call: Any) -> None:
        """End a call whose result nobody needs any more."""
        self._pending.discard(call)
        ray.cancel(call, force=True)

    def completed(self, calls: Sequence[Any]) -> Iterator[Any]:
        """Yield calls when they have a result, or failed."""
        left = list(calls)
        while left:
            done, left = ray.wait(left)
            yield from done

    def close(self) -> None:
        """End the calls that are still going on and the objects, and disconnect."""
        for call in list(self._pending):
            self.end(call)
        for made in self._objects:
            ray.kill(made)
        if self._is_ours:
            ray.shutdown()

    @functools.cached_property
    def _cpus_for_timing(self) -> float:
        offers = [node["Resources"] for node in _nodes() if node["Resources"].get(TIMING)]
        if not offers:
            raise Error(
                f"No node of the Ray cluster may measure; start one with: ray start --resources '{{\"{TIMING}\": 1}}'"
            )
        return min(float(resources.get("CPU", 0)) for resources in offers)

    def _check_nodes(self) -> None:
        """Ask every node for its conditions; one that comes later is asked with the first call that it makes."""
        nodes = _nodes()
        calls = [
            _task.options(
                num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(self._conditions, self._expected, "", self._conditions)
            for node in nodes
        ]
        self._pending.update(calls)
        for node, call in zip(nodes, calls, strict=True):
            try:
                self.result(call)
            except UnlikeNodes:
                raise
            except Exception as error:
                address = node["NodeManagerAddress"]
                raise Error(f"The node {address} of the Ray cluster cannot run halidegym: {error}") from error


def _connect() -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    address = os.environ.get("RAY_ADDRESS") or "auto"
    if address != "local":
        try:
            _knock(address)
            ray.init(address=address, **quiet)
            return
        except (OSError, RuntimeError, ValueError) as error:
            if not (address == "auto" and isinstance(error, ConnectionError)):
                raise Error(f"Cannot connect to the Ray cluster at {address}: {_first_line(error)}") from error
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(
            address="local",
            resources={TIMING: 1},
            object_store_memory=_OBJECT_STORE_BYTES,
            include_dashboard=False,
            **quiet,
        )
    except Exception as error:  # Ray has no type of its own for this
        raise Error(f"Cannot start Ray on this machine: {_first_line(error)}") from error


def _knock(address: str) -> None:
    """Find out soon that nobody listens there; Ray would try for minutes.

    Raises:
        OSError: nobody does.
        ValueError: it is no address.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if address != "auto":
        socket.create_connection((host, int(port)), _KNOCK_S).close()


def _nodes() -> list[dict[str, Any]]:
    return [node for node in ray.nodes() if node["Alive"]]


def _call(
    conditions: Callable[[], Conditions], expected: Conditions, folder: str, function: Callable[..., Any], *args: Any
) -> Any:
    """Call a function in a worker, in the folder of the caller, if there is such a one here."""
    here = conditions()
    differing = [f"{name} {here[name]} instead of {value}" for name, value in expected.items() if here[name] != value]
    if differing:
        raise UnlikeNodes(
            f"The node {ray.util.get_node_ip_address()} of the Ray cluster has {', '.join(differing)}; install the same "
            "there as here, or take the node out of the cluster"
        )
    with contextlib.suppress(OSError):
        os.chdir(folder)
    return function(*args)


_task = ray.remote(max_retries=_RETRIES)(_call)


class _Object:
    """An object in a worker, which the first call makes, so that the caller is told why that fails."""

    def __init__(self, *making: Any) -> None:
        self._making = making
        self._made: Any = None

    def call(self, *args: Any) -> Any:
        if self._made is None:
            self._made = _call(*self._making)
        return self._made(*args)


_object: Any = ray.remote(max_restarts=_RETRIES, max_task_retries=_RETRIES)(_Object)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
