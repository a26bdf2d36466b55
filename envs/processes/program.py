"""How programs are started beside threads that fork this process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Any

from halidegym.envs.processes.turn import Turn

_STARTING = Turn()


def start_program(command: Sequence[str | os.PathLike[str]], **arguments: Any) -> subprocess.Popen[bytes]:
    """Do what `subprocess.Popen` does, while no fork of this process is made.

    It waits until a pipe is closed, which a fork would keep open that may itself wait for a lock of the caller.

    Raises:
        OSError: see `subprocess.Popen`.
    """
    with _STARTING:
        return subprocess.Popen(command, **arguments)
