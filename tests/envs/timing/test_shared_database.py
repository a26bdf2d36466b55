"""One database in several threads, and in forks of the process."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from halidegym.envs.timing.database import Key, Record, TimingDatabase
from halidegym.envs.timing.measurements import Timing

TIMING = Timing("ok", (0.5,), 0.25, disturbed=(False,))


def record(name: str) -> Record:
    return Record(Key("problem", name, "", "target", "machine", 1, "{}"), "name", None, TIMING)


def test_threads_add_and_find_at_once(tmp_path: Path) -> None:
    def add(thread: int) -> None:
        for number in range(20):
            database.add(record(f"{thread} {number}"))
            assert database.find(record(f"{thread} {number}").key) == TIMING

    with TimingDatabase(tmp_path / "times.sqlite") as database, ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(4)))
        assert len(database) == 80


def test_a_fork_records_although_another_thread_did_when_it_was_made(tmp_path: Path) -> None:
    """And leaves what that thread was about to write alone."""

    def add() -> None:
        while not is_over.is_set():
            database.add(record(f"thread {len(added)}"))
            added.append(1)
            time.sleep(0.002)  # or forks might wait for long until the file is theirs

    forks, added, is_over, database = 20, list[int](), threading.Event(), TimingDatabase(tmp_path / "times.sqlite")
    thread = threading.Thread(target=add)
    thread.start()
    try:
        ends = [_forked(database, number) for number in range(forks)]
    finally:
        is_over.set()
        thread.join()
    assert ends == [0] * forks
    assert len(database) == len(added) + forks
    database.close()
    with contextlib.closing(sqlite3.connect(database.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _forked(database: TimingDatabase, number: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(30)  # of its end, should it hang
            database.add(record(f"fork {number}"))
            database.close()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def test_reading_keeps_nobody_from_writing(tmp_path: Path) -> None:
    with TimingDatabase(tmp_path / "times.sqlite") as database, TimingDatabase(database.path) as other:
        database.add_all([record("a"), record("b")])
        records = database.records()
        next(records)
        other._connection.execute("PRAGMA busy_timeout = 100")
        other.add(record("c"))
        assert [later.key.schedule for later in records] == ["b"]
