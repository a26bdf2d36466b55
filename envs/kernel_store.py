"""Compiled schedules in a folder, for those who compile now and measure later."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import shutil
from pathlib import Path

from halidegym.envs.atomic_file import write_atomically
from halidegym.envs.compile_worker import ScheduleLike
from halidegym.envs.compiler import CompilationError, Compiler, CompileTimes
from halidegym.envs.problem import SchedulingProblem
from halidegym.envs.processes import Finished
from halidegym.envs.schedule_key import schedule_key


class KernelStore:
    """Kernels that were compiled once, with what that took; and refusals of the compiler, which it would repeat.

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
            if "refusal" in known:
                raise CompilationError(Finished("error", known["refusal"]))
            shutil.copyfile(kernel, library)
            return CompileTimes(**known)
        try:
            times = compiler.compile(problem, schedule, library, timeout_s=timeout_s)
        except CompilationError as error:
            if error.finished.outcome == "error":
                write_atomically(report, json.dumps({"refusal": error.finished.error}).encode())
            raise
        write_atomically(kernel, library.read_bytes())
        write_atomically(report, json.dumps(dataclasses.asdict(times)).encode())
        return times


def _key(problem: SchedulingProblem, schedule: ScheduleLike) -> str:
    # The bytes tell apart what the hash does not: problems with different arithmetic can be equal.
    parts = (problem.to_bytes().hex(), schedule_key(problem, schedule), importlib.metadata.version("halide"))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:32]
