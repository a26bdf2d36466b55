"""Nodes of a Ray cluster on this machine, in a process of their own: Ray's warnings and threads stay out of the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any

import pytest

_ATTEMPTS = 3
_OBJECT_STORE_BYTES = 80 << 20  # about the least that Ray takes


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
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(settings), file=self._process.stdin, flush=True)
        self._address = self._process.stdout.readline().strip()
        assert self._address, "no node was started"

    def environment(self) -> dict[str, str]:
        """Variables for a command that is to use the cluster."""
        return os.environ | {"RAY_ADDRESS": self._address}

    def __enter__(self) -> RayNodes:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def _serve() -> None:
    """Start a node for each line of standard input, and end them with it."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        for line in sys.stdin:
            _start(cluster, json.loads(line))
            print(cluster.address, flush=True)
    finally:
        cluster.shutdown()


def _start(cluster: Any, settings: dict[str, Any]) -> None:
    """Start a node; Ray gives it 30 seconds for that, which may be too few on a busy machine."""
    for attempt in reversed(range(_ATTEMPTS)):
        try:
            cluster.add_node(object_store_memory=_OBJECT_STORE_BYTES, include_dashboard=False, **settings)
            return
        except Exception:  # Ray has no type of its own for this
            if attempt == 0:
                raise


if __name__ == "__main__":
    _serve()
