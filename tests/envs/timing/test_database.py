"""The record of measurements, and the keys of its entries."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import halide as hl
import numpy as np
import pytest

from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.reference import Adams2019, Li2018, Mullapudi2016
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.database import DatabaseError, Key, Record, TimingDatabase
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.timers import Replay, Unrecorded, recorded_as
from halidegym.native import _core
from schedules_for_tests import random_schedule

QUICK = TimingSettings(time_limit_s=0.05, patience_s=0.05, threads=1)
KEY = Key("problem", "schedule", "", "target", "machine", 2, "{}")
TIMING = Timing("ok", (0.1 + 0.2, 1 / 3), 0.5, disturbed=(False, True), machine=this_machine())


def test_the_latest_record_of_a_key_is_found_bit_for_bit(database: TimingDatabase) -> None:
    comparison = Comparison(1.5, 1.2, 1.7, TIMING, dataclasses.replace(TIMING, threads=2))
    assert database.find(KEY) is None
    database.add(Record(KEY, "name", None, dataclasses.replace(TIMING, compile_s=9.0)))
    database.add(Record(KEY, "name", 1.25, TIMING))
    versus = dataclasses.replace(KEY, baseline="other")
    database.add(Record(versus, "name", None, comparison))
    assert database.find(KEY) == TIMING
    assert database.find(versus) == comparison
    for field in dataclasses.fields(Key):
        assert database.find(dataclasses.replace(KEY, **{field.name: 3 if field.name == "threads" else "x"})) is None
    assert len(database) == 3
    with TimingDatabase(database.path, read_only=True) as reopened:
        assert [record.result for record in reopened.records()][1:] == [TIMING, comparison]


def test_export_and_import(database: TimingDatabase, tmp_path: Path) -> None:
    for cost in (1.0, None):
        database.add(Record(KEY, "name", cost, TIMING))
    assert database.export(tmp_path / "timings.jsonl") == 2
    lines = (tmp_path / "timings.jsonl").read_text().splitlines()
    assert [json.loads(line)["problem_name"] for line in lines] == ["name", "name"]
    with TimingDatabase(tmp_path / "other.db") as other:
        assert other.import_(tmp_path / "timings.jsonl") == 2
        assert other.import_(tmp_path / "timings.jsonl") == 0
        assert list(other.records()) == list(database.records())
        (tmp_path / "bad.jsonl").write_text((tmp_path / "timings.jsonl").read_text().replace("1.0", "2.0") + "{}\n")
        with pytest.raises(_core.FormatError, match="line 3"):
            other.import_(tmp_path / "bad.jsonl")
        assert len(other) == 2


def test_a_full_disk_is_an_error_and_leaves_the_records(database: TimingDatabase) -> None:
    record = Record(KEY, "name", None, dataclasses.replace(TIMING, error="x" * 100_000))
    database.add(record)
    # SQLite's own limit raises the very error of a full disk.
    pages = database._connection.execute("PRAGMA page_count").fetchone()[0]
    database._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseError, match=r"timings\.db: .*full.*space on the disk"):
        database.add(record)
    assert len(database) == 1
    with TimingDatabase(database.path) as reopened:
        assert reopened._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        reopened.add(record)
        assert len(reopened) == 2


FILL = """
import dataclasses, resource, sys
from pathlib import Path
from halidegym.envs.timing.measurements import Timing
from halidegym.envs.timing.database import DatabaseError, Key, Record, TimingDatabase
path, room = sys.argv[1], int(sys.argv[2])
record = Record(Key("p", "s", "", "t", "m", 2, "{}"), "name", None, Timing("crash", (), 0.0, "x" * 30_000))
with TimingDatabase(path) as database:
    database.add(record)
    if room:
        limit = Path(path).stat().st_size + room
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    added = 1
    try:
        while True:
            database.add(record)
            added += 1
    except DatabaseError as error:
        print(error)
    print(added, len(database), len(list(database.records())))
    with TimingDatabase(path, read_only=True) as reopened:
        print(reopened._connection.execute("PRAGMA integrity_check").fetchone()[0], len(reopened))
