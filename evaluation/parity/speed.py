"""How much faster and leaner is our beam search than the plugin's?

Both do the same work: from a pipeline in memory to the source code of its schedule, on one thread. Each run has a
process of its own, and the sides take turns, so that a machine that slows down slows all. The plugin runs with and
without its memoization of features, and the better of the two counts; without it, costs and counts must be ours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from halidegym.agents.plan import Plan
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_anew, run_isolated
from halidegym.envs.processes.resources import Resources, measure
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.output.spread import Spread
from halidegym.evaluation.parity.check import Check, Setting, compare_costs

OURS, PLUGIN, PLUGIN_WITHOUT_MEMO = "ours", "plugin", "plugin, features not memoized"
SIDES = (OURS, PLUGIN, PLUGIN_WITHOUT_MEMO)

_LOG_LEVEL = 1  # prints the costs and little else


@dataclass(frozen=True)
class Speed:
    """What all sides took, run by run.

    Attributes:
        pipeline: its name.
        cpu_seconds: per side.
        peak_memory_bytes: per side, growth of the process's resident memory while it searches.
        checks: costs and counts of each of our runs, against the plugin's without memoization.
        evaluations: of the cost model, as the search counts them.
        distinct_evaluations: those that it computed, of states that it had not met before.
        search_seconds: CPU time of our search alone.
    """

    pipeline: str
    cpu_seconds: Mapping[str, Spread]
    peak_memory_bytes: Mapping[str, Spread]
    checks: tuple[Check, ...]
    evaluations: int
    distinct_evaluations: int
    search_seconds: Spread

    @property
    def speedup(self) -> Spread:
        """CPU time of the better plugin configuration by ours."""
        return _better_plugin(self.cpu_seconds) / self.cpu_seconds[OURS]

    @property
    def memory_ratio(self) -> Spread:
        """Peak memory of the leaner plugin configuration by ours."""
        return _better_plugin(self.peak_memory_bytes) / self.peak_memory_bytes[OURS]

    @property
    def evaluation_rate(self) -> Spread:
        """Computed evaluations per second of CPU time."""
        return Spread(tuple(self.distinct_evaluations / seconds for seconds in self.search_seconds.values))

    @property
    def distinct_share(self) -> float:
        """What share of the evaluations is computed."""
        return self.distinct_evaluations / self.evaluations


def _better_plugin(sides: Mapping[str, Spread]) -> Spread:
    return min(sides[PLUGIN], sides[PLUGIN_WITHOUT_MEMO], key=lambda spread: spread.median)


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
    taken: dict[str, list[Resources]] = {side: [] for side in SIDES}
    plans: list[Plan] = []
    checks: list[Check] = []
    problem = run_isolated(
        load_problem, pipeline, target=setting.target, parallelism=setting.parallelism, details=details
    )
    for _ in range(runs):
        on_run(f"{pipeline}, {setting}: {OURS}")
        plan, resources = run_anew(_measure_ours, problem, setting)
        plans.append(plan)
        taken[OURS].append(resources)
        for side in (PLUGIN, PLUGIN_WITHOUT_MEMO):
            on_run(f"{pipeline}, {setting}: {side}")
            with_memo = dataclasses.replace(setting, memoized_features=side == PLUGIN)
            result = with_memo.plugin(log_level=_LOG_LEVEL, threads=1).run(problem, seed=setting.seed)
            taken[side].append(Resources(result.seconds, result.cpu_seconds, result.peak_memory_bytes))
        checks += compare_costs(plan, result, _LOG_LEVEL)
    assert plan.evaluations is not None and plan.distinct_evaluations is not None, "a beam counts them"
    return Speed(
        pipeline=pipeline,
        cpu_seconds=_spreads(taken, lambda resources: resources.cpu_seconds),
        peak_memory_bytes=_spreads(taken, lambda resources: max(1, resources.peak_memory_bytes)),
        checks=tuple(checks),
        evaluations=plan.evaluations,
        distinct_evaluations=plan.distinct_evaluations,
        search_seconds=Spread(tuple(plan.cpu_seconds for plan in plans)),
    )


def _spreads(taken: Mapping[str, list[Resources]], quantity: Callable[[Resources], float]) -> dict[str, Spread]:
    return {side: Spread(tuple(map(quantity, runs))) for side, runs in taken.items()}


def _measure_ours(problem: SchedulingProblem, setting: Setting) -> tuple[Plan, Resources]:
    pipeline = problem.pipeline()

    def pipeline_to_source() -> Plan:
        analysed = SchedulingProblem.from_pipeline(pipeline, target=setting.target, parallelism=setting.parallelism)
        plan = setting.ours().plan(analysed, seed=setting.seed)
        plan.schedule.cpp()
        return plan

    return measure(pipeline_to_source)
