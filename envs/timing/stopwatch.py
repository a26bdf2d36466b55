"""Compiling and timing schedules, one after another, with what that needs kept at hand."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.problems.problem import SchedulingProblem, usable_cores
from halidegym.envs.schedules.schedule_like import ScheduleLike, check_schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing import input_arrays
from halidegym.envs.timing.bench import Bench, Kernel
from halidegym.envs.timing.kernel import KernelFailed, RunningKernel, Sample, once_more_if_killed
from halidegym.envs.timing.kernel_store import KernelStore
from halidegym.envs.timing.machine import check_runs_here, compiling, measuring, this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.trusted import Trusted, cannot_verify
from halidegym.envs.timing.turns import MOST_ROUNDS, Entrant, in_order, race, ratio_of, without_drift
from halidegym.native import _core
from halidegym.native.checks import INT32_MAX, check_at_least, check_given, check_kind, checked_path

_MOST_COMPILERS = 1024  # more than any machine has cores; each is a process


class Stopwatch:
    """Times schedules on this machine, one at a time, whoever else times here.

    Keeps compiling processes and trusted outputs from one schedule to the next. Use as a context: leaving it ends the
    processes and removes the files. A schedule that fails is a result, not an exception, and leaves no trace in the next.
    A fork of this process may use it, too: it gets processes and files of its own.

    Args:
        settings: how to time.
        inputs: input name to an array for it; the others get random values. Axes are those of NumPy: dimension 0 of the
            image is the last one. The array covers the estimated region of the input; where rounded-up tiles read beyond it,
            its edges are repeated.
        compilers: how many schedules to compile at once; by default one per usable core.
        kernels: folder to keep compiled schedules in, and to look for them; None compiles everything anew.

    Raises:
        InvalidParameter: an argument is something else, or out of its range.
    """

    def __init__(
        self,
        settings: TimingSettings | None = None,
        *,
        inputs: Mapping[str, NDArray[Any]] | None = None,
        compilers: int | None = None,
        kernels: str | os.PathLike[str] | None = None,
    ) -> None:
        check_kind(TimingSettings, settings=settings)
        check_kind(Mapping, inputs=inputs)
        check_at_least(1, _MOST_COMPILERS, compilers=compilers)
        self.settings = TimingSettings() if settings is None else settings
        self._inputs = {name: np.array(array) for name, array in (inputs or {}).items()}  # the caller may change those
        self._store = None if kernels is None else KernelStore(checked_path("kernels", kernels))
        self._own_bench = Bench(usable_cores() if compilers is None else compilers, self._store)

    def __repr__(self) -> str:
        """What it is, in a line: of the settings, where it runs."""
        return f"Stopwatch(threads={self.settings.threads}, cpus={self.settings.cpus}, compilers={self.compilers})"

    def __enter__(self) -> Stopwatch:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes and remove all files of this process."""
        if self._own_bench.owner == os.getpid():
            self._own_bench.close()

    @property
    def _bench(self) -> Bench:
        if self._own_bench.owner != os.getpid():
            self._own_bench = Bench(self.compilers, self._store)
        return self._own_bench

    @property
    def compilers(self) -> int:
        """How many schedules are compiled at once."""
        return self._own_bench.compiler.workers

    @property
    def inputs_digest(self) -> str:
        """Hexadecimal digest of the arrays given as inputs; empty if there are none."""
        return input_arrays.digest(self._inputs)

    def threads_for(self, problem: SchedulingProblem) -> int:
        """How many threads a problem's schedules run on."""
        usable = self.settings.cpus or os.sched_getaffinity(0)
        return self.settings.threads or min(problem.parallelism, len(usable))

    def compile(self, problem: SchedulingProblem, schedules: Sequence[ScheduleLike]) -> list[float]:
        """Compile schedules of a problem, and the trusted one, for the folder of kernels; failures are passed over.

        Returns:
            The seconds in which a core worked: for the trusted schedule, and for the others in their order.
        """
        seconds = []
        with self._bench.in_use():
            for kernel in self._compiled(problem, [TrustedSchedule(problem), *schedules]):
                with kernel as compiled:
                    seconds.append(compiled.times.work_s)
        return seconds

    def time(self, problem: SchedulingProblem, schedule: ScheduleLike) -> Timing:
        """Compile a schedule and measure its run time.

        The pipeline runs in a process of its own, once to warm up, and then until the best samples agree or the time is
        over. Outputs have the estimated sizes.

        Args:
            problem: the problem; inputs and parameters have their estimates.
            schedule: of it, or None for the pipeline as its author left it.

        Raises:
            Error: the trusted schedule fails, so that outputs cannot be verified.
            InvalidParameter: an input does not fit the problem, there is no problem, or the stopwatch was closed.
        """
        (timing,) = self.time_all(problem, [schedule])
        return timing

    def time_all(self, problem: SchedulingProblem, schedules: Sequence[ScheduleLike]) -> list[Timing]:
        """Time several schedules of a problem: compile in parallel, then run one at a time. See `time`."""
        with self._bench.in_use(), contextlib.ExitStack() as stack:
            self._prepare(problem)
            kernels = [stack.enter_context(kernel) for kernel in self._compiled(problem, schedules)]
            return [self._time(problem, kernel) for kernel in kernels]

    def time_in_turns(
        self, problem: SchedulingProblem, schedules: Sequence[ScheduleLike], *, rounds: int = 7
    ) -> list[Timing]:
        """Time several schedules of a problem together, for the differences between them.

        All take turns, each in a fresh process, and what makes a round faster or slower for all is taken out. On one
        thread, the seconds count in which the core worked, so others may compile meanwhile; on several threads, those of
        the clock. A slow schedule takes fewer turns: none after the time limit.

        Args:
            problem: as for `time`.
            schedules: likewise.
            rounds: how many turns each takes at most.

        Returns:
            Timings with a sample for each turn.

        Raises:
            InvalidParameter: `rounds` is below 1.
            Error: as for `time`.
        """
        check_at_least(1, INT32_MAX, rounds=rounds)
        by_work = self.threads_for(problem) == 1
        with self._bench.in_use(), contextlib.ExitStack() as stack:
            self._prepare(problem)
            kernels = [stack.enter_context(kernel) for kernel in self._compiled(problem, schedules)]
            entrants = [self._entrant(problem, kernel, by_work) for kernel in kernels]
            with compiling() if by_work else measuring():
                for number in range(rounds):
                    for entrant in in_order(entrants, number):
                        if entrant.run_s < self.settings.time_limit_s:
                            entrant.take_turn()
        even = without_drift([entrant.turns for entrant in entrants])
        return [
            self._timing(
                problem,
                kernel,
                [Sample(s, disturbed, s) for s, disturbed in turns],
                entrant.failure,
                entrant.run_s,
                entrant.larger_inputs,
            )
            for kernel, entrant, turns in zip(kernels, entrants, even, strict=True)
        ]

    def compare(
        self,
        problem: SchedulingProblem,
        a: ScheduleLike,
        b: ScheduleLike,
        *,
        rounds: int = MOST_ROUNDS,
        precision: float = 0.01,
    ) -> Comparison:
        """Measure which of two schedules is faster; see `compare_all`."""
        (comparison,) = self.compare_all(problem, [a], b, rounds=rounds, precision=precision)
        return comparison

    def compare_all(
        self,
        problem: SchedulingProblem,
        schedules: Sequence[ScheduleLike],
        baseline: ScheduleLike,
        *,
        rounds: int = MOST_ROUNDS,
        precision: float = 0.01,
        worth: float = 0.0,
        by_work: bool = False,
        compile_within_s: float = math.inf,
        turns_within_s: float = math.inf,
    ) -> list[Comparison]:
        """Measure how many times faster schedules are than a baseline.

        All take turns, a few samples each, so that a drift of the machine's speed hits them alike. Each turn is a fresh
        process, so that the intervals cover how processes happen to lie in memory, and counts with its least sample.
        Samples that other processes or a standstill of the machine disturbed are marked, and do not count if a turn has
        others; rounds that have none but such do not count, if six others are left.

        Args:
            problem: as for `time`.
            schedules: likewise.
            baseline: what they are compared with.
            rounds: how many turns each takes at most; six for a confidence of 95 %.
            precision: stop before, from six rounds on, when no interval of a ratio is wider than this on either side.
            worth: who is not so many times as fast as the baseline in an undisturbed first turn, of which one sample is
                enough then, gets no more turns.
            by_work: whether the seconds count in which cores worked, not those of the clock. On one thread, a busy machine
                disturbs these little; on several, they do not tell how well the work is divided.
            compile_within_s: seconds that compiling may take for all schedules but the baseline, the limit of the settings
                for each apart. Who is not done then fails with a timeout.
            turns_within_s: seconds after which none takes more turns than the six that an interval needs.

        Raises:
            InvalidParameter: `rounds` is below 1.
            Error: as for `time`.
        """
        check_at_least(1, INT32_MAX, rounds=rounds)
        with self._bench.in_use(), contextlib.ExitStack() as stack:
            self._prepare(problem)
            deadlines = [math.inf, *[time.perf_counter() + compile_within_s] * len(schedules)]
            compiled = self._compiled(problem, [baseline, *schedules], deadlines)
            kernels = [stack.enter_context(kernel) for kernel in compiled]
            (base_kernel, base), *others = self._race(
                problem, kernels, rounds, precision, worth, by_work, turns_within_s
            )
            baseline_timing = self._timing_of(problem, base_kernel, base)
            return [
                Comparison(*ratio_of(other.turns, base.turns), self._timing_of(problem, kernel, other), baseline_timing)
                for kernel, other in others
            ]

    def run(self, problem: SchedulingProblem, schedule: ScheduleLike) -> list[NDArray[np.generic]]:
        """Run a schedule once, on the inputs on which it is timed.

        Returns:
            The outputs, tuple elements apart, with the axes of NumPy: the innermost dimension last.

        Raises:
            CompileError: the schedule does not compile.
            Error: it fails when it runs.
            InvalidParameter: as for `time`.
        """
        with self._bench.in_use(), contextlib.ExitStack() as stack:
            (kernel,) = [stack.enter_context(kernel) for kernel in self._compiled(problem, [schedule])]
            if kernel.failure is not None:
                raise _core.CompileError(f"{problem.name}: {kernel.failure.outcome}: {kernel.failure.error}")
            try:
                with self._running(problem, kernel) as running:
                    return running.outputs(kernel.library.parent)  # which goes with the kernel
            except KernelFailed as failed:
                raise _core.Error(
                    f"{problem.name}: {failed.outcome} of the compiled pipeline: {failed.error}"
                ) from None

    def _prepare(self, problem: SchedulingProblem) -> None:
        """See to it that the outputs of the trusted schedule are there."""
        check_given(SchedulingProblem, problem=problem)
        check_runs_here(problem.target)
        key = _identity(problem)
        if not self.settings.verify or key in self._bench.trusted:
            return
        with contextlib.ExitStack() as stack:
            (kernel,) = [stack.enter_context(kernel) for kernel in self._compiled(problem, [TrustedSchedule(problem)])]
            try:
                if kernel.failure is not None:
                    raise kernel.failure
                with self._running(problem, kernel) as running:
                    self._bench.keep_trusted(key, Trusted.of(problem, running, self._bench.new_directory()))
            except KernelFailed as failed:
                raise cannot_verify(problem, failed) from None

    def _compiled(
        self, problem: SchedulingProblem, schedules: Sequence[ScheduleLike], deadlines: Sequence[float] = ()
    ) -> list[contextlib.AbstractContextManager[Kernel]]:
        for schedule in schedules:
            check_schedule(problem, schedule)
        return self._bench.compiled(problem, schedules, self.settings.compile_timeout_s, deadlines)

    def _running(self, problem: SchedulingProblem, kernel: Kernel) -> RunningKernel:
        runtime = self._bench.compiler.runtime_library(problem.target)
        return RunningKernel(
            runtime, kernel.library, self.threads_for(problem), self.settings, self._input_files(problem)
        )

    def _input_files(self, problem: SchedulingProblem) -> list[str]:
        if not self._inputs:
            return []
        key = _identity(problem)
        if key not in self._bench.inputs:
            self._bench.inputs[key] = input_arrays.write(problem, self._inputs, self._bench.new_directory())
        return self._bench.inputs[key]

    def _time(self, problem: SchedulingProblem, kernel: Kernel) -> Timing:
        if kernel.failure is not None:
            return self._timing(problem, kernel, [], kernel.failure, 0.0, "")
        failure, taken, larger = None, list[Sample](), ""
        with measuring():
            begin = time.perf_counter()
            try:
                taken, larger = once_more_if_killed(functools.partial(self._samples, problem, kernel))
            except KernelFailed as failed:
                failure = failed
            return self._timing(problem, kernel, taken, failure, time.perf_counter() - begin, larger)

    def _samples(self, problem: SchedulingProblem, kernel: Kernel) -> tuple[list[Sample], str]:
        """Samples of a run whose output is right before and after, and what it says of its inputs."""
        with self._running(problem, kernel) as running:
            larger = self._check(problem, running)
            taken = running.samples()
            self._check(problem, running)
            return taken, larger

    def _entrant(self, problem: SchedulingProblem, kernel: Kernel, by_work: bool = False) -> Entrant:
        start, check = functools.partial(self._running, problem, kernel), functools.partial(self._check, problem)
        return Entrant(start, check, by_work, kernel.failure)

    def _race(
        self,
        problem: SchedulingProblem,
        kernels: Sequence[Kernel],
        rounds: int,
        precision: float,
        worth: float,
        by_work: bool,
        within_s: float,
    ) -> list[tuple[Kernel, Entrant]]:
        """Let kernels take turns; the first one is the baseline."""
        entrants = [self._entrant(problem, kernel, by_work) for kernel in kernels]
        limit_s = min(within_s, len(kernels) * (self.settings.time_limit_s + self.settings.patience_s))
        with compiling() if by_work else measuring():
            race(entrants, rounds, precision, worth, limit_s)
        return list(zip(kernels, entrants, strict=True))

    def _check(self, problem: SchedulingProblem, running: RunningKernel) -> str:
        return self._bench.trusted[_identity(problem)].check(running) if self.settings.verify else ""

    def _timing_of(self, problem: SchedulingProblem, kernel: Kernel, entrant: Entrant) -> Timing:
        return self._timing(problem, kernel, entrant.counted, entrant.failure, entrant.run_s, entrant.larger_inputs)

    def _timing(
        self,
        problem: SchedulingProblem,
        kernel: Kernel,
        taken: Sequence[Sample],
        failure: KernelFailed | None,
        run_s: float,
        larger_inputs: str,
    ) -> Timing:
        counted = [] if failure is not None else taken
        return Timing(
            outcome="ok" if failure is None else failure.outcome,
            samples_s=tuple(sample.run_s for sample in counted),
            compile_s=kernel.times.compile_s + kernel.times.link_s,
            error="" if failure is None else failure.error,
            disturbed=tuple(sample.disturbed for sample in counted),
            threads=self.threads_for(problem),
            target=problem.target,
            machine=this_machine(),
            halide_s=kernel.times.halide_s,
            link_s=kernel.times.link_s,
            run_s=run_s,
            larger_inputs=larger_inputs if failure is None else failure.larger_inputs,
        )


def _identity(problem: SchedulingProblem) -> str:
    """Of the algorithm itself: problems with different arithmetic can be equal."""
    return hashlib.sha256(problem.to_bytes()).hexdigest()
