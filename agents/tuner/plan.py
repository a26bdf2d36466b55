"""What a tuning run returns: the fastest schedule, those that came close, and how it went."""

from __future__ import annotations

from dataclasses import dataclass

from halidegym.agents.plan import Plan
from halidegym.envs.schedules.schedule import Schedule

ADAMS2019, TRUSTED = "Adams2019's schedule", "the trusted schedule"


@dataclass(frozen=True)
class Finalist:
    """A schedule among which the last comparison decided.

    Attributes:
        kind: how it came about.
        parallelism: number of cores that it was made for.
        schedule: itself.
        actions: the decisions that lead to it.
        cost: of the cost model, for so many cores.
        speedup: how many times as fast as the baseline.
        low, high: an interval that covers it with a confidence of 90 % or more.
        run_time: seconds per run.
        larger_inputs: which inputs it asks more of than the pipeline itself; see `Timing`.
    """

    kind: str
    parallelism: int
    schedule: Schedule
    actions: tuple[int, ...]
    cost: float
    speedup: float
    low: float
    high: float
    run_time: float
    larger_inputs: str = ""


@dataclass(frozen=True)
class TuningStep:
    """A new fastest schedule.

    Attributes:
        seconds: since the run began.
        measurements: how many schedules had been measured.
        speedup: how many times as fast as the baseline, as measured then.
        kind: how it came about.
    """

    seconds: float
    measurements: int
    speedup: float
    kind: str


@dataclass(frozen=True, kw_only=True, repr=False)
class TunedPlan(Plan):
    """The plan of `Autotune`.

    Attributes:
        baseline: what all were compared with: "Adams2019's schedule", or "the trusted schedule" where that one fails.
        baseline_time: seconds of it; None if nothing was measured.
        finalists: the fastest schedules, fastest first; the first one is the plan's.
        curve: each new fastest schedule in order.
        search_seconds: of `seconds`, what proposing and choosing took; the rest is compiling and running.
        compile_seconds: what compiling took, one schedule after another; several are compiled at a time.
        run_seconds: what verifying and timing took.
        failures: how many of the schedules measured failed.
    """

    baseline: str = ADAMS2019
    baseline_time: float | None = None
    finalists: tuple[Finalist, ...] = ()
    curve: tuple[TuningStep, ...] = ()
    search_seconds: float = 0.0
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    failures: int = 0

    @property
    def speedup(self) -> float:
        """How many times as fast as the baseline the schedule is; 1 if nothing is known to be faster."""
        return self.finalists[0].speedup if self.finalists else 1.0
