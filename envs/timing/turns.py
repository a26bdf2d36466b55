"""Kernels that take turns, and what the ratio of their times is."""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from halidegym.envs.timing.kernel import KernelFailed, RunningKernel, Sample, once_more_if_killed
from halidegym.envs.timing.measurements import median_interval

MIN_ROUNDS = 6
"""The fewest that give an interval of 95 %."""

MOST_ROUNDS = 15
"""Where nobody asks for another number."""

_FEWEST_TO_TELL_A_PACE = 3  # entrants in a round
_SAMPLES_PER_TURN = 3
_LONG_SAMPLE_S = 0.3  # is enough for a turn, undisturbed
_TELLING_SAMPLE_S = 0.05  # is enough to tell that another one is slower, likewise
_SHORT_SAMPLES_PER_TURN, _TURN_S = 12, 0.03

Turn: TypeAlias = tuple[float, bool]
"""Seconds per run, and whether it was disturbed; see `Sample`."""


@dataclasses.dataclass
class Entrant:
    """One of several kernels that take turns, each turn in a fresh process.

    How a process lies in memory (address-space layout, physical pages) makes equal kernels a few per cent faster or slower
    as long as it lives (Mytkowicz et al. 2009, "Producing Wrong Data Without Doing Anything Obviously Wrong!"). With a
    process for each turn, this is noise between rounds like any other, and intervals cover it.

    Attributes:
        start: runs the kernel in a new process.
        check: compares its output with the expected one, and says which inputs are larger than the pipeline's own.
        by_work: whether its turns count by the seconds in which cores worked for it, whether they were disturbed or not.
        failure: why it does not run, or not any more.
        samples: all that were taken.
        turns: its turns; empty if it failed.
        run_s: seconds that it took, all in all.
        larger_inputs: what `check` said.
    """

    start: Callable[[], RunningKernel]
    check: Callable[[RunningKernel], str]
    by_work: bool = False
    failure: KernelFailed | None = None
    samples: list[Sample] = dataclasses.field(default_factory=list)
    turns: list[Turn] = dataclasses.field(default_factory=list)
    run_s: float = 0.0
    larger_inputs: str = ""

    def take_turn(self, hopeless_s: float = math.inf) -> None:
        """Take a few samples, of which the least undisturbed one counts; then check the output.

        Args:
            hopeless_s: a single sample, unless it is short, is enough to tell that a run takes longer.
        """
        if self.failure is not None:
            return
        begin = time.perf_counter()
        try:
            taken, self.larger_inputs = once_more_if_killed(lambda: self._checked_samples(hopeless_s))
            self.samples.extend(taken)
            if self.by_work:
                self.turns.append((min(sample.work_s for sample in taken), False))
            else:
                best = min(taken, key=lambda sample: (sample.disturbed, sample.run_s))
                self.turns.append((best.run_s, best.disturbed))
        except KernelFailed as failed:
            self.failure = failed
            self.turns.clear()
        self.run_s += time.perf_counter() - begin

    def _checked_samples(self, hopeless_s: float) -> tuple[list[Sample], str]:
        with self.start() as running:
            taken = [running.sample()]
            first = self._as_counted(taken[0])
            if first.disturbed or first.run_s < max(hopeless_s, _TELLING_SAMPLE_S):
                taken = _completed(taken, running)
            return taken, self.check(running)

    @property
    def counted(self) -> list[Sample]:
        """The samples, with the seconds that count."""
        return list(map(self._as_counted, self.samples))

    def _as_counted(self, sample: Sample) -> Sample:
        return Sample(sample.work_s, False, sample.work_s) if self.by_work else sample

    def hopeless_s(self, worth: float) -> float:
        """Seconds a run above which another one is not so many times as fast, if nothing disturbed the first turn."""
        if not self.turns or self.turns[0][1] or worth <= 0:
            return math.inf
        return self.turns[0][0] / worth

    def is_beaten(self, hopeless_s: float) -> bool:
        """Whether its first turn, if nothing disturbed it, took longer."""
        return bool(self.turns) and self.turns[0][0] > hopeless_s and not self.turns[0][1]


