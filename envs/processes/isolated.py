"""Calling a function in a process of its own.

For whatever depends on the state of its process: Halide counts Func names per process, peak memory and CPU time are
known per process, and a crash must end no more than one run.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

from halidegym.envs.processes.confined import python_command
from halidegym.native._core import Error

T = TypeVar("T")

_CHILD = "from halidegym.envs.processes.isolated import _serve; _serve()"


class ProcessFailed(Error):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """The process ended without a result: a crash, or too little memory. The message has its last words."""


def run_isolated(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Return what a function returns in a fresh Python process, or raise what it raises there.

    Args:
        function: importable by its module and name.
        *args: its arguments, picklable as the result and the exceptions must be.
        **kwargs: its keyword arguments.

    Raises:
        ProcessFailed: the process died.
    """
    with tempfile.TemporaryDirectory() as folder:
        request, reply = Path(folder) / "request", Path(folder) / "reply"
        request.write_bytes(pickle.dumps((function, args, kwargs)))
        with (Path(folder) / "output").open("w+b") as output:
            status = subprocess.run(
                [*python_command(_CHILD), request, reply],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                check=False,
            ).returncode
            if status != 0:
                raise ProcessFailed(
                    f"The process of {function.__name__} {_ending(status)}. Its last words: {_tail(output)}"
                )
        result, error = pickle.loads(reply.read_bytes())
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]


def _serve() -> None:
    request, reply = map(Path, sys.argv[1:])
    function, args, kwargs = pickle.loads(request.read_bytes())
    result: Any = None
    error: Exception | None = None
    try:
        result = function(*args, **kwargs)
    except Exception as raised:
        error = raised
    reply.write_bytes(pickle.dumps((result, error)))


def _ending(status: int) -> str:
    return f"died of {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"


def _tail(output: IO[bytes]) -> str:
    output.seek(0)
    lines = [line for line in output.read().decode(errors="replace").splitlines() if line.strip()]
    return "\n".join(lines[-12:]) or "(none)"
