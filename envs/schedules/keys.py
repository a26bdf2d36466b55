"""What a schedule is recorded under: the same text in every process."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.manual_schedule import ManualSchedule
from halidegym.envs.schedules.schedule_like import ScheduleLike, check_schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$]*")
_DECLARATION = re.compile(r"(Func|Var|RVar) ")
_TEXT = re.compile(rb"[\w$.]+(?=\0)")
_COUNTED = re.compile(rb"v\d+|[\w$]*\$\d+[\w$]*")
_LENGTH = struct.Struct("<I")


def schedule_key(problem: SchedulingProblem, schedule: ScheduleLike) -> str:
    """Digest of what a schedule does to a problem; "unscheduled" if there is none, "trusted" for the trusted one.

    Halide keeps the names of Funcs and reduction domains unique in a process by suffixes, which differ from one process to
    the next, so they are replaced by their place in the problem. Of a schedule by hand, the digest is of what it did, the
    scheduled pipeline: see `_without_counts`.

    Raises:
        InvalidParameter: it is no schedule of the problem.
    """
    check_schedule(problem, schedule)
    if schedule is None:
        return "unscheduled"
    if isinstance(schedule, TrustedSchedule):
        return "trusted"
    if isinstance(schedule, ManualSchedule):
        return hashlib.sha256(_without_counts(schedule.scheduled)).hexdigest()
    places = _places(schedule.problem)
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


def _without_counts(scheduled: bytes) -> bytes:
    """A serialized pipeline with names that Halide counted, such as v3 and f$1, replaced by numbers in their order.

    Each gets another name of its own length, as the rest of the bytes depends on lengths. So equal results mean equal
    schedules; but where a count has a digit more in one process than in another, equal schedules are taken for different
    ones, and measured anew.
    """
    renamed, numbers = bytearray(scheduled), dict[bytes, bytes]()
    for place, text in _texts(scheduled):
        for name in text.split(b"."):
            if _COUNTED.fullmatch(name):
                number = numbers.setdefault(name, str(len(numbers)).encode().zfill(len(name)))
                if len(number) == len(name):  # else it keeps its name, which is no number
                    renamed[place : place + len(name)] = number
            place += len(name) + 1
    return bytes(renamed)


def _texts(serialized: bytes) -> Iterator[tuple[int, bytes]]:
    """The texts in a flatbuffer, each of which has its length before it and a zero behind it, and their places."""
    for match in _TEXT.finditer(serialized):
        for place in range(max(match.start(), _LENGTH.size), match.end()):
            if _LENGTH.unpack_from(serialized, place - _LENGTH.size)[0] == match.end() - place:
                yield place, serialized[place : match.end()]
                break
