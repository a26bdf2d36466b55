"""What the kernel says about processes."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path


def children_of(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*") for child in (task / "children").read_text().split()
    ]


def descendants_of(pid: int) -> set[int]:
    """Its children, theirs, and so on, as far as they are there when it is their turn."""
    found, seen = [pid], set[int]()
    while found:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            children = children_of(found.pop())
            found += children
            seen.update(children)
    return seen


def is_running(pid: int) -> bool:
    try:
        # A process has ended when all its threads have: the first may be a zombie before the others are gone.
        is_zombie = ") Z" in Path(f"/proc/{pid}/stat").read_text()
        return not is_zombie or len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except FileNotFoundError:
        return False


def all_end(pids: Iterable[int]) -> bool:
    """Whether all of them end, in a time that is enough on any machine."""
    deadline = time.monotonic() + 60
    while running := [pid for pid in pids if is_running(pid)]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
        pids = running
    return True


_COMMAND = "from halidegym.evaluation.cli import main; main()"


def kill_after_the_first(path: Path, *arguments: str | Path) -> None:
    """Run `halidegym` with these arguments until there is such a file, and kill it then."""
    process = subprocess.Popen([sys.executable, "-c", _COMMAND, *map(str, arguments)])
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
