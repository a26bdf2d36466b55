"""A schedule with what it took to run, and what cost models may read of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.timing.measurements import Outcome
from halidegym.native._core import State

PIPELINE_FEATURES = (7, 40)
"""Of a stage: types by operations, as `Network.predict` reads them."""

SCHEDULE_FEATURES = 39
"""Of a stage (docs/specification/schedule-features.md)."""


@dataclass(frozen=True, eq=False)
class MeasuredSchedule:
    """A complete schedule, its run time, or why there is none, and its features: plain values that outlive their problem.

    Attributes:
        pipeline: name of the pipeline.
        problem: hash of the problem that the decisions were taken in, for `parallelism` cores.
        split: "train", "validation" or "test" of a generated pipeline; empty for any other.
        kind: how the schedule came about, such as "random", "careless" or "beam".
        actions: per decision, the index of the one taken among the legal ones.
        parallelism: number of cores that it was scheduled for.
        threads: that it ran on.
        cost: of the shipped cost model, for `parallelism` cores.
        outcome: "ok", or why it has no run time.
        error: the last words of what failed; empty if nothing did.
        run_time_s: seconds per run, the median over its turns; NaN unless it ran. On one thread these are seconds in which
            the core worked for it, on several seconds of the clock.
        turns_s: the same, of each turn; their differences are what repeating the measurement would change.
        disturbed: how many turns waited for a core most of the time; this matters on several threads only.
        compile_s: seconds that compiling took.
        stages: ids [S] of the problem's stages that have features.
        pipeline_features: of each stage [S, 7, 40], the network's first input.
        schedule_features: of each stage [S, 39], its second.
    """

    pipeline: str
    problem: str
    split: str
    kind: str
    actions: tuple[int, ...]
    parallelism: int
    threads: int
    cost: float
    outcome: Outcome
    error: str
    run_time_s: float
    turns_s: tuple[float, ...]
    disturbed: int
    compile_s: float
    stages: NDArray[np.int32]
    pipeline_features: NDArray[np.int32]
    schedule_features: NDArray[np.float64]

    @property
    def ran(self) -> bool:
        """Whether there is a run time."""
        return self.outcome == "ok"

    @property
    def repeatability_s(self) -> tuple[float, float]:
        """Run times by the even and by the odd turns alone; NaN where there are none."""
        halves = self.turns_s[::2], self.turns_s[1::2]
        even, odd = (float(np.median(half)) if half else math.nan for half in halves)
        return even, odd


def features_of(state: State) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """What the cost model reads of a state: ids [S] of the stages, their pipeline features and their schedule features."""
    stages, schedule_features = state.features()
    all_stages = state.space.problem.stages
    # A stage lists 7 features of its own first, then the operations, by type within each.
    operations = [np.asarray(all_stages[stage].features[7:]).reshape(PIPELINE_FEATURES[::-1]).T for stage in stages]
    pipeline_features = np.ascontiguousarray(np.array(operations, dtype=np.int32).reshape(-1, *PIPELINE_FEATURES))
    return stages, pipeline_features, schedule_features
