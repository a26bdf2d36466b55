"""The results of a run that may be compared: those with the same budget, and those that ran to their own end."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from halidegym.envs.timing.measurements import Comparison
from halidegym.evaluation.benchmark.cells import CellResult
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.suite import BudgetSettings
from halidegym.evaluation.benchmark.timings import PipelineTimings, read_timings

Value = Callable[[CellResult], "float | None"]
"""A figure of a result; None where it has none."""

Scores = Mapping[str, Sequence[float]]
"""By pipeline a figure of each run of an agent."""


@dataclass(frozen=True)
class Group:
    """Results that may be compared.

    Attributes:
        budget: in words.
        in_units_of_baseline: whether that is in units of what the baseline took.
        baseline: the agent that the others are compared with.
        pipelines: of the suite.
        agents: by their names those that had this budget, and those that ran to their own end; by pipeline their results,
            one a seed.
        timings: by pipeline.
    """

    budget: str
    in_units_of_baseline: bool
    baseline: str
    pipelines: Sequence[str]
    agents: Mapping[str, Mapping[str, Sequence[CellResult]]]
    timings: Mapping[str, PipelineTimings]

    def scores(self, agent: str, value: Value) -> Scores:
        """Figures of an agent on the pipelines on which all of its runs have one."""
        found = {pipeline: [value(result) for result in results] for pipeline, results in self.agents[agent].items()}
        return {
            pipeline: [value for value in values if value is not None]
            for pipeline, values in found.items()
            if values and None not in values
        }

    def cost_ratios(self, agent: str) -> Scores:
        """How many times as cheap as the baseline's the schedules of an agent are, by the cost model."""
        baseline = self.scores(self.baseline, cost_of)
        return {
            pipeline: [statistics.geometric_mean(baseline[pipeline]) / cost for cost in costs]
            for pipeline, costs in self.scores(agent, cost_of).items()
            if pipeline in baseline
        }

    def speedups(self, agent: str) -> Scores:
        """How many times as fast as the baseline's the schedules of an agent run, those that were timed."""
        timed = {
            pipeline: [result for result in results if self.comparison(result) is not None or result.failure]
            for pipeline, results in self.agents[agent].items()
        }
        found = {pipeline: [self._speedup(result) for result in results] for pipeline, results in timed.items()}
        return {
            pipeline: [ratio for ratio in ratios if ratio is not None]
            for pipeline, ratios in found.items()
            if ratios and None not in ratios
        }

    def comparison(self, result: CellResult) -> Comparison | None:
        """How fast the schedule of a result is, beside the baseline's; None if it was not timed."""
        timings = self.timings.get(result.cell["pipeline"])
        return None if timings is None else timings.comparisons.get(result.schedule_key)

    def _speedup(self, result: CellResult) -> float | None:
        comparison = self.comparison(result)
        return None if comparison is None or not math.isfinite(comparison.ratio) else comparison.ratio


def cost_of(result: CellResult) -> float | None:
    """Of the schedule, see `CellResult.cost`."""
    return result.cost


def groups_of(run: Run) -> list[Group]:
    """The groups of a run, in the order of its budgets.

    Raises:
        FormatError: a file is damaged.
    """
    results = run.results()
    budgets: list[BudgetSettings | None] = [
        *dict.fromkeys(cell.budget for cell in run.cells.values() if cell.budget is not None)
    ]
    timings = read_timings(run)
    groups = []
    for budget in budgets or [None]:
        agents: dict[str, dict[str, list[CellResult]]] = {}
        for name, cell in run.cells.items():
            if cell.budget in (None, budget) and name in results:
                agents.setdefault(cell.agent, {}).setdefault(cell.pipeline, []).append(results[name])
        groups.append(
            Group(
                "none" if budget is None else budget.label,
                budget is not None and budget.needs_baseline,
                run.suite.baseline,
                run.suite.pipelines,
                {name: agents[name] for name in run.suite.agents if name in agents},
                timings,
            )
        )
    return groups
