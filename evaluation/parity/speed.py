"""How much faster and leaner is our beam search than the plugin's?

Both do the same work: from a pipeline in memory to the source code of its schedule, on one thread. Each run has a
process of its own, and the two sides take turns, so that a machine that slows down slows both. The plugin runs with and
without its memoization of features, and the better of the two counts.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.processes.resources import Resources, measure
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.parity.check import Setting

OURS, PLUGIN, PLUGIN_WITHOUT_MEMO = "ours", "plugin", "plugin, features not memoized"


@dataclass(frozen=True)
class Speed:
    """Medians over the runs.

    Attributes:
        pipeline: its name.
        cpu_seconds: per side.
        peak_memory_bytes: per side, growth of the process's resident memory while it searches.
    """

    pipeline: str
    cpu_seconds: dict[str, float]
    peak_memory_bytes: dict[str, float]

    @property
    def speedup(self) -> float:
        """CPU time of the better plugin configuration by ours."""
        return min(self.cpu_seconds[PLUGIN], self.cpu_seconds[PLUGIN_WITHOUT_MEMO]) / self.cpu_seconds[OURS]

    @property
    def memory_ratio(self) -> float:
        """Peak memory of the leaner plugin configuration by ours."""
        memory = self.peak_memory_bytes
        return min(memory[PLUGIN], memory[PLUGIN_WITHOUT_MEMO]) / max(1.0, memory[OURS])


def compare_speed(
    pipeline: str,
    setting: Setting,
    *,
    runs: int,
    details: Details | None = None,
    on_run: Callable[[str], None] = lambda text: None,
) -> Speed:
    """Run all sides alternately.

    Args:
        pipeline: see `pipeline_argument.HELP`.
        setting: of all sides, except for the memoization of features.
        runs: of each side.
        details: estimates and options of the pipeline; None for none.
        on_run: called with a text when a run begins.

    Raises:
        Error: the pipeline cannot be analysed, or one side fails.
    """
    samples: dict[str, list[Resources]] = {side: [] for side in (OURS, PLUGIN, PLUGIN_WITHOUT_MEMO)}
    problem = run_isolated(
        load_problem, pipeline, target=setting.target, parallelism=setting.parallelism, details=details
    )
    for _ in range(runs):
        for side, taken in samples.items():
            on_run(f"{pipeline}, {setting}: {side}")
            taken.append(_run(side, problem, setting))
    return Speed(
        pipeline=pipeline,
        cpu_seconds={
            side: statistics.median(run.cpu_seconds for run in measured) for side, measured in samples.items()
        },
        peak_memory_bytes={
            side: statistics.median(run.peak_memory_bytes for run in measured) for side, measured in samples.items()
        },
    )


def _run(side: str, problem: SchedulingProblem, setting: Setting) -> Resources:
    if side == OURS:
        return run_isolated(_measure_ours, problem, setting)
    setting = dataclasses.replace(setting, memoized_features=side == PLUGIN)
    plan = setting.plugin(log_level=1, threads=1).run(problem, seed=setting.seed)
    return Resources(plan.seconds, plan.cpu_seconds, plan.peak_memory_bytes)


def _measure_ours(problem: SchedulingProblem, setting: Setting) -> Resources:
    pipeline = problem.pipeline()

    def pipeline_to_source() -> str:
        analysed = SchedulingProblem.from_pipeline(pipeline, target=setting.target, parallelism=setting.parallelism)
        return setting.ours().plan(analysed, seed=setting.seed).schedule.cpp()

    return measure(pipeline_to_source)[1]
