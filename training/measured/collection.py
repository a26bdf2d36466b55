"""What was measured on a machine, as a value and as a file."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from halidegym.envs.pipelines import generated
from halidegym.envs.timing.machine import Machine, this_machine
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.checks import checked_path, shown
from halidegym.native.files import write_atomically
from halidegym.training.data.journal import entries_of
from halidegym.training.measured.sets import SetName

_SPLITS = (*dict.fromkeys(generated.SUITES.values()), "")


@dataclass(frozen=True)
class MeasuredCollection:
    """Schedules with their run times on one machine.

    Attributes:
        machine: that they ran on.
        schedules: by set.
        skipped: the sets that were left out, and why.
    """

    machine: Machine
    schedules: tuple[MeasuredSchedule, ...] = ()
    skipped: Mapping[SetName, str] = field(default_factory=dict)

    @property
    def sets(self) -> dict[SetName, tuple[MeasuredSchedule, ...]]:
        """The schedules that were measured together, failures included."""
        sets: dict[SetName, list[MeasuredSchedule]] = {}
        for schedule in self.schedules:
            sets.setdefault(SetName(schedule.pipeline, schedule.threads), []).append(schedule)
        return {name: tuple(schedules) for name, schedules in sets.items()}

    @property
    def ran(self) -> tuple[MeasuredSchedule, ...]:
        """The schedules that have run times."""
        return tuple(schedule for schedule in self.schedules if schedule.ran)

    @property
    def pipelines(self) -> tuple[str, ...]:
        """Their names, in the order in which they were measured."""
        return tuple(dict.fromkeys(schedule.pipeline for schedule in self.schedules))

    def split(self, split: str) -> MeasuredCollection:
        """What was measured of one split: "train", "validation", "test", or "" for pipelines that are not generated.

        Raises:
            InvalidParameter: there is no such split.
        """
        if split not in _SPLITS:
            raise InvalidParameter(f"split={shown(split)} is none; give one of {', '.join(map(repr, _SPLITS))}")
        return MeasuredCollection(self.machine, tuple(s for s in self.schedules if s.split == split))

    def on_threads(self, threads: int) -> MeasuredCollection:
        """What ran on so many threads."""
        return MeasuredCollection(self.machine, tuple(s for s in self.schedules if s.threads == threads))

    def at_least(self, schedules: int, pipelines: int = 1, *, split: str) -> MeasuredCollection:
        """What was measured of one split, see `split`, if so many of its schedules have run times, of so many pipelines.

        Raises:
            InvalidParameter: there are fewer, or there is no such split.
        """
        chosen = self.split(split)
        found = len(chosen.ran), len({schedule.pipeline for schedule in chosen.ran})
        if found[0] < schedules or found[1] < pipelines:
            of = f"of the {split} split" if split else "that are not generated"
            others = len(self.ran) - found[0]
            remedy = ", which takes them where it is told no names" if split in ("train", "validation") else ""
            raise InvalidParameter(
                f"There are {found[0]} measured schedules of {found[1]} pipelines {of}; {schedules} of {pipelines} are "
                f"needed{f', and {others:,} of others do not count' if others else ''}. Collect more: halidegym "
                f"collect{remedy}"
            )
        return chosen

    def with_sets(self, other: MeasuredCollection) -> MeasuredCollection:
        """Both collections in one; of a set that both measured, this one's schedules, and of one that both skipped, the
        other's reason.
        """
        own, others = self.sets, other.sets
        added = tuple(schedule for name, schedules in others.items() if name not in own for schedule in schedules)
        reasons = {**self.skipped, **other.skipped}
        skipped = {name: reason for name, reason in reasons.items() if name not in own and name not in others}
        return MeasuredCollection(self.machine, self.schedules + added, skipped)

    def to_bytes(self) -> bytes:
        """The collection as a Parquet file."""
        from halidegym.training.measured.table import to_bytes

        skipped = {f"{name.threads} {name.pipeline}": reason for name, reason in self.skipped.items()}
        return to_bytes(self.machine, self.schedules, skipped)

    @classmethod
    def from_bytes(cls, data: bytes) -> MeasuredCollection:
        """The collection that `to_bytes` wrote.

        Raises:
            FormatError: the bytes are cut short, damaged, of another version, or something else altogether.
        """
        from halidegym.training.measured.table import from_bytes

        machine, schedules, skipped = from_bytes(data)
        return cls(machine, tuple(schedules), {_set_name(text): reason for text, reason in skipped.items()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the collection; there is never half a file of this name.

        Raises:
            InvalidParameter: `path` is none.
            OSError: the file cannot be written.
        """
        write_atomically(checked_path("path", path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, allow_other_machine: bool = False) -> MeasuredCollection:
        """Read what `halidegym collect` wrote, with what it left in its journal if it was killed.

        Args:
            path: a file, or the folder, of which this machine's file is read.
            allow_other_machine: read run times of another machine, too: of a folder, if it holds no other file.

        Raises:
            InvalidParameter: the run times are those of another machine, or there are none; or `path` is none.
            FormatError: the file is cut short, damaged, of another version or of other features, or cannot be read.
        """
        file = _file(checked_path("path", path), allow_other_machine)
        unsaved = [cls.from_bytes(entry) for entry in entries_of(file.with_suffix(".journal"))]
        # Read after the journal, which a collector at work empties into it.
        saved = [cls.read(file)] if file.exists() or not unsaved else []
        collection = functools.reduce(cls.with_sets, [*saved, *unsaved])
        if collection.machine != this_machine() and not allow_other_machine:
            raise InvalidParameter(
                f"{file} was measured on another machine: {collection.machine.words}; this is "
                f"{this_machine().words}. Collect here, or say that it is meant: --allow-other-machine"
            )
        return collection

    @classmethod
    def read(cls, file: Path) -> MeasuredCollection:
        """Read a file, of whatever machine.

        Raises:
            FormatError: see `load`.
        """
        try:
            return cls.from_bytes(file.read_bytes())
        except OSError as error:
            raise FormatError(f"Cannot read {file}: {error.strerror}. Check the path") from error
        except FormatError as error:
            raise FormatError(f"Cannot read {file}: {error}") from error


def file_name(machine: Machine) -> str:
    """The name of a machine's file in a folder of collections."""
    return f"measured-{machine.fingerprint}.parquet"


def of_all(collections: Iterable[MeasuredCollection], machine: Machine) -> MeasuredCollection:
    """Several collections of a machine in one; see `MeasuredCollection.with_sets`."""
    return functools.reduce(MeasuredCollection.with_sets, collections, MeasuredCollection(machine))


def _file(path: Path, allow_other_machine: bool) -> Path:
    if not path.is_dir():
        return path
    own = path / file_name(this_machine())
    found = {
        file.with_suffix(".parquet") for ending in ("parquet", "journal") for file in path.glob(f"measured-*.{ending}")
    }
    if not found:
        raise InvalidParameter(f"There are no measured schedules in {path}; collect some: halidegym collect -o {path}")
    if own in found:
        return own
    others = sorted(found)
    if allow_other_machine and len(others) > 1:
        raise InvalidParameter(f"{path} has files of several machines; give one: {', '.join(o.name for o in others)}")
    return others[0]


def _set_name(text: str) -> SetName:
    threads, _, pipeline = text.partition(" ")
    if not threads.isdecimal():
        raise FormatError(f"{text!r} names no set. Collect again")
    return SetName(pipeline, int(threads))
