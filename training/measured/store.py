"""The folder that is collected into: nothing is measured twice, whatever ends the collector."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.envs.timing.machine import this_machine
from halidegym.native._core import InvalidParameter
from halidegym.native.files import write_atomically
from halidegym.training.data.journal import Journal
from halidegym.training.measured.card import data_card
from halidegym.training.measured.collection import MeasuredCollection, file_name, of_all
from halidegym.training.measured.sets import SetName

_SETS_IN_JOURNAL = 10


class MeasuredStore:
    """This machine's file in a folder, and a journal of what is not in it yet. Use as a context.

    Args:
        folder: made if it is missing.
        retry: whether what was skipped counts as not done.

    Attributes:
        collection: all that is measured.

    Raises:
        InvalidParameter: somebody else collects into the folder, or the file is that of another machine.
        FormatError: a file is damaged.
    """

    def __init__(self, folder: Path, *, retry: bool = False) -> None:
        self._retry = retry
        self._path = folder / file_name(this_machine())
        self._lock = FolderLock(folder)
        try:
            known = [MeasuredCollection.read(self._path)] if self._path.exists() else []
            self._journal = Journal(self._path.with_suffix(".journal"))
            known += map(MeasuredCollection.from_bytes, self._journal.entries)
            for collection in known:
                if collection.machine != this_machine():
                    raise InvalidParameter(
                        f"{self._path} was measured on another machine: {collection.machine.words}. Collect into "
                        "another folder"
                    )
            self.collection = of_all(known, this_machine())
        except BaseException:
            self._lock.close()
            raise
        self._unsaved = len(self._journal.entries)

    def __enter__(self) -> MeasuredStore:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()
        self._lock.close()

    @property
    def path(self) -> Path:
        """Of the file."""
        return self._path

    @property
    def done(self) -> set[SetName]:
        """The sets that need not be tried any more."""
        return {*self.collection.sets, *(() if self._retry else self.collection.skipped)}

    def check_is_of(self, name: SetName, problem: SchedulingProblem) -> None:
        """Refuse a set that has schedules of another problem: it would be taken for done.

        Raises:
            InvalidParameter: the set of this name was measured with other estimates or another algorithm.
        """
        measured = self.collection.sets.get(name, ())
        if measured and problem.with_parallelism(measured[0].parallelism).hash != measured[0].problem:
            raise InvalidParameter(
                f"{self._path} has run times of {name.pipeline} with other estimates or another algorithm. Collect into "
                "another folder"
            )

    def add(self, found: MeasuredCollection) -> None:
        """Keep a new set, or the reason why there is none."""
        self._journal.append(found.to_bytes())
        self.collection = self.collection.with_sets(found)
        self._unsaved += 1
        if self._unsaved >= _SETS_IN_JOURNAL:
            self.save()

    def save(self) -> None:
        """Write the file and its card anew with what is in the journal; should this be cut off, both are there still."""
        if self._unsaved:
            self.collection.save(self._path)
            write_atomically(self._path.with_suffix(".md"), data_card(self.collection).encode())
            self._journal.remove()
            self._unsaved = 0
