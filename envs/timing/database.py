"""Every measurement on record, in an SQLite file."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, NoReturn

from halidegym.envs.processes.turn import Turn
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.native._core import Error, FormatError, InvalidParameter
from halidegym.native.checks import checked_path, shown
from halidegym.native.fields import checked_fields
from halidegym.native.files import write_atomically

_VERSION = 1
_KEYS = ("problem", "schedule", "baseline", "target", "machine", "threads", "settings")
_COLUMNS = (*_KEYS, "problem_name", "cost", "recorded_at", "result")
_SCHEMA = f"""
CREATE TABLE measurements (
    id INTEGER PRIMARY KEY, problem TEXT NOT NULL, schedule TEXT NOT NULL, baseline TEXT NOT NULL, target TEXT NOT NULL,
    machine TEXT NOT NULL, threads INTEGER NOT NULL, settings TEXT NOT NULL, problem_name TEXT NOT NULL, cost REAL,
    recorded_at REAL NOT NULL, result TEXT NOT NULL);
CREATE INDEX by_key ON measurements ({", ".join(_KEYS)});
PRAGMA user_version = {_VERSION};
"""
_IN_USE = Turn()
"""A connection has one transaction at a time, and SQLite allows no fork of one that is at work."""
_IF_DAMAGED = "If the file is damaged, restore a copy of it, or move it away and measure again."


class DatabaseError(Error):
    """The timing database cannot be read or written; the message names the file and the reason."""


def check_missing(missing: str) -> None:
    """Check what a replay is to do for what is not on record.

    Raises:
        InvalidParameter: it is unknown.
    """
    if missing not in ("error", "cost_model"):
        raise InvalidParameter(f'missing={missing!r}: use "error" or "cost_model"')


@dataclasses.dataclass(frozen=True)
class Key:
    """What a measurement is recorded under.

    Attributes:
        problem: digests of it; see `recorded_as`.
        schedule: see `schedule_key`.
        baseline: the key of the schedule that it was compared with; empty for a timing.
        target: Halide target string.
        machine: fingerprint of the machine.
        threads: that it ran on.
        settings: how it was measured, as text.
    """

    problem: str
    schedule: str
    baseline: str
    target: str
    machine: str
    threads: int
    settings: str


@dataclasses.dataclass(frozen=True)
class Record:
    """A measurement.

    Attributes:
        key: what was measured.
        problem_name: what reports call the problem.
        cost: of the schedule, by the cost model; None if unknown.
        result: what came out.
        recorded_at: seconds since 1970.
    """

    key: Key
    problem_name: str
    cost: float | None
    result: Timing | Comparison
    recorded_at: float = dataclasses.field(default_factory=time.time)


class TimingDatabase:
    """An append-only table of measurements. Use as a context.

    Several processes may use one file at once, and several threads one object; so may a fork of the process. Each record is
    written as a whole or not at all, whatever happens to the process or the disk.

    Args:
        path: the file; created if it is missing.
        read_only: refuse to create or change it.

    Raises:
        InvalidParameter: `path` is none.
        DatabaseError: it cannot be opened.
        FormatError: it is something else, or damaged, or of another version.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = checked_path("database", path)
        with self._explained():
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}",
                uri=True,
                timeout=60.0,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            with self._explained():
                self._check_version(read_only)
        except BaseException:
            self._connection.close()
            raise

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a TimingDatabase has an open file, and cannot be copied or pickled; open it again by its path, as "
            "env.spec.make() does for an environment"
        )

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"TimingDatabase({str(self.path)!r})"

    def __enter__(self) -> TimingDatabase:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with _IN_USE:
            self._connection.close()

    def __len__(self) -> int:
        with self._explained():
            (count,) = self._connection.execute("SELECT count(*) FROM measurements").fetchone()
        return int(count)

    def add(self, record: Record) -> None:
        """Append a measurement.

        Raises:
            DatabaseError: it cannot be written, for instance because the disk is full. The file is as it was.
        """
        self.add_all([record])

    def add_all(self, records: Iterable[Record]) -> None:
        """Append measurements, all of them or none.

        Raises:
            DatabaseError: they cannot be written. The file is as it was.
        """
        self._insert([_row(record) for record in records])

    def find(self, key: Key) -> Timing | Comparison | None:
        """The latest measurement under this key.

        Raises:
            DatabaseError: the file cannot be read.
            FormatError: the measurement is damaged.
        """
        condition = " AND ".join(f"{name} = ?" for name in _KEYS)
        with self._explained(), self._decoded():
            row = self._connection.execute(
                f"SELECT result FROM measurements WHERE {condition} ORDER BY id DESC LIMIT 1", dataclasses.astuple(key)
            ).fetchone()
            return None if row is None else _result(row[0])

    def records(self) -> Iterator[Record]:
        """All measurements, in the order in which they were added.

        Raises:
            DatabaseError: the file cannot be read.
            FormatError: a measurement is damaged.
        """
        with self._explained():
            query = f"SELECT {', '.join(_COLUMNS)} FROM measurements ORDER BY id"
            rows = self._connection.execute(query).fetchall()  # or the file would be locked until all are asked for
        with self._decoded():
            yield from map(_record, rows)

    def machines(self) -> list[str]:
        """The fingerprints of the machines that the measurements are from.

        Raises:
            DatabaseError: the file cannot be read.
            FormatError: an entry is damaged.
        """
        with self._explained(), self._decoded():
            rows = self._connection.execute("SELECT DISTINCT machine FROM measurements ORDER BY machine").fetchall()
            for (machine,) in rows:
                if not isinstance(machine, str):
                    raise TypeError(f"machine={shown(machine)}")
        return [machine for (machine,) in rows]

    def checked_machines(self, machine: str | None) -> list[str]:
        """Return those of `machines`, if one whose measurements are asked for is among them; None is any, and in an empty
        file so are all.

        Raises:
            InvalidParameter: it measured nothing here, while others did.
            DatabaseError, FormatError: see `machines`.
        """
        machines = self.machines()
        if machine is not None and machines and machine not in machines:
            raise InvalidParameter(
                f"machine={shown(machine)} measured nothing in {self.path}: give one that did, of {', '.join(machines)}"
            )
        return machines

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write all measurements as JSON lines; return how many.

        Raises:
            InvalidParameter: `path` is none.
            DatabaseError: the database cannot be read.
            FormatError: a measurement is damaged.
            OSError: the file cannot be written. Whatever the error, what was there stays.
        """
        rows = [dict(zip(_COLUMNS, _row(record), strict=True)) for record in self.records()]
        lines = [json.dumps({**row, "result": json.loads(row["result"])}) + "\n" for row in rows]
        write_atomically(checked_path("path", path), "".join(lines).encode())
        return len(lines)

    def import_(self, path: str | os.PathLike[str]) -> int:
        """Append the measurements of a file that `export` wrote, but for those that are there; return how many.

        Raises:
            InvalidParameter: `path` is none.
            DatabaseError: they cannot be written; none was.
            FormatError: a line is no measurement; none was appended.
            OSError: the file cannot be read.
        """
        known = {_row(record) for record in self.records()}
        rows = []
        for number, line in enumerate(checked_path("path", path).read_bytes().splitlines(), start=1):
            try:
                fields = json.loads(line)
                row = tuple({**fields, "result": json.dumps(fields["result"])}[column] for column in _COLUMNS)
                rows.append(_row(_record(row)))
            except (ValueError, KeyError, TypeError, RecursionError, Error) as error:
                raise FormatError(f"{path}, line {number}: no measurement ({error!r}). Export it again.") from error
        new = [row for row in dict.fromkeys(rows) if row not in known]
        self._insert(new)
        return len(new)

    def _insert(self, rows: list[tuple[Any, ...]]) -> None:
        with self._explained(), self._transaction():
            self._connection.executemany(
                f"INSERT INTO measurements ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})", rows
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
                self._connection.execute("ROLLBACK")
            raise

    def _check_version(self, read_only: bool) -> None:
        if self._version() == 0 and not read_only:
            with self._transaction():
                if self._version() == 0 and not self._connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        self._connection.execute(statement)
        if self._version() != _VERSION:
            raise FormatError(f"{self.path} is no timing database of version {_VERSION}. Give another file.")

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """For all that asks SQLite."""
        try:
            with _IN_USE:
                yield
        except sqlite3.DatabaseError as error:
            if "closed database" in str(error):
                raise DatabaseError(f"The timing database {self.path} was closed. Open it again.") from error
            if not str(error):  # Python 3.10 leaves a message out that is no text
                raise self._damaged("'utf-8' has no text for what SQLite says of it") from error
            raise DatabaseError(
                f"The timing database {self.path}: {error!s:.200}. Check the path, the permissions and the space on the "
                f"disk. {_IF_DAMAGED}"
            ) from error
        except UnicodeDecodeError as error:  # of SQLite's own messages, which quote the file
            raise self._damaged(str(error)) from error

    @contextlib.contextmanager
    def _decoded(self) -> Iterator[None]:
        """For entries, which may be anything although SQLite finds the file sound."""
        try:
            yield
        except (ValueError, TypeError, RecursionError, FormatError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, reason: str) -> FormatError:
        return FormatError(f"The timing database {self.path} is damaged: {reason.rstrip('.')[:200]}. {_IF_DAMAGED}")


def _row(record: Record) -> tuple[Any, ...]:
    result = json.dumps(record.result.to_dict())
    return (*dataclasses.astuple(record.key), record.problem_name, record.cost, record.recorded_at, result)


def _record(row: tuple[Any, ...]) -> Record:
    *key, problem_name, cost, recorded_at, result = row
    return checked_fields(Record(Key(*key), problem_name, cost, _result(result), recorded_at))


def _result(text: str) -> Timing | Comparison:
    fields = json.loads(text)
    return Comparison.from_dict(fields) if "ratio" in fields else Timing.from_dict(fields)
