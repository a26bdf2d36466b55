"""Schedules that were searched once, in a folder."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.files import write_atomically
from halidegym.evaluation.arguments.schedule import Contender, find_schedule


def find_or_load(directory: Path, problem: SchedulingProblem, name: str, *, seconds: float | None) -> Contender:
    """Do what `find_schedule` does, but look in a folder first, and keep the result there, failures included.

    Func names are part of a schedule, so the problem must have been made in a fresh process.

    Raises:
        InvalidParameter, FormatError: see `find_schedule`.
        OSError: the folder cannot be read or written.
    """
    question = f"{problem.name} {problem.hash} {name} {seconds}"
    path = directory / f"{hashlib.sha256(question.encode()).hexdigest()[:32]}.plan"
    if path.exists():
        stored = pickle.loads(path.read_bytes())
        assert isinstance(stored, Contender)
        return stored
    contender = find_schedule(problem, name, seconds=seconds)
    directory.mkdir(parents=True, exist_ok=True)
    write_atomically(path, pickle.dumps(contender))
    return contender