def in_order(entrants: Sequence[Entrant], number: int) -> Sequence[Entrant]:
    """The order of a round, every second one backwards (A B B A): a steady drift puts nobody behind in all of them."""
    return entrants if number % 2 == 0 else entrants[::-1]


def race(entrants: Sequence[Entrant], rounds: int, precision: float, worth: float, limit_s: float) -> None:
    """Let kernels take turns; the first one is the baseline. `Stopwatch.compare_all` tells when they end.

    Args:
        entrants: the kernels.
        rounds: how many turns each takes at most.
        precision: of the ratios, which is enough.
        worth: how many times as fast as the baseline one must be to take a second turn.
        limit_s: seconds, after which none takes more turns than an interval needs.
    """
    baseline, begin = entrants[0], time.monotonic()
    for done in range(rounds):
        is_late = time.monotonic() - begin > limit_s
        if done >= MIN_ROUNDS and (is_late or are_precise(entrants, precision)):
            break
        for entrant in in_order(entrants, done):
            hopeless_s = math.inf if entrant is baseline else baseline.hopeless_s(worth)
            if not entrant.is_beaten(hopeless_s):
                entrant.take_turn(hopeless_s)


def _completed(taken: list[Sample], running: RunningKernel) -> list[Sample]:
    """As many samples as a turn has, these among them."""
    while len(taken) < _samples_wanted(running) and (taken[-1].disturbed or running.shortest_s < _LONG_SAMPLE_S):
        taken = [*taken, running.sample()]
    return taken


def _samples_wanted(running: RunningKernel) -> int:
    """Starting the process takes longer than many short samples, and of these some are undisturbed on a busy machine."""
    return max(_SAMPLES_PER_TURN, min(_SHORT_SAMPLES_PER_TURN, math.ceil(_TURN_S / running.shortest_s)))


def ratio_of(turns: Sequence[Turn], baseline: Sequence[Turn]) -> tuple[float, float, float]:
    """How many times faster one is than the baseline, with its interval, from turns taken alternately.

    NaN without turns. Turns that were disturbed on either side do not count, if six others are left.
    """
    rounds = list(zip(turns, baseline, strict=False))
    quiet = [pair for pair in rounds if not (pair[0][1] or pair[1][1])]
    ratios = [base / own for (own, _), (base, _) in (quiet if len(quiet) >= MIN_ROUNDS else rounds)]
    if not ratios:
        return math.nan, math.nan, math.nan
    return statistics.median(ratios), *median_interval(ratios)


def are_precise(entrants: Sequence[Entrant], precision: float) -> bool:
    """Whether no interval of a ratio to the first one is wider than this fraction on either side."""
    base, *others = entrants
    for other in others:
        ratio, low, high = ratio_of(other.turns, base.turns)
        if low < ratio / (1 + precision) or high > ratio * (1 + precision):
            return False
    return True


def without_drift(turns: Sequence[Sequence[Turn]]) -> list[list[Turn]]:
    """The turns of all entrants, the rounds made equally fast.

    The machine's speed drifts, with the temperature and with what others run on the cores beside. An entrant's turns
    relative to its own median tell how fast a round was, and the median of that over the entrants is taken out; of fewer
    than three, nobody knows whether the round was slow or they were.
    """
    medians = [statistics.median(seconds for seconds, _ in own) if own else math.nan for own in turns]
    paces = []
    for number in range(max(map(len, turns), default=0)):
        shares = [own[number][0] / median for own, median in zip(turns, medians, strict=True) if number < len(own)]
        paces.append(statistics.median(shares) if len(shares) >= _FEWEST_TO_TELL_A_PACE else 1.0)
    return [
        [(seconds / pace, disturbed) for (seconds, disturbed), pace in zip(own, paces, strict=False)] for own in turns
    ]
