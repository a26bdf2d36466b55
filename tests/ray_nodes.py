"""Nodes of a Ray cluster on this machine, in a process of their own: Ray's warnings and threads stay out of the tests."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

_ATTEMPTS = 3
_OBJECT_STORE_BYTES = 80 << 20  # about the least that Ray takes
_REMOVE = "remove"


class RayNodes:
    """A cluster, for the time of a context."""

    def __init__(self) -> None:
        pytest.importorskip("ray", reason="it comes with the extra ray")
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._address = ""

    def add(self, **settings: Any) -> None:
        """Start a node; see `ray.cluster_utils.Cluster.add_node`."""
        self._address = self._told(settings)
        assert self._address, "no node was started"

    def remove(self) -> None:
        """End the node that was added last."""
        self._told(_REMOVE)

    def follow(self, script: str, *arguments: str) -> list[str]:
        """Run Python on the cluster, and return the lines that it prints.

        Where it prints `kill` and waits for a line, the worker of an object is killed; with `remove`, a node ends.
        """
        told: list[str] = []
        with subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            for line in process.stdout:
                if line == "kill\n":
                    os.kill(next(self._objects()), signal.SIGKILL)
                elif line == "remove\n":
                    self.remove()
                else:
                    if "(raylet)" not in line:  # Ray tells whose worker was lost
                        told.append(line.rstrip())
                    continue
                print(file=process.stdin, flush=True)
        assert process.returncode == 0
        return told

    def environment(self) -> dict[str, str]:
        """Variables for a command that is to use the cluster."""
        return os.environ | {"RAY_ADDRESS": self._address}

    def __enter__(self) -> RayNodes:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def _told(self, what: Any) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(what), file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def _objects(self) -> Iterator[int]:
        """Processes of this cluster that hold an object."""
        for folder in Path("/proc").glob("[0-9]*"):
            if b"ray::_Object" in (folder / "cmdline").read_bytes():
                process = int(folder.name)
                if self._process.pid in _ancestors(process):
                    yield process


def _ancestors(process: int) -> Iterator[int]:
    while process > 1:
        process = int((Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]).split()[1])
        yield process


def _serve() -> None:
    """Start a node for each line of standard input, or end the last one, and end all with it."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    nodes = []
    try:
        for line in sys.stdin:
            what = json.loads(line)
            if what == _REMOVE:
                cluster.remove_node(nodes.pop())
            else:
                nodes.append(_start(cluster, what))
            print(cluster.address, flush=True)
    finally:
        cluster.shutdown()


def _start(cluster: Any, settings: dict[str, Any]) -> Any:
    """Start a node; Ray gives it 30 seconds for that, which may be too few on a busy machine."""
    for attempt in range(_ATTEMPTS):
        with contextlib.suppress(Exception if attempt < _ATTEMPTS - 1 else ()):  # Ray has no type of its own for this
            return cluster.add_node(object_store_memory=_OBJECT_STORE_BYTES, include_dashboard=False, **settings)
    raise AssertionError("the last attempt has raised")


if __name__ == "__main__":
    _serve()
