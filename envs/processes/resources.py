"""What a computation takes, and what it may take: time and memory of a process."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from halidegym.native.checks import INT32_MAX, check_at_least

T = TypeVar("T")

LONGEST_S = 24 * 3600.0
"""Seconds after which a process counts as hung, where nobody says otherwise."""

_LEAST_MEMORY_BYTES = 4 << 30  # of address space, most of which a process leaves empty


@dataclass(frozen=True)
class Resources:
    """What a computation took.

    Attributes:
        seconds: wall-clock time.
        cpu_seconds: CPU time of all threads of the process, in user and system mode.
        peak_memory_bytes: growth of the resident memory, at its peak.
    """

    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int


def measure(function: Callable[[], T]) -> tuple[T, Resources]:
    """Call a function; return its result and what it took. Alone in a fresh process, the numbers are its own."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is resident now
    memory = _memory_bytes("VmRSS")
    seconds, cpu_seconds = time.perf_counter(), time.process_time()
    result = function()
    return result, Resources(
        seconds=time.perf_counter() - seconds,
        cpu_seconds=time.process_time() - cpu_seconds,
        peak_memory_bytes=max(0, _memory_bytes("VmHWM") - memory),
    )


def is_ready(descriptor: int, event: int, seconds: float | None) -> bool:
    """Whether an event of `select.poll` comes to a descriptor within so many seconds; None to wait for it."""
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(None if seconds is None else min(1e3 * max(0.0, seconds), INT32_MAX)))


def memory_limit(memory_bytes: int | None) -> int:
    """Bytes that one process may have: those that are given, or nine tenths of what this machine has.

    Raises:
        InvalidParameter: they are no size.
    """
    check_at_least(1, memory_bytes=memory_bytes)
    if memory_bytes is not None:
        return memory_bytes
    return max(_LEAST_MEMORY_BYTES, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10 * 9)


def _memory_bytes(field: str) -> int:
    """Read VmRSS or VmHWM of this process. Unlike ``ru_maxrss``, they do not start from the parent's peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no field {field}")
