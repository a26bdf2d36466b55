"""How far timings on this machine can be trusted, and what they take."""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.confined import ConfinedProcess
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.evaluation.timings.calibration import draw
from halidegym.native._core import Error


@dataclass(frozen=True)
class Repeatability:
    """The same two schedules, compared again and again.

    Attributes:
        comparisons: all of them.
    """

    comparisons: tuple[Comparison, ...]

    @property
    def ratios(self) -> list[float]:
        """How many times faster the first was, each time."""
        return [comparison.ratio for comparison in self.comparisons]

    @property
    def median(self) -> float:
        """Median of the ratios."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> float:
        """Range of all ratios, as a fraction of their median."""
        return (max(self.ratios) - min(self.ratios)) / self.median

    @property
    def flips(self) -> int:
        """How often the slower of the two, by the median, came out as the faster."""
        return sum((ratio > 1) != (self.median > 1) for ratio in self.ratios)

    @property
    def wrong_verdicts(self) -> int:
        """The same, where the interval left no doubt."""
        wrong = "slower" if self.median > 1 else "faster"
        return sum(comparison.verdict == wrong for comparison in self.comparisons)

    @property
    def disturbed(self) -> int:
        """How many comparisons were marked: other processes took cores away all the time."""
        return sum(comparison.is_disturbed for comparison in self.comparisons)


def repeat(
    problem: SchedulingProblem,
    a: ScheduleLike,
    b: ScheduleLike,
    stopwatch: Stopwatch,
    count: int,
    *,
    on_comparison: Callable[[str], None] = lambda _: None,
) -> Repeatability:
    """Compare two schedules again and again.

    Raises:
        Error: one of them fails.
    """
    comparisons = []
    for _ in range(count):
        on_comparison(problem.name)
        comparison = stopwatch.compare(problem, a, b)
        for timing in (comparison.a, comparison.b):
            if timing.outcome != "ok":
                raise Error(f"{problem.name}: a schedule fails, {timing.outcome}: {timing.error}. Choose another one")
        comparisons.append(comparison)
    return Repeatability(tuple(comparisons))


@contextlib.contextmanager
def loaded_core() -> Iterator[None]:
    """Let another process keep one core busy while the context is open."""
    cpu = min(os.sched_getaffinity(0))
    program = f"import os\nos.sched_setaffinity(0, [{cpu}])\nprint(flush=True)\nwhile True: pass"
    with ConfinedProcess([sys.executable, "-c", program]) as process:
        process.receive_line(60.0)
        yield


@dataclass(frozen=True)
class Throughput:
    """How fast schedules are timed, and where the time goes.

    Attributes:
        schedules: how many.
        seconds: wall-clock time of all.
        timings: what came out.
    """

    schedules: int
    seconds: float
    timings: tuple[Timing, ...]

    @property
    def per_minute(self) -> float:
        """Schedules per minute."""
        return 60 * self.schedules / self.seconds

    @property
    def shares(self) -> dict[str, float]:
        """Of the time that each schedule took, summed: what went into compiling, linking and running."""
        parts = {
            "compile": sum(timing.compile_s - timing.link_s for timing in self.timings),
            "link": sum(timing.link_s for timing in self.timings),
            "run": sum(timing.run_s for timing in self.timings),
        }
        return {name: part / sum(parts.values()) for name, part in parts.items()}

    @property
    def overhead(self) -> float:
        """What compiling and linking take beyond Halide's own compiler, as a fraction of that."""
        halide_s = sum(timing.halide_s for timing in self.timings)
        return sum(timing.compile_s for timing in self.timings) / halide_s - 1


def throughput(problem: SchedulingProblem, stopwatch: Stopwatch, count: int) -> Throughput:
    """Time schedules in a batch. The compiler is warm, and the trusted outputs are there.

    Raises:
        Error: the trusted schedule fails.
    """
    drawn: list[ScheduleLike] = [
        Schedule.from_state(problem, proposal.state) for proposal in itertools.islice(draw(problem, seed=0), count)
    ]
    stopwatch.time_all(problem, drawn[:1] * stopwatch.compilers)
    begin = time.perf_counter()
    timings = stopwatch.time_all(problem, drawn)
    return Throughput(count, time.perf_counter() - begin, tuple(timings))
