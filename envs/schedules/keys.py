"""What a schedule is recorded under: the same text in every process."""

from __future__ import annotations

import hashlib
import re

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$]*")
_DECLARATION = re.compile(r"(Func|Var|RVar) ")


def schedule_key(problem: SchedulingProblem, schedule: ScheduleLike) -> str:
    """Digest of what a schedule does to a problem; "unscheduled" if there is none, "trusted" for the trusted one.

    Halide keeps the names of Funcs and reduction domains unique in a process by suffixes, which differ from one process to
    the next, so they are replaced by their place in the problem.
    """
    if schedule is None:
        return "unscheduled"
    if isinstance(schedule, TrustedSchedule):
        return "trusted"
    places = _places(problem)
    lines = _IDENTIFIER.sub(lambda match: _place(match[0], places), schedule.cpp()).splitlines()
    # Declarations are in the order of their names.
    declarations = sorted(line for line in lines if _DECLARATION.match(line))
    calls = [line for line in lines if not _DECLARATION.match(line)]
    return hashlib.sha256("\n".join([*declarations, *calls]).encode()).hexdigest()


def _places(problem: SchedulingProblem) -> dict[str, str]:
    places = {node.name: f"node{node.id}" for node in problem.nodes}
    for stage in problem.stages:
        for index, loop in enumerate(stage.loops):
            if loop.rvar:
                places.setdefault(loop.variable, f"stage{stage.id}_loop{index}")
    return places | {name.replace("$", "_"): place for name, place in places.items()}


def _place(identifier: str, places: dict[str, str]) -> str:
    # The inner parts of a split loop are named by an i after its name.
    stem = identifier if identifier in places else identifier.rstrip("i")
    return places[stem] + identifier[len(stem) :] if stem in places else identifier
