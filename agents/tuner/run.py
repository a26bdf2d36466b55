"""One tuning run, from the baseline to the last comparison."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from halidegym.agents.budget import Budget, EndedBy
from halidegym.agents.proposals import Proposal
from halidegym.agents.tuner.plan import ADAMS2019, TRUSTED, TuningStep
from halidegym.agents.tuner.progress import TuningProgress
from halidegym.agents.tuner.racing import SCREENING_ROUNDS, cost_for, decide, screen
from halidegym.agents.tuner.trials import Trial, Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.measurements import Comparison
from halidegym.envs.timing.timers import Timer
from halidegym.envs.timing.turns import MIN_ROUNDS, MOST_ROUNDS
from halidegym.native._core import Weights

_LEAST_OF_FINAL, _USUAL_OF_FINAL, _MOST_OF_FINAL = 0.03, 0.1, 0.35  # of the seconds
_COMPILING = 0.1  # of the seconds, likewise, for a batch, ...
_PATIENCE = 2.0  # ... unless this many times what the baseline takes is longer, for each schedule


class Source(Protocol):
    """Where schedules come from, such as a `Proposer`: different ones that have not been measured."""

    def first(self, trials: Trials, count: int) -> list[Proposal]:
        """Schedules to begin with."""

    def more(self, trials: Trials, count: int) -> list[Proposal]:
        """Schedules to choose a batch from; empty if there are none any more."""


@dataclass(frozen=True)
class Sizes:
    """How many schedules take part in what; see `Autotune`."""

    batch: int
    first: int
    proposals: int
    finalists: int


@dataclass(frozen=True)
class Ranked:
    """A schedule and how many times as fast as the baseline it is, with an interval, its seconds, and its larger inputs."""

    proposal: Proposal
    speedup: float
    low: float
    high: float
    run_time: float
    larger_inputs: str = ""


class Run:
    """Measures schedules of a problem until a budget is used up.

    Args:
        problem: to schedule; its parallelism is the number of threads to run on.
        baseline: what all are compared with; the trusted schedule takes its place, if it does not run.
        sizes: how many schedules take part in what.
        budget: of seconds and measurements.
        begin: when the seconds began to count, on the clock of `time.perf_counter`.
        timer: where run times come from.
        progress: where to show it.
        guide: weights of the cost model that tells beforehand which schedules are fast.

    Attributes:
        trials: what was measured.
        curve: each new fastest schedule.
        ended_by: why it is over.
        search_seconds: what proposing and choosing took.
        baseline_time: seconds of the baseline.
    """

    def __init__(
        self,
        problem: SchedulingProblem,
        baseline: Proposal,
        sizes: Sizes,
        budget: Budget,
        begin: float,
        timer: Timer,
        progress: TuningProgress | None,
        guide: Weights,
    ) -> None:
        self.trials = Trials(self._has_time, guide)
        self.curve: list[TuningStep] = []
        self.ended_by: EndedBy = "budget"
        self.search_seconds = 0.0
        self.baseline_time: float | None = None
        self._problem, self._sizes, self._budget, self._begin = problem, sizes, budget, begin
        self._timer, self._progress = timer, progress
        self._baseline = baseline
        self._base: ScheduleLike = Schedule.from_state(problem, baseline.state)
        self._most_s = 0.0  # for each schedule, in the slowest batch
        self._baseline_compile_s = 0.0
        self._num_lost = 0  # whose measurement tells nothing

    def measure(self, source: Source, seed: int) -> None:
        """Measure batch after batch. Ctrl-C ends it with what is there."""
        try:
            self._begin_with_baseline()
            rng, sizes = np.random.default_rng(seed), self._sizes
            waiting = source.first(self.trials, sizes.first)
            while (room := self._room()) > 0:
                begin = time.perf_counter()
                waiting = waiting or self._chosen(source, rng)
                if not self._has_time():
                    break
                if not waiting:
                    self.ended_by = "finished"  # there is nothing else to measure
                    break
                batch, waiting = waiting[:room], waiting[room:]
                self.search_seconds += time.perf_counter() - begin
                self._measure(batch)
                self._most_s = max(self._most_s, (time.perf_counter() - begin) / len(batch))
        except KeyboardInterrupt:
            self.ended_by = "interrupt"

    def ranking(self) -> list[Ranked]:
        """The fastest schedules, fastest first, by a last comparison; by the first one, if Ctrl-C ends it."""
        fastest = self.trials.fastest(self._sizes.finalists + 1)
        screened = [_ranked(trial, self.baseline_time) for trial in fastest]
        finalists = [trial for trial in fastest if trial.proposal is not self._baseline]
        if self.ended_by == "interrupt" or not finalists:
            return screened
        with contextlib.suppress(KeyboardInterrupt):
            return self._compared(finalists[: self._sizes.finalists]) or screened
        self.ended_by = "interrupt"
        return screened

    def _begin_with_baseline(self) -> None:
        cost = cost_for(self._problem, self._baseline)
        timing = self._timer.time(self._problem, self._base, cost=cost)
        self.trials.skip(self._baseline)
        if timing.outcome != "ok":
            self._base = TrustedSchedule(self._problem)
            timing = self._timer.time(self._problem, self._base)
        self.baseline_time = timing.median_s
        self._baseline_compile_s = timing.compile_s
        if not isinstance(self._base, TrustedSchedule):
            self.trials.add([self._baseline], [Comparison(1.0, 1.0, 1.0, timing, timing)])
        self._show()

    def _room(self) -> int:
        """How many more schedules may be measured."""
        room = self._sizes.batch
        if self._budget.measurements is not None:
            room = min(room, self._budget.measurements - self.measured)
        left = self._left()
        if left <= 0:
            return 0
        if left < room * self._most_s:  # there is time for a smaller batch
            room = int(left / self._most_s)
        return room

    def _has_time(self) -> bool:
        return self._left() > 0

    def _left(self) -> float:
        """Seconds until the last comparison begins."""
        return self._seconds_left() - self._reserve()

    def _seconds_left(self) -> float:
        """Seconds of the budget."""
        seconds = self._budget.seconds
        return math.inf if seconds is None else self._begin + seconds - time.perf_counter()

    def _compile_within(self, batch: Sequence[Proposal]) -> float:
        """Seconds that compiling a batch may take: few schedules keep Halide's compiler busy for a minute and more."""
        if self._budget.seconds is None:
            return math.inf
        usual = _PATIENCE * len(batch) * self._baseline_compile_s
        return max(0.0, min(self._left(), max(_COMPILING * self._budget.seconds, usual)))

    def _reserve(self) -> float:
        """Seconds that the last comparison is going to take, by the turns of the fastest so far.

        As many turns as an interval needs, and all of them within a tenth of the seconds.
        """
        seconds = self._budget.seconds
        if seconds is None:
            return 0.0
        fastest = [trial.comparison for trial in self.trials.fastest(self._sizes.finalists + 1)]
        entrants = [comparison.a for comparison in fastest] + [comparison.b for comparison in fastest[:1]]
        round_s = sum(entrant.run_s for entrant in entrants) / SCREENING_ROUNDS
        usual = min(max(MOST_ROUNDS * round_s, _LEAST_OF_FINAL * seconds), _USUAL_OF_FINAL * seconds)
        return min(max(MIN_ROUNDS * round_s, usual), _MOST_OF_FINAL * seconds)

    @property
    def baseline_name(self) -> str:
        """What the baseline is."""
        return TRUSTED if isinstance(self._base, TrustedSchedule) else ADAMS2019

    @property
    def measured(self) -> int:
        """How many schedules were measured, but for the baseline."""
        return len(self._drawn) + self._num_lost

    @property
    def compile_seconds(self) -> float:
        """What compiling these took, one after another."""
        return sum(trial.comparison.a.compile_s for trial in self._drawn)

    @property
    def run_seconds(self) -> float:
        """What verifying and timing these took."""
        return sum(trial.comparison.a.run_s for trial in self._drawn)

    @property
    def _drawn(self) -> list[Trial]:
        return [trial for trial in self.trials.done if trial.proposal is not self._baseline]

    def _chosen(self, source: Source, rng: np.random.Generator) -> list[Proposal]:
        proposals = source.more(self.trials, self._sizes.proposals)
        return self.trials.choose(proposals, self._sizes.batch, rng)

    def _measure(self, batch: Sequence[Proposal]) -> None:
        fastest, best_speed = self.trials.best, self.trials.best_speed
        limit_s = self._compile_within(batch)
        comparisons = screen(self._timer, self._problem, batch, self._base, best_speed, limit_s)
        if not all(map(_has_baseline, comparisons)):  # which has run before, so that says nothing of the others
            comparisons = screen(self._timer, self._problem, batch, self._base, best_speed, limit_s)
        told = [proposal for proposal, comparison in zip(batch, comparisons, strict=True) if _has_baseline(comparison)]
        comparisons = list(filter(_has_baseline, comparisons))
        self.trials.add(told, comparisons)
        for proposal in batch:
            self.trials.skip(proposal)
        self._num_lost += len(batch) - len(told)
        if comparisons:
            self.baseline_time = comparisons[0].b.median_s
        best = self.trials.best
        if best is not None and best is not fastest:
            seconds = time.perf_counter() - self._begin
            self.curve.append(TuningStep(seconds, self.measured, self.trials.best_speed, best.proposal.kind))
        self._show()

    def _compared(self, finalists: Sequence[Trial]) -> list[Ranked]:
        """The finalists by a comparison with the first one, the baseline among them; without those that fail in it."""
        favourite, *others = finalists
        schedules = [Schedule.from_state(self._problem, trial.proposal.state) for trial in others]
        first = Schedule.from_state(self._problem, favourite.proposal.state)
        *results, base = decide(self._timer, self._problem, [*schedules, self._base], first, self._seconds_left())
        if base.b.outcome != "ok":
            return self._compared(others) if others else []
        ranked = []
        if base.a.outcome == "ok":
            own = (1 / base.ratio, 1 / base.high, 1 / base.low)
            self.baseline_time = base.a.median_s
            if self.trials.done and self.trials.done[0].proposal is self._baseline:
                ranked.append(Ranked(self._baseline, 1.0, 1.0, 1.0, base.a.median_s, base.a.larger_inputs))
        else:  # it ran when the favourite was screened
            own = (favourite.comparison.ratio, favourite.comparison.low, favourite.comparison.high)
        ranked.append(Ranked(favourite.proposal, *own, base.b.median_s, base.b.larger_inputs))
        for trial, result in zip(others, results, strict=True):
            ratios = (result.ratio * own[0], result.low * own[1], result.high * own[2])
            ranked.append(Ranked(trial.proposal, *ratios, result.a.median_s, result.a.larger_inputs))
        return sorted((entry for entry in ranked if entry.speedup > 0), key=lambda entry: -entry.speedup)

    def _show(self) -> None:
        if self._progress is not None and self.baseline_time is not None:
            self._progress.show(self.measured, self.baseline_name, self.baseline_time, self.trials.best_speed)


def _has_baseline(comparison: Comparison) -> bool:
    return comparison.b.outcome == "ok"


def _ranked(trial: Trial, baseline_time: float | None) -> Ranked:
    comparison = trial.comparison
    return Ranked(
        trial.proposal,
        comparison.ratio,
        comparison.low,
        comparison.high,
        (baseline_time or 0.0) / comparison.ratio,
        comparison.a.larger_inputs,
    )
