"""Collecting: schedules of one pipeline after another are drawn, compiled ahead and timed."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from halidegym.agents.proposals import Proposal, proposal_of
from halidegym.envs.pipelines import generated
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.kernel_store import KernelStore
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measured_schedule import MeasuredSchedule, features_of
from halidegym.envs.timing.measurements import Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.native._core import Error
from halidegym.native.checks import INT32_MAX, check_at_least, check_number, check_present
from halidegym.training.measured.collection import MeasuredCollection
from halidegym.training.measured.sets import NotCollected, Recipe, SetName, draw
from halidegym.training.measured.store import MeasuredStore

_AHEAD = 2  # sets that are compiled before their turn


@dataclass(frozen=True)
class Wanted:
    """A set to collect.

    Attributes:
        name: of the set.
        load: makes its problem, for as many cores as there are threads.
    """

    name: SetName
    load: Callable[[], SchedulingProblem]


@dataclass
class Spent:
    """What the time went into, in seconds.

    Attributes:
        drawing: loading pipelines and drawing schedules.
        compiling: in which cores worked for it.
        timing: schedules, verification included.
        waiting: for schedules that were not compiled yet.
    """

    drawing: float = 0.0
    compiling: float = 0.0
    timing: float = 0.0
    waiting: float = 0.0

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(
            self.drawing + other.drawing,
            self.compiling + other.compiling,
            self.timing + other.timing,
            self.waiting + other.waiting,
        )


@dataclass(frozen=True)
class CollectSettings:
    """How to collect.

    Attributes:
        recipe: how schedules are drawn.
        timing: how they are timed; the threads are those of each set.
        rounds: turns that each schedule takes at most.
        compilers: schedules to compile at once.
        compile_s: pipelines are left out whose greedy schedule takes a core longer to compile.

    Raises:
        InvalidParameter: a number is out of its range.
    """

    recipe: Recipe = field(default_factory=Recipe)
    timing: TimingSettings = field(
        default_factory=lambda: TimingSettings(time_limit_s=4.0, timeout_s=10.0, compile_timeout_s=60.0)
    )
    rounds: int = 7
    compilers: int = 2
    compile_s: float = 1.5

    def __post_init__(self) -> None:
        # Later they would be taken for faults of the pipelines, which would be left out for good.
        check_at_least(1, INT32_MAX, **check_present(rounds=self.rounds))
        check_number(**check_present(compile_s=self.compile_s))


@dataclass(frozen=True)
class _Compiled:
    """A set whose kernels are in the store, or why there is none."""

    name: SetName
    problem: SchedulingProblem | None = None
    drawn: tuple[Proposal, ...] = ()
    failure: str = ""

    @property
    def schedules(self) -> list[Schedule]:
        """What was drawn."""
        assert self.problem is not None
        return [Schedule.from_state(self.problem, proposal.state) for proposal in self.drawn]


class Collector:
    """Collects into a store; compiles in a thread of its own what is timed later.

    Args:
        store: to collect into.
        settings: how.

    Attributes:
        spent: what the time went into so far.
    """

    def __init__(self, store: MeasuredStore, settings: CollectSettings | None = None) -> None:
        self.spent = Spent()
        self._store = store
        self._settings = settings or CollectSettings()

    def collect(self, wanted: Iterable[Wanted], *, seconds: float) -> Iterator[SetName]:
        """Collect the sets that the store does not have yet, one after another, and begin none after this time.

        Yields:
            The name of each set when it is done; those that were there already, too.

        Raises:
            OSError: the store or the kernels cannot be written.
        """
        deadline = time.monotonic() + seconds
        done = self._store.done
        jobs: list[Future[_Compiled]] = []
        settings = self._settings
        # The compilers end first: whoever leaves waits for no schedules that nobody will time.
        with (
            ScratchFolder() as kernels,
            ThreadPoolExecutor(1) as ahead,
            Stopwatch(settings.timing, compilers=settings.compilers, kernels=kernels) as compilers,
        ):
            try:
                for set_ in wanted:
                    if set_.name in done:
                        yield set_.name
                        continue
                    jobs.append(ahead.submit(self._compiled, set_, compilers))
                    if len(jobs) > _AHEAD:
                        yield self._measure(jobs.pop(0), kernels)
                    if time.monotonic() > deadline:
                        break
                while jobs and time.monotonic() < deadline:
                    yield self._measure(jobs.pop(0), kernels)
            finally:
                for job in jobs:
                    job.cancel()

    def _compiled(self, wanted: Wanted, compilers: Stopwatch) -> _Compiled:
        try:
            begin = time.perf_counter()
            problem = wanted.load()
            drawn = draw(problem, self._settings.recipe)
            self.spent.drawing += time.perf_counter() - begin
            schedules = [Schedule.from_state(problem, proposal.state) for proposal in drawn]
            first = compilers.compile(problem, schedules[:1])
            if first[-1] > self._settings.compile_s:
                raise NotCollected(f"its greedy schedule takes {first[-1]:.1f} s to compile")
            self.spent.compiling += sum(first) + sum(compilers.compile(problem, schedules[1:])[1:])
            return _Compiled(wanted.name, problem, tuple(drawn))
        except OSError:  # of this machine, not of the pipeline, though some are an Error, too
            raise
        except (Error, NotCollected) as error:
            return _Compiled(wanted.name, failure=str(error))

    def _measure(self, job: Future[_Compiled], kernels: Path) -> SetName:
        begin = time.perf_counter()
        compiled = job.result()
        self.spent.waiting += time.perf_counter() - begin
        try:
            if compiled.problem is None:
                raise NotCollected(compiled.failure)
            measured = self._timed(compiled.problem, compiled, kernels)
            self._store.add(MeasuredCollection(this_machine(), measured))
        except OSError:
            raise
        except (Error, NotCollected) as error:
            self._store.add(MeasuredCollection(this_machine(), skipped={compiled.name: str(error)}))
        return compiled.name

    def _timed(self, problem: SchedulingProblem, compiled: _Compiled, kernels: Path) -> tuple[MeasuredSchedule, ...]:
        begin = time.perf_counter()
        # One of its own, since it keeps the outputs of the trusted schedule as long as it lives.
        timing = dataclasses.replace(self._settings.timing, threads=compiled.name.threads)
        with Stopwatch(timing, compilers=1, kernels=kernels) as stopwatch:
            timings = stopwatch.time_in_turns(problem, compiled.schedules, rounds=self._settings.rounds)
        self.spent.timing += time.perf_counter() - begin
        KernelStore(kernels).forget(problem, [TrustedSchedule(problem), *compiled.schedules])
        return tuple(
            measured(compiled.name, problem, proposal, timing)
            for proposal, timing in zip(compiled.drawn, timings, strict=True)
        )


def measured(name: SetName, problem: SchedulingProblem, proposal: Proposal, timing: Timing) -> MeasuredSchedule:
    """A proposal that was timed.

    Args:
        name: of the set that it was timed in.
        problem: that it schedules, for any number of cores.
        proposal: the schedule.
        timing: by `Stopwatch.time_in_turns`.
    """
    scheduled = problem.with_parallelism(proposal.parallelism)
    stages, pipeline_features, schedule_features = features_of(proposal.state)
    return MeasuredSchedule(
        pipeline=name.pipeline,
        problem=scheduled.hash,
        split=generated.split_of(name.pipeline),
        kind=proposal.kind,
        actions=proposal.actions,
        parallelism=proposal.parallelism,
        threads=timing.threads,
        cost=proposal_of(proposal.kind, Rules().space(scheduled), proposal.actions).cost,
        outcome=timing.outcome,
        error=timing.error,
        run_time_s=timing.median_s if timing.samples_s else math.nan,
        turns_s=timing.samples_s,
        disturbed=sum(timing.disturbed),
        compile_s=timing.compile_s,
        stages=stages,
        pipeline_features=pipeline_features,
        schedule_features=schedule_features,
    )
