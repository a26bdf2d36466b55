"""The kinds of files that are read: a sound one of each, how it is damaged, and what is done with what was read."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path

import halide as hl
import numpy as np

import pipelines_for_tests
from fuzz.mutations import mutate, mutate_json, scatter
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.timing.database import Key, Record, TimingDatabase
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.native.weights import builtin_weights, load_weights, save_weights
from oracle.builder_problem import SSE_AVX2


def _problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(
        pipelines_for_tests.ALL["blur"](), target=SSE_AVX2, parallelism=8, name="blur"
    )


def _solve(problem: SchedulingProblem) -> None:
    """Use a problem in all ways; a search may refuse it."""
    assert repr(problem)
    plan = Greedy().plan(problem)
    assert plan.loop_nest
    assert plan.schedule.cpp()
    assert plan.schedule.python()


class Kind(ABC):
    """A kind of files.

    Attributes:
        sound: an undamaged one.
    """

    sound: bytes

    @abstractmethod
    def __init__(self, folder: Path) -> None:
        """Make the sound file, in an empty folder."""

    @abstractmethod
    def write(self, path: Path, rng: np.random.Generator) -> None:
        """Write a damaged file."""

    @abstractmethod
    def use(self, path: Path) -> None:
        """Read it, and use what was read as others do.

        Raises:
            Error: it is refused.
        """


class Pipelines(Kind):
    """`.hlpipe` files."""

    def __init__(self, folder: Path) -> None:
        path = folder / "sound.hlpipe"
        hl.serialize_pipeline(pipelines_for_tests.ALL["blur"](), path)
        self.sound = path.read_bytes()

    def write(self, path: Path, rng: np.random.Generator) -> None:
        path.write_bytes(mutate(self.sound, rng))

    def use(self, path: Path) -> None:
        estimates = {"inp": [(0, 2048), (0, 2048)]}
        problem = SchedulingProblem.from_pipeline(path, target=SSE_AVX2, parallelism=8, estimates=estimates)
        problem.pipeline()
        _solve(problem)


class WeightsFiles(Kind):
    """`.weights` files."""

    def __init__(self, folder: Path) -> None:
        save_weights(builtin_weights(), folder / "sound.weights")
        self.sound = (folder / "sound.weights").read_bytes()
        self._problem = _problem()

    def write(self, path: Path, rng: np.random.Generator) -> None:
        path.write_bytes(mutate(self.sound, rng))

    def use(self, path: Path) -> None:
        state = Rules().space(self._problem, load_weights(path)).initial_state()
        while not state.is_complete:
            state = state.apply(0)
        float(state.cost())


_PROBLEM_MAGIC, _PROBLEM_HEADER = b"halidegym problem\n", struct.Struct("<IQQ32s")
_NATIVE_HEADER = struct.Struct("<8sIQQ")


class Problems(Kind):
    """Problem files. In two of three the checksums fit the damage, so that it reaches the readers behind them."""

    def __init__(self, folder: Path) -> None:
        self.sound = _problem().to_bytes()
        start = len(_PROBLEM_MAGIC) + _PROBLEM_HEADER.size
        self._version, length, _, _ = _PROBLEM_HEADER.unpack_from(self.sound, len(_PROBLEM_MAGIC))
        self._native, self._snapshot = self.sound[start : start + length], self.sound[start + length :]
        payload = self._native[_NATIVE_HEADER.size :]
        assert self._signed(self._with_checksum(payload), self._snapshot) == self.sound

    def write(self, path: Path, rng: np.random.Generator) -> None:
        path.write_bytes(self._damaged(rng))

    def use(self, path: Path) -> None:
        problem = SchedulingProblem.load(path)
        problem.pipeline()
        _solve(problem)

    def _damaged(self, rng: np.random.Generator) -> bytes:
        match rng.integers(6):
            case 0 | 1:
                return mutate(self.sound, rng)
            case 2 | 3:
                return self._signed(
                    self._with_checksum(mutate(self._native[_NATIVE_HEADER.size :], rng)), self._snapshot
                )
            case 4:
                return self._signed(mutate(self._native, rng), self._snapshot)
        return self._signed(self._native, self._damaged_snapshot(rng))

    def _damaged_snapshot(self, rng: np.random.Generator) -> bytes:
        """Its parameters only: Halide does not survive what nothing but the checksum keeps from it."""
        (length,) = struct.unpack_from("<Q", self._snapshot)
        parameters, pipeline = self._snapshot[8 : 8 + length], self._snapshot[8 + length :]
        if rng.random() < 0.5:
            parameters = mutate(parameters, rng)
        else:
            parameters = json.dumps(mutate_json(json.loads(parameters), rng)).encode()
        return struct.pack("<Q", len(parameters)) + parameters + pipeline

    def _with_checksum(self, payload: bytes) -> bytes:
        magic, version, _, _ = _NATIVE_HEADER.unpack_from(self._native)
        checksum = 0xCBF29CE484222325  # FNV-1a
        for byte in payload:
            checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
        return _NATIVE_HEADER.pack(magic, version, len(payload), checksum) + payload

    def _signed(self, native: bytes, snapshot: bytes) -> bytes:
        digest = hashlib.sha256(native + snapshot).digest()
        header = _PROBLEM_HEADER.pack(self._version, len(native), len(snapshot), digest)
        return _PROBLEM_MAGIC + header + native + snapshot


class Plans(Kind):
    """Plans as JSON files; half of the damage is to values and keys."""

    def __init__(self, folder: Path) -> None:
        self._problem = _problem()
        BeamSearch(beam_size=4).plan(self._problem, seed=5).save(folder / "sound.json")
        self.sound = (folder / "sound.json").read_bytes()

    def write(self, path: Path, rng: np.random.Generator) -> None:
        if rng.random() < 0.5:
            path.write_bytes(mutate(self.sound, rng))
        else:
            path.write_text(json.dumps(mutate_json(json.loads(self.sound), rng)), encoding="utf-8")

    def use(self, path: Path) -> None:
        plan = Plan.load(path, self._problem)
        assert repr(plan)
        assert plan.loop_nest
        assert plan.schedule.cpp()
        assert len(sorted(plan.candidates, key=lambda candidate: candidate.cost)) >= 1
        float(sum((plan.seconds, plan.cpu_seconds, *plan.pass_costs, *(step.cost for step in plan.history))))
        plan.save(path)
        Plan.load(path, self._problem)


class Databases(Kind):
    """Timing databases; in half of them SQLite finds the file sound, but an entry is damaged."""

    def __init__(self, folder: Path) -> None:
        timing = Timing("ok", (0.3, 0.25, 0.5), 0.5, disturbed=(False, True, False), machine=this_machine())
        self._key = Key("problem", "schedule", "", "target", "machine", 2, "{}")
        with TimingDatabase(folder / "sound.db") as database:
            for number in range(8):
                database.add(Record(replace(self._key, schedule=str(number)), "name", 1.5, timing))
                versus = replace(self._key, schedule=str(number), baseline="other")
                database.add(Record(versus, "name", None, Comparison(1.5, 1.2, 1.7, timing, timing)))
        self._columns = [column for _, column, *_ in _query(folder / "sound.db", "PRAGMA table_info(measurements)")]
        self.sound = (folder / "sound.db").read_bytes()

    def write(self, path: Path, rng: np.random.Generator) -> None:
        path.write_bytes(self.sound)
        match rng.integers(4):
            case 0:
                path.write_bytes(mutate(self.sound, rng))
            case 1:
                path.write_bytes(
                    self.sound[:100] + scatter(self.sound[100:], rng)
                )  # the header would be refused at once
            case 2:
                [(result,)] = _query(path, f"SELECT result FROM measurements WHERE id = {rng.integers(1, 17)}")
                _query(path, "UPDATE measurements SET result = ?", json.dumps(mutate_json(json.loads(result), rng)))
            case 3:
                column = self._columns[rng.integers(1, len(self._columns))]
                damaged = mutate(str(_query(path, f"SELECT {column} FROM measurements")[0][0]).encode(), rng)
                damage = ("CAST(? AS TEXT)", "?", "CAST(? AS INTEGER)")[rng.integers(3)]
                _query(path, f"UPDATE measurements SET {column} = {damage} WHERE id % 2", damaged)

    def use(self, path: Path) -> None:
        with TimingDatabase(path) as database:
            assert len(database) >= 0
            found = [database.find(replace(self._key, schedule=str(number))) for number in range(8)]
            found += [record.result for record in database.records()]
            for result in found:
                for timing in (result.a, result.b) if isinstance(result, Comparison) else (result,):
                    if timing is not None:
                        float(timing.min_s + timing.median_s + timing.spread + timing.is_disturbed)
                assert not isinstance(result, Comparison) or result.verdict
            assert all(isinstance(machine, str) for machine in database.machines())
            database.export(path.with_suffix(".jsonl"))
            database.add(Record(self._key, "name", 1.5, Timing("crash", (), 0.5, "words")))


class ExportedMeasurements(Kind):
    """What `TimingDatabase.export` writes."""

    def __init__(self, folder: Path) -> None:
        timing = Timing("ok", (0.3, 0.25, 0.5), 0.5, disturbed=(False, True, False), machine=this_machine())
        with TimingDatabase(folder / "sound.db") as database:
            for threads in (1, 2):
                key = Key("problem", "schedule", "", "target", "machine", threads, "{}")
                database.add(Record(key, "name", 1.5, timing))
                database.add(
                    Record(replace(key, baseline="other"), "name", None, Comparison(1.5, 1.2, 1.7, timing, timing))
                )
            database.export(folder / "sound.jsonl")
        self.sound = (folder / "sound.jsonl").read_bytes()

    def write(self, path: Path, rng: np.random.Generator) -> None:
        if rng.random() < 0.5:
            path.write_bytes(mutate(self.sound, rng))
        else:
            first, *rest = self.sound.splitlines()
            path.write_bytes(b"\n".join([json.dumps(mutate_json(json.loads(first), rng)).encode(), *rest]))

    def use(self, path: Path) -> None:
        with TimingDatabase(path.with_suffix(".db")) as database:
            count = database.import_(path)
            assert len(list(database.records())) == count


def _query(path: Path, command: str, *parameters: object) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    try:
        with connection:
            return connection.execute(command, parameters).fetchall()
    finally:
        connection.close()


KINDS: dict[str, type[Kind]] = {
    "pipeline": Pipelines,
    "weights": WeightsFiles,
    "problem": Problems,
    "plan": Plans,
    "database": Databases,
    "measurements": ExportedMeasurements,
}
