"""Where the times of plans come from: measured in a process of its own, and recorded."""

from __future__ import annotations

import dataclasses
import math
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import NoReturn, TypeVar

from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import KeptProcess, ProcessFailed
from halidegym.envs.timing.database import Key, Record, TimingDatabase
from halidegym.envs.timing.machine import measuring, this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, median_interval
from halidegym.envs.transform import measuring as worker
from halidegym.envs.transform.measuring import TimedPlan
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.records import TransformProblemKey, comparison_of, texts_of, ways_settings
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.native import _core
from halidegym.native._core import InternalError, InvalidParameter
from halidegym.native.checks import check_given, check_kind

_BATCH = 256  # of plans measured under one lock, and of records written at once
_WORKER_MEMORY = 4 << 30

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Standing:
    """A plan in a race.

    Attributes:
        plan: its text.
        cost: microseconds: the least of all rounds, as disturbances only add.
        ratio: of its cost to the winner's.
        low: end of an interval that covers the median ratio of a round with a confidence of 95 % (from six rounds on).
        high: its other end.
    """

    plan: str
    cost: float
    ratio: float
    low: float
    high: float


class TransformTimer:
    """Times plans of one size in a process of its own, and keeps every time. Use as a context, or close it.

    The rules (all of them needed, where other programs run on the machine): a plan takes turns with the reference plan,
    and what counts is how its least time compares with the reference's least. Who is better than all before is timed
    again with twice the samples, at once and some hundred evaluations later, and the longest time counts. The best of a
    search race at its end.

    Args:
        reference: a good plan of the size, such as the model's optimum.
        settings: how to time.
        space: that the plans are from; for records.
        lanes: of this space, likewise; None for those of this machine.
        database: to record in, or its path; what is on record is not measured again. None keeps nothing.
        remeasure: measure even what is on record.

    Raises:
        InvalidParameter: an argument is something else.
        DatabaseError: the database cannot be opened.
        FormatError: it is something else, or damaged.

    Attributes:
        evaluations: plans, or sub-plans of a problem, that were timed.
        executed_s: seconds spent in running them.
    """

    def __init__(
        self,
        reference: TransformPlan,
        settings: TransformTimingSettings | None = None,
        *,
        space: str = "basic",
        lanes: Sequence[int] | None = None,
        database: TimingDatabase | str | os.PathLike[str] | None = None,
        remeasure: bool = False,
    ) -> None:
        check_given(TransformPlan, reference=reference)
        check_kind(TransformTimingSettings, settings=settings)
        self.reference = reference
        self.settings = settings or TransformTimingSettings()
        self.key = TransformProblemKey.of(reference.n, space, lanes)
        self._any_plan = Key(
            problem=self.key.digest,
            schedule="",
            baseline=reference.text,
            target="lanes " + ",".join(map(str, self.key.lanes)),
            machine=this_machine().fingerprint,
            threads=1,
            settings=self.settings.to_json(),
        )
        self.evaluations = 0
        self.executed_s = 0.0
        self._owns_database = isinstance(database, str | os.PathLike)
        self._database = TimingDatabase(database) if isinstance(database, str | os.PathLike) else database
        check_kind(TimingDatabase, database=self._database)
        self._plans: dict[str, TimedPlan] = {}
        self._ways: dict[Key, tuple[float, ...]] = {}
        if self._database is not None and not remeasure:
            self._read(self._database)
        self._least = self._least_of_all()
        self._unwritten: list[Record] = []
        # What is measured is on record even if nobody closes the timer, as of an environment in a script that ends.
        self._write_last = weakref.finalize(self, _write, self._database, self._unwritten, os.getpid())
        # The best plans so far, and the evaluation after which they are timed again.
        self._to_repeat: dict[str, int] = {}
        self._process = KeptProcess(memory_bytes=_WORKER_MEMORY, forked=False)
        self._is_closed = False

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"TransformTimer({self.key.name!r}, {self._database!r}, evaluations={self.evaluations})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a TransformTimer has a process, and cannot be copied or pickled; make another, as env.spec.make() does for an "
            "environment"
        )

    def __enter__(self) -> TransformTimer:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cost(self, plan: str) -> float:
        """Microseconds that a plan takes.

        Raises:
            InvalidParameter: the text is no plan of this size, or needs vectors that this machine lacks; or the timer was
                closed.
            InternalError: its output is wrong.
            ProcessFailed: the process that times it died.
            DatabaseError: it cannot be recorded.
        """
        known = self._plans.get(plan) if isinstance(plan, str) else None
        return self.costs([plan])[0] if known is None else _microseconds(known)

    def costs(self, plans: Sequence[str]) -> list[float]:
        """Those of several plans, measured one after another under one lock; see `cost`."""
        plans = texts_of(plans)
        missing = [plan for plan in dict.fromkeys(plans) if plan not in self._plans]
        for first in range(0, len(missing), _BATCH):
            with measuring():
                self._measure(missing[first : first + _BATCH])
        if len(self._unwritten) >= _BATCH:
            self.flush()
        return [_microseconds(self._plans[plan]) for plan in plans]

    def comparison(self, plan: str) -> Comparison:
        """A plan beside the reference: how many times faster it is by the samples of each turn; see `cost`."""
        self.cost(plan)
        return comparison_of(self._plans[plan])

    def race(self, plans: Iterable[str]) -> list[Standing]:
        """Plans of this size in turns, in longer samples; the fastest first.

        Raises:
            InvalidParameter: there are no plans, or see `cost`.
        """
        distinct = list(dict.fromkeys(texts_of(plans)))
        if not distinct:
            raise InvalidParameter("plans has none to race; give at least one")
        turns = self.turns(distinct)
        winner = min(turns, key=min)
        standings = []
        for plan, samples in zip(distinct, turns, strict=True):
            low, high = median_interval([own / best for own, best in zip(samples, winner, strict=True)])
            standings.append(Standing(plan, min(samples) * 1e6, min(samples) / min(winner), low, high))
        return sorted(standings, key=lambda standing: standing.cost)

    def turns(self, plans: Sequence[str]) -> list[list[float]]:
        """Seconds per run of plans of this size in each round of a race, whose outputs nobody looks at."""
        settings = self.settings
        texts = texts_of(plans)
        with measuring():
            return self._call(worker.take_turns, texts, settings, settings.final_rounds, settings.final_sample_s)

    def race_ways(
        self, problem: _core.TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float, seed: int = 0
    ) -> list[list[float]]:
        """Microseconds of sub-plans of one problem in each round, on buffers with the problem's strides, hot.

        With a database, ways are recorded under the seed: another seed measures anew what is on record.

        Raises:
            InvalidParameter: an argument is something else; or see `cost`.
        """
        ways = texts_of(ways)
        any_way = dataclasses.replace(
            self._any_plan,
            problem=self.key.digest_of(problem),
            baseline="",
            settings=ways_settings(rounds, sample_s, seed),
        )
        keys = [dataclasses.replace(any_way, schedule=way) for way in ways]
        if not all(key in self._ways for key in keys):  # they take turns, so that one alone would be no use
            with measuring():
                turns = self._call(worker.take_turns_at, problem, ways, self.settings, rounds, sample_s)
            self.evaluations += len(ways)
            self.executed_s += len(ways) * rounds * sample_s
            if self._database is None:
                return [_in_microseconds(samples) for samples in turns]
            for key, samples in zip(keys, turns, strict=True):
                self._ways[key] = tuple(samples)
                timing = Timing("ok", tuple(samples), 0.0, disturbed=(False,) * rounds, machine=this_machine())
                self._unwritten.append(Record(key, f"{self.key.name}: {problem}", None, timing))
            if len(self._unwritten) >= _BATCH:
                self.flush()
        return [_in_microseconds(self._ways[key]) for key in keys]

    def flush(self) -> None:
        """Write to the database what is not yet there.

        Raises:
            DatabaseError: it cannot be written.
        """
        _write(self._database, self._unwritten, os.getpid())

    def close(self) -> None:
        """Write what is not yet on record, end the process, and close the database if it was opened here.

        What was measured until then can still be asked for.
        """
        self._is_closed = True
        try:
            self.flush()
        finally:
            self._write_last.detach()
            self._process.close()
            if self._database is not None and self._owns_database:
                self._database.close()

    def _read(self, database: TimingDatabase) -> None:
        for record in database.records():
            key, result = record.key, record.result
            if isinstance(result, Timing):
                self._ways[key] = result.samples_s
            elif dataclasses.replace(key, schedule="") == self._any_plan:
                error = result.a.relative_error
                self._plans[key.schedule] = TimedPlan(
                    result.a.samples_s, result.b.samples_s, math.nan if error is None else error, executed_s=0.0
                )

    def _measure(self, plans: Sequence[str]) -> None:
        turns, again = self.settings.turns, self.settings.again_after
        for plan, timed in zip(plans, self._timed(plans, turns), strict=True):
            if _microseconds(timed) < self._least:
                (repeated,) = self._timed([plan], 2 * turns)
                self._to_repeat[plan] = self.evaluations + again
                self._keep(plan, max(timed, repeated, key=_microseconds))
            else:
                self._keep(plan, timed)
        due = [plan for plan, when in self._to_repeat.items() if when <= self.evaluations]
        for plan in due:
            del self._to_repeat[plan]
            (repeated,) = self._timed([plan], 2 * turns)
            if _microseconds(repeated) > _microseconds(self._plans[plan]):
                self._keep(plan, repeated)
                self._least = self._least_of_all()

    def _least_of_all(self) -> float:
        return min(map(_microseconds, self._plans.values()), default=math.inf)

    def _timed(self, plans: Sequence[str], turns: int) -> list[TimedPlan]:
        timed = self._call(worker.time_plans, plans, self.settings, turns)
        for plan, found in zip(plans, timed, strict=True):
            self.evaluations += 1
            self.executed_s += found.executed_s
            if not found.relative_error <= self.settings.tolerance:
                raise InternalError(
                    f"The output of the plan {plan!r} of {self.key.n} elements is wrong: relative error "
                    f"{found.relative_error}. Report it."
                )
        return timed

    def _keep(self, plan: str, timed: TimedPlan) -> None:
        self._plans[plan] = timed
        self._least = min(self._least, _microseconds(timed))
        if self._database is not None:
            self._unwritten.append(
                Record(dataclasses.replace(self._any_plan, schedule=plan), self.key.name, None, comparison_of(timed))
            )

    def _call(self, function: Callable[..., T], *args: object) -> T:
        if self._is_closed:  # nobody would put on record what it measured now, nor end its process
            raise InvalidParameter(
                f"The timer of plans of {self.reference.n} elements was closed, and measures no more; make another one"
            )
        try:
            return self._process.call(function, self.reference.n, self.reference.text, *args)
        except ProcessEnded as ended:
            raise ProcessFailed(
                f"The process that times plans of {self.reference.n} elements ended: {ended}. The next plan gets another one"
            ) from None


def _write(database: TimingDatabase | None, unwritten: list[Record], process: int) -> None:
    """Put on record what is not yet there, in the process that measured it: a fork has a copy, and leaves it alone."""
    if database is not None and unwritten and process == os.getpid():
        database.add_all(unwritten)
    unwritten.clear()


def _microseconds(timed: TimedPlan) -> float:
    return timed.seconds * 1e6


def _in_microseconds(samples: Sequence[float]) -> list[float]:
    return [seconds * 1e6 for seconds in samples]
