"""Compiled schedules in a folder, for those who compile now and measure later."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import shutil
from pathlib import Path

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.confined import Finished
from halidegym.envs.processes.files import write_atomically
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.compiler import CompilationError, Compiler, CompileTimes


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
            OSError: the folder cannot be read or written.
        """
        entry = self._directory / _key(problem, schedule)
        kernel, report = entry.with_suffix(".so"), entry.with_suffix(".json")
        if report.exists():
            known = json.loads(report.read_text(encoding="utf-8"))
            if "outcome" not in known:
                shutil.copyfile(kernel, library)
                return CompileTimes(**known)
            if known["outcome"] == "error" or timeout_s <= known["timeout_s"]:
                raise CompilationError(Finished(known["outcome"], known["error"]))
        try:
            times = compiler.compile(problem, schedule, library, timeout_s=timeout_s)
        except CompilationError as error:
            if error.finished.outcome in ("error", "timeout"):
                failure = {**dataclasses.asdict(error.finished), "timeout_s": timeout_s}
                write_atomically(report, json.dumps(failure).encode())
            raise
        write_atomically(kernel, library.read_bytes())
        write_atomically(report, json.dumps(dataclasses.asdict(times)).encode())
        return times


def _key(problem: SchedulingProblem, schedule: ScheduleLike) -> str:
    # The bytes tell apart what the hash does not: problems with different arithmetic can be equal.
    parts = (problem.to_bytes().hex(), schedule_key(problem, schedule), importlib.metadata.version("halide"))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:32]
