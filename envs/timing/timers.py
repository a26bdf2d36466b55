"""Where run times come from: measured and recorded, or replayed from the record."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, runtime_checkable

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.database import Key, Record, TimingDatabase, check_missing
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.turns import MOST_ROUNDS
from halidegym.native._core import Error, InvalidParameter
from halidegym.native.checks import check_given, check_kind


@runtime_checkable
class Timer(Protocol):
    """What rewards and agents need to know run times. Costs are those of the cost model, None if unknown."""

    def time(self, problem: SchedulingProblem, schedule: ScheduleLike, *, cost: float | None = None) -> Timing:
        """The timing of a schedule of a problem."""

    def compare(
        self,
        problem: SchedulingProblem,
        a: ScheduleLike,
        b: ScheduleLike,
        *,
        costs: tuple[float | None, float | None] = (None, None),
    ) -> Comparison:
        """How many times faster one schedule is than another."""

    def close(self) -> None:
        """Let go of processes and files."""


def recorded_as(problem: SchedulingProblem) -> str:
    """What the measurements of a problem are recorded under: what is scheduled, and what it computes."""
    return f"{problem.hash} {problem.algorithm}"


@contextlib.contextmanager
def opened(timer: Timer | None) -> Iterator[Timer]:
    """The timer itself; for None, one that measures here, by default settings and with no record, until the context ends."""
    if timer is not None:
        yield timer
        return
    with contextlib.closing(RecordingTimer()) as own:
        yield own


class RecordingTimer:
    """Measures on this machine, and keeps every measurement; what is on record is not measured again.

    Args:
        database: to record in, or its path; None keeps nothing.
        settings: how to time.
        remeasure: measure even what is on record.
        stopwatch: to measure with; by default one of its own with these settings.

    Raises:
        InvalidParameter: `database` or `settings` are something else.
        DatabaseError: the database cannot be opened.
        FormatError: it is something else, or damaged.
    """

    def __init__(
        self,
        database: TimingDatabase | str | os.PathLike[str] | None = None,
        settings: TimingSettings | None = None,
        *,
        remeasure: bool = False,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        self._database = TimingDatabase(database) if isinstance(database, str | os.PathLike) else database
        check_kind(TimingDatabase, database=self._database)
        self.stopwatch = Stopwatch(settings) if stopwatch is None else stopwatch
        self._remeasure = remeasure

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"RecordingTimer({self._database!r}, {self.stopwatch!r})"

    def time(self, problem: SchedulingProblem, schedule: ScheduleLike, *, cost: float | None = None) -> Timing:
        """The timing of a schedule of a problem; see `Stopwatch.time`.

        Raises:
            DatabaseError: it cannot be recorded.
        """
        (timing,) = self.time_all(problem, [schedule], costs=[cost])
        return timing

    def time_all(
        self,
        problem: SchedulingProblem,
        schedules: Sequence[ScheduleLike],
        *,
        costs: Sequence[float | None] | None = None,
    ) -> list[Timing]:
        """The timings of several schedules of a problem, which are compiled in parallel; see `Stopwatch.time_all`.

        Raises:
            DatabaseError: they cannot be recorded.
        """
        keys = [self._key(problem, schedule_key(problem, schedule)) for schedule in schedules]
        timings = dict(enumerate(map(self._find, keys)))
        missing = [index for index, known in timings.items() if known is None]
        measured = self.stopwatch.time_all(problem, [schedules[index] for index in missing]) if missing else []
        for index, timing in zip(missing, measured, strict=True):
            self._add(Record(keys[index], problem.name, costs[index] if costs else None, timing))
            timings[index] = timing
        return [timing for timing in timings.values() if isinstance(timing, Timing)]

    def compare(
        self,
        problem: SchedulingProblem,
        a: ScheduleLike,
        b: ScheduleLike,
        *,
        costs: tuple[float | None, float | None] = (None, None),
    ) -> Comparison:
        """How many times faster one schedule is than another; see `Stopwatch.compare`.

        Raises:
            DatabaseError: it cannot be recorded.
        """
        (comparison,) = self.compare_all(problem, [a], b, costs=[costs[0]])
        return comparison

    def compare_all(
        self,
        problem: SchedulingProblem,
        schedules: Sequence[ScheduleLike],
        baseline: ScheduleLike,
        *,
        costs: Sequence[float | None] | None = None,
        rounds: int = MOST_ROUNDS,
        worth: float = 0.0,
        by_work: bool = False,
        compile_within_s: float = math.inf,
        turns_within_s: float = math.inf,
    ) -> list[Comparison]:
        """How many times faster schedules are than a baseline, all taking turns; see `Stopwatch.compare_all`.

        Only if all comparisons are on record, they are answered from there. Those whose baseline fails are not recorded,
        and who did not compile in time is asked again if there is at least twice as much of it.

        Raises:
            DatabaseError: they cannot be recorded.
        """
        base = schedule_key(problem, baseline)
        way = _way(rounds, worth, by_work)
        keys = [self._key(problem, schedule_key(problem, schedule), base, way) for schedule in schedules]
        known = [result for result in map(self._find, keys) if isinstance(result, Comparison)]
        limit_s = min(self.stopwatch.settings.compile_timeout_s, compile_within_s)
        if len(known) == len(keys) and not any(_had_less_time(result.a, limit_s) for result in known):
            return known
        comparisons = self.stopwatch.compare_all(
            problem,
            schedules,
            baseline,
            rounds=rounds,
            worth=worth,
            by_work=by_work,
            compile_within_s=compile_within_s,
            turns_within_s=turns_within_s,
        )
        for key, cost, comparison in zip(keys, costs or [None] * len(keys), comparisons, strict=True):
            if comparison.b.outcome == "ok":  # else it says nothing of the schedule
                self._add(Record(key, problem.name, cost, comparison))
        return comparisons

    def close(self) -> None:
        """End the processes of the stopwatch, and close the database."""
        self.stopwatch.close()
        if self._database is not None:
            self._database.close()

    def _key(self, problem: SchedulingProblem, schedule: str, baseline: str = "", way: str = "") -> Key:
        return Key(
            problem=recorded_as(problem),
            schedule=schedule,
            baseline=baseline,
            target=problem.target,
            machine=this_machine().fingerprint,
            threads=self.stopwatch.threads_for(problem),
            settings=self.stopwatch.settings.to_json() + self.stopwatch.inputs_digest + way,
        )

    def _find(self, key: Key) -> Timing | Comparison | None:
        return None if self._database is None or self._remeasure else self._database.find(key)

    def _add(self, record: Record) -> None:
        if self._database is not None:
            self._database.add(record)


def _had_less_time(timing: Timing, compile_timeout_s: float) -> bool:
    """Whether a schedule was not compiled in time, but could be now."""
    return timing.compiler_was_late and 2 * timing.compile_s < compile_timeout_s


def _way(rounds: int, worth: float, by_work: bool) -> str:
    """How a comparison was made if not as `compare` does: with a few turns, it is no answer to who asks for many."""
    return (
        ""
        if (rounds, worth, by_work) == (MOST_ROUNDS, 0.0, False)
        else f"; {rounds} rounds, worth {worth}, by work {by_work}"
    )


class Unrecorded(Error):  # noqa: N818 - says what happened
    """A replay was asked for a schedule that is not on record."""


class Replay:
    """Answers from a record, without compiler and clock: equal questions get equal answers, bit for bit.

    Args:
        database: the record, or its path. It is read once, and may be closed then.
        settings: how it was timed; None for whatever is on record. Comparisons by many turns go before those by few.
        inputs_digest: of the arrays that were given as inputs, see `Stopwatch`; of no account without `settings`.
        machine: fingerprint of the machine; None for the only one on record.
        missing: what to do for a schedule that is not on record: raise an error, or answer with the cost model's estimate.

    Raises:
        InvalidParameter: there are measurements of several machines, and none was chosen, or of others alone; or an
            argument is something else.
        DatabaseError: the database cannot be opened.
        FormatError: it is something else, or damaged.
    """

    def __init__(
        self,
        database: TimingDatabase | str | os.PathLike[str],
        *,
        settings: TimingSettings | None = None,
        inputs_digest: str = "",
        machine: str | None = None,
        missing: Literal["error", "cost_model"] = "error",
    ) -> None:
        if isinstance(database, str | os.PathLike):
            with TimingDatabase(database, read_only=True) as opened:
                self._read(opened, settings, inputs_digest, machine, missing)
        else:
            self._read(database, settings, inputs_digest, machine, missing)

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"Replay({str(self._path)!r}, {len(self._results)} results, machine={self._machine!r})"

    def _read(
        self,
        database: TimingDatabase,
        settings: TimingSettings | None,
        inputs_digest: str,
        machine: str | None,
        missing: str,
    ) -> None:
        check_given(TimingDatabase, database=database)
        check_kind(TimingSettings, settings=settings)
        check_given(str, inputs_digest=inputs_digest)
        check_kind(str, machine=machine)
        machines = database.checked_machines(machine)
        if machine is None and len(machines) > 1:
            raise InvalidParameter(
                f"{database.path} has measurements of the machines {', '.join(machines)}. Choose one: machine=..."
            )
        check_missing(missing)
        self._machine = machine or "".join(machines)
        self._path = database.path
        self._missing = missing
        self._results: dict[tuple[str, str, str], Timing | Comparison] = {}
        wanted = None if settings is None else settings.to_json() + inputs_digest
        for record in sorted(database.records(), key=lambda record: ";" not in record.key.settings):
            key, (recorded, _, _) = record.key, record.key.settings.partition(";")
            is_meant = settings is None or (recorded == wanted and settings.threads in (None, key.threads))
            if key.machine == self._machine and is_meant:
                self._results[key.problem, key.schedule, key.baseline] = record.result

    def time(self, problem: SchedulingProblem, schedule: ScheduleLike, *, cost: float | None = None) -> Timing:
        """The recorded timing of a schedule.

        Raises:
            Unrecorded: there is none, and no estimate either.
        """
        key = schedule_key(problem, schedule)
        known = self._results.get((recorded_as(problem), key, ""))
        return known if isinstance(known, Timing) else self._estimate(problem, key, cost)

    def compare(
        self,
        problem: SchedulingProblem,
        a: ScheduleLike,
        b: ScheduleLike,
        *,
        costs: tuple[float | None, float | None] = (None, None),
    ) -> Comparison:
        """The recorded comparison of two schedules.

        Raises:
            Unrecorded: there is none, and no estimate either.
        """
        keys = schedule_key(problem, a), schedule_key(problem, b)
        known = self._results.get((recorded_as(problem), *keys))
        if isinstance(known, Comparison):
            return known
        timings = [self._estimate(problem, key, cost) for key, cost in zip(keys, costs, strict=True)]
        ratio = timings[1].median_s / timings[0].median_s
        return Comparison(ratio, ratio, ratio, *timings)

    def close(self) -> None:
        """Nothing to let go of."""

    def _estimate(self, problem: SchedulingProblem, key: str, cost: float | None) -> Timing:
        if self._missing == "error" or cost is None or not math.isfinite(cost):
            other_way = (
                ', or use missing="cost_model" in Python'
                if self._missing == "error"
                else ": it has no cost to estimate it by"
            )
            raise Unrecorded(
                f"{self._path} has no measurement of the schedule {key[:12]} of {problem.name!r} on the machine "
                f"{self._machine or '(none)'}. Record it with live timing, which trainings do with reward: measured"
                f"{other_way}."
            )
        # The unit of costs is a millisecond, as trained.
        return Timing("ok", (cost * 1e-3,), 0.0, disturbed=(False,), target=problem.target, is_estimate=True)
