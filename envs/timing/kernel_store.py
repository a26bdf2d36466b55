"""Compiled schedules in a folder, for those who compile now and measure later."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.confined import Finished
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.compiler import CompilationError, Compiler, CompileTimes
from halidegym.envs.timing.machine import this_machine
from halidegym.native._core import FormatError
from halidegym.native.fields import checked_fields
from halidegym.native.files import write_atomically

_FORMAT = 3
"""Of the reports. It is part of the name of each, so that those of other versions are not read."""


class KernelStore:
    """Kernels that were compiled once, with what that took; and failures of the compiler that it would repeat.

    It would refuse a schedule again, and be late again if it is given no more time.

    Several processes may use one folder at once.

    Args:
        directory: the folder; created if it is missing.

    Raises:
        OSError: it cannot be.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)

    def compile(
        self,
        compiler: Compiler,
        problem: SchedulingProblem,
        schedule: ScheduleLike,
        library: Path,
        *,
        timeout_s: float,
    ) -> CompileTimes:
        """Do what `Compiler.compile` does, but look here first, and keep the result.

        Raises:
            CompilationError: see `Compiler.compile`.
            FormatError: a file in the folder is damaged or missing.
            OSError: the folder cannot be read or written.
        """
        entry = self._directory / _key(problem, schedule)
        kernel, report = entry.with_suffix(".so"), entry.with_suffix(".json")
        if report.exists():
            known = _read(report)
            if isinstance(known, _Kept):
                _copy(kernel, known.sha256, library)
                return known.times
            if known.finished.outcome == "error" or timeout_s <= known.timeout_s:
                raise CompilationError(known.finished)
        try:
            times = compiler.compile(problem, schedule, library, timeout_s=timeout_s)
        except CompilationError as error:
            if error.would_repeat:
                failure = {"outcome": error.finished.outcome, "error": error.finished.error, "timeout_s": timeout_s}
                write_atomically(report, json.dumps(failure).encode())
            raise
        compiled = library.read_bytes()
        write_atomically(kernel, compiled)
        kept = dataclasses.asdict(times) | {"sha256": hashlib.sha256(compiled).hexdigest()}
        write_atomically(report, json.dumps(kept).encode())
        return times

    def forget(self, problem: SchedulingProblem, schedules: Iterable[ScheduleLike]) -> None:
        """Remove what is kept of these schedules."""
        for schedule in schedules:
            entry = self._directory / _key(problem, schedule)
            for suffix in (".json", ".so"):
                entry.with_suffix(suffix).unlink(missing_ok=True)


@dataclasses.dataclass(frozen=True)
class _Kept:
    """What a compilation took, and the digest of the kernel that came of it."""

    times: CompileTimes
    sha256: str


@dataclasses.dataclass(frozen=True)
class _Failure:
    """How a compilation failed that was given so many seconds."""

    finished: Finished
    timeout_s: float


def _read(report: Path) -> _Kept | _Failure:
    try:
        known = json.loads(report.read_text(encoding="utf-8"))
        if "outcome" not in known:
            sha256 = known.pop("sha256")
            return checked_fields(_Kept(CompileTimes(**known), sha256))
        return _Failure(Finished(known["outcome"], known["error"]), float(known["timeout_s"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{report} is no report of a compilation ({error!r}). Delete it: the schedule is compiled anew then."
        ) from error


def _copy(kernel: Path, sha256: str, library: Path) -> None:
    """Copy a kernel that is whole: of one that is not, its crash would be taken for the schedule's."""
    report = kernel.with_suffix(".json")
    compiled = kernel.read_bytes() if kernel.exists() else None
    if compiled is None or hashlib.sha256(compiled).hexdigest() != sha256:
        is_what = "missing" if compiled is None else "damaged"
        raise FormatError(
            f"{kernel} is {is_what}, which {report.name} tells of. Delete {report}: the schedule is compiled anew then."
        )
    library.write_bytes(compiled)


def _key(problem: SchedulingProblem, schedule: ScheduleLike) -> str:
    # The bytes tell apart what the hash does not: problems with different arithmetic can be equal.
    parts = (
        str(_FORMAT),
        problem.to_bytes().hex(),
        schedule_key(problem, schedule),
        this_machine().compiler,
    )
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:32]