"""


def filled(command: list[str | Path]) -> str:
    """Run `FILL`: the error, after which all records that were added are there, and nothing else."""
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    message, counts, integrity = printed.splitlines()
    added = counts.split()[0]
    assert int(added) > 1
    assert counts == f"{added} {added} {added}"
    assert integrity == f"ok {added}"
    return message


def test_writes_that_the_system_refuses_leave_the_records(tmp_path: Path) -> None:
    """Beyond the size that a file may have, a write fails in the kernel; Python ignores the signal that comes with it."""
    database = tmp_path / "timings.db"
    assert re.search(r"timings\.db: .*space on the disk", filled([sys.executable, "-c", FILL, database, "100000"]))
    with TimingDatabase(database) as reopened:
        count = len(reopened)
        reopened.add(Record(KEY, "name", None, TIMING))
        assert len(reopened) == count + 1


def test_a_disk_that_is_really_full_leaves_the_records(tmp_path: Path) -> None:
    """A file system of 300 KB in memory, which only this process and its children see."""
    mount = f"mount -t tmpfs -o size=300k none {tmp_path}"
    isolated: list[str | Path] = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*isolated, mount], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not mount a file system")
    command = f'{mount} && exec "$0" -c "$1" {tmp_path / "timings.db"} 0'
    assert re.search(r"timings\.db: .*full.*space on the disk", filled([*isolated, command, sys.executable, FILL]))


@pytest.mark.parametrize(
    "damage",
    ["problem_name = x'ff'", "threads = 'two'", "result = '{'", "result = '[]'", "machine = CAST(x'ff' AS TEXT)"],
)
def test_damaged_entries_are_refused(damage: str, database: TimingDatabase, tmp_path: Path) -> None:
    database.add(Record(KEY, "name", 1.0, TIMING))
    with contextlib.closing(sqlite3.connect(database.path)) as connection, connection:
        connection.execute(f"UPDATE measurements SET {damage}")
    with pytest.raises(_core.Error, match=r"timings\.db.*restore a copy"):
        list(database.records())
    (tmp_path / "timings.jsonl").write_text("of yesterday")
    with pytest.raises(_core.Error, match=r"timings\.db.*restore a copy"):
        database.export(tmp_path / "timings.jsonl")
    assert (tmp_path / "timings.jsonl").read_text() == "of yesterday"


def test_damaged_names_of_tables_are_refused(database: TimingDatabase) -> None:
    """SQLite quotes them, in messages that are no UTF-8."""
    database.close()
    data = database.path.read_bytes()
    database.path.write_bytes(
        data.replace(b"CREATE INDEX by_key ON measurements", b"CREATE INDEX by_key ON measure\xff\xfe\xfd\xfc\xfb")
    )
    with (
        pytest.raises(_core.Error, match=r"timings\.db is damaged: .utf-8.*restore a copy"),
        TimingDatabase(database.path) as reopened,
    ):
        list(reopened.records())


@pytest.mark.parametrize("line", [b"\xff", b"[" * 100_000, b"{}", b"null"])
def test_damaged_exports_are_refused(line: bytes, database: TimingDatabase, tmp_path: Path) -> None:
    (tmp_path / "timings.jsonl").write_bytes(line + b"\n")
    with pytest.raises(_core.FormatError, match=r"timings\.jsonl, line 1.*Export it again"):
        database.import_(tmp_path / "timings.jsonl")
    assert len(database) == 0


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises((DatabaseError, _core.FormatError), match=r"other\.db"):
        TimingDatabase(path, read_only=True)
    assert path.read_bytes() == content
    with pytest.raises(DatabaseError, match="unable to open"):
        TimingDatabase(tmp_path / "missing.db", read_only=True)


def test_keys_tell_schedules_apart(problem: SchedulingProblem) -> None:
    schedules = [random_schedule(problem, seed) for seed in range(20)]
    plans = [agent.plan(problem).schedule for agent in (Adams2019(beam_size=1), Mullapudi2016(), Li2018())]
    keys = {schedule_key(problem, schedule): schedule.cpp() for schedule in [*schedules, *plans]}
    assert len(keys) == len({schedule.cpp() for schedule in [*schedules, *plans]})
    assert schedule_key(problem, None) == "unscheduled"
    assert schedule_key(problem, TrustedSchedule(problem)) == "trusted"
    assert schedule_key(problem, Greedy().plan(problem).schedule) == schedule_key(problem, plans[0])


KEYS = """
import sys
import halide as hl
from halidegym import SchedulingProblem
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.timing.timers import recorded_as
for _ in range(int(sys.argv[1])):
    hl.Func("f"), hl.RDom([(0, 3)]), hl.RDom([(0, 3)], "r")
f, g, x = hl.Func("f"), hl.Func("g"), hl.Var("x")
r, named = hl.RDom([(0, 9)]), hl.RDom([(0, 8)], "r")
g[x] = 0
g[x] += x * r
g[x] += named
f[x] = g[x] + g[x + 1]
f.set_estimates([(0, 1000)])
problem = SchedulingProblem.from_pipeline(f, parallelism=2)
print(recorded_as(problem), schedule_key(problem, Greedy().plan(problem).schedule))
"""


def test_pipelines_that_are_analysed_alike_are_recorded_apart(database: TimingDatabase) -> None:
    def applied(function: Callable[[hl.Expr], hl.Expr]) -> SchedulingProblem:
        f, x = hl.Func("f"), hl.Var("x")
        f[x] = function(hl.cast(hl.Float(32), x))
        f.set_estimates([(0, 1000)])
        return SchedulingProblem.from_pipeline(f, parallelism=1)

    exponential, sine = applied(hl.exp), applied(hl.sin)
    assert exponential == sine
    key = Key(recorded_as(exponential), "unscheduled", "", sine.target, "one", 1, QUICK.to_json())
    database.add(Record(key, "f", None, TIMING))
    assert Replay(database).time(applied(hl.exp), None) == TIMING
    with pytest.raises(Unrecorded):
        Replay(database).time(sine, None)


def test_keys_are_the_same_in_every_process() -> None:
    printed = {
        subprocess.run([sys.executable, "-c", KEYS, str(n)], capture_output=True, check=True).stdout for n in (0, 12)
    }
    assert len(printed) == 1
    assert os.linesep.encode() in printed.pop()


def test_a_database_that_was_closed_says_so(tmp_path: Path) -> None:
    database = TimingDatabase(tmp_path / "times.sqlite")
    database.close()
    with pytest.raises(DatabaseError, match=r"times.sqlite was closed. Open it again"):
        list(database.records())


def test_settings_of_numpys_numbers_are_recorded_as_equal_ones_are() -> None:
    numpys = TimingSettings(seed=np.int64(3), time_limit_s=np.float32(0.5))  # type: ignore[arg-type]
    assert numpys.to_json() == TimingSettings(seed=3, time_limit_s=0.5).to_json()
