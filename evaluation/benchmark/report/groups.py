"""The results of a run that may be compared: those with the same budget, and those that ran to their own end."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from halidegym.envs.timing.measurements import Comparison
from halidegym.evaluation.benchmark.cells import CellResult
from halidegym.evaluation.benchmark.one_problem import OneProblem
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.suite import BudgetSettings
from halidegym.evaluation.benchmark.timings import PipelineTimings, read_timings, timed_seeds

Value = Callable[[CellResult], "float | None"]
"""A figure of a result; None where it has none."""

Scores = Mapping[str, Sequence[float]]
"""By pipeline a figure of each run of an agent."""

ByPipeline = Mapping[str, Sequence[CellResult]]
"""By pipeline what came of the seeds of an agent."""


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
        timings: by pipeline, relative to one schedule of the baseline, whichever group that is of.
        timed_seeds: whose schedules were to be timed; None for all.
        drawing: names of agents whose seeds make a difference.
    """

    budget: str
    in_units_of_baseline: bool
    baseline: str
    pipelines: Sequence[str]
    agents: Mapping[str, ByPipeline]
    timings: Mapping[str, PipelineTimings]
    timed_seeds: Sequence[int] | None = None
    drawing: Collection[str] = ()

    def scores(self, agent: str, value: Value) -> Scores:
        """Figures of an agent on the pipelines on which all of its runs have one."""
        return _figures(self.agents[agent], value)

    def has_no_costs(self, agent: str) -> bool:
        """Whether an agent found schedules, but none with a cost that can be compared."""
        found = [result for results in self.agents[agent].values() for result in results if result.plan is not None]
        return bool(found) and all(result.cost is None for result in found)

    def cost_ratios(self, agent: str, *, with_failures: bool = False) -> Scores:
        """How many times as cheap as the baseline's the schedules of an agent are, by the cost model.

        Args:
            agent: its name.
            with_failures: give a run that failed a ratio of 0, instead of leaving out its pipeline.
        """
        base = _base(self.agents[self.baseline], _cheapness)
        return _relative(self.agents[agent], base, _cheapness, with_failures)

    def speedups(self, agent: str, *, with_failures: bool = False) -> Scores:
        """How many times as fast as the baseline's the schedules of an agent run, those of the seeds that were to be timed.

        Args:
            agent: its name.
            with_failures: give a run that failed, or whose schedule did, a ratio of 0, instead of leaving out its pipeline.
        """
        base = _base(self._timed(self.baseline), self._speed)
        return _relative(self._timed(agent), base, self._speed, with_failures)

    def comparison(self, result: CellResult) -> Comparison | None:
        """How fast the schedule of a result is, beside the baseline's of this group; None if it was not timed.

        The ratio is not a number if either failed.
        """
        measured = self._measured(result)
        if measured is None:
            return None
        base = _base(self._timed(self.baseline), self._speed).get(result.cell["pipeline"], math.nan)
        return replace(measured, ratio=measured.ratio / base, low=measured.low / base, high=measured.high / base)

    def _timed(self, agent: str) -> ByPipeline:
        return {pipeline: [*filter(self._is_timed, results)] for pipeline, results in self.agents[agent].items()}

    def _is_timed(self, result: CellResult) -> bool:
        """Whether it was to be: others have a run time only if they came upon the same schedule as one that was."""
        return self.timed_seeds is None or result.cell["seed"] in self.timed_seeds

    def _measured(self, result: CellResult) -> Comparison | None:
        timings = self.timings.get(result.cell["pipeline"])
        return None if timings is None or not self._is_timed(result) else timings.comparisons.get(result.schedule_key)

    def _speed(self, result: CellResult) -> float | None:
        measured = self._measured(result)
        if result.failure or measured is None:
            return 0.0 if result.failure else None
        return measured.ratio if math.isfinite(measured.ratio) else 0.0


def cost_of(result: CellResult) -> float | None:
    """Of the schedule, see `CellResult.cost`."""
    return result.cost


def _cheapness(result: CellResult) -> float | None:
    """The more, the better, so that 0 can stand for a failure."""
    return 0.0 if result.failure else None if result.cost is None else 1 / result.cost


def _base(found: ByPipeline, value: Value) -> Mapping[str, float]:
    """Geometric means of the baseline's figures, where none of its runs failed."""
    return {pipeline: statistics.geometric_mean(each) for pipeline, each in _figures(found, value).items() if all(each)}


def _relative(found: ByPipeline, base: Mapping[str, float], value: Value, with_failures: bool) -> Scores:
    """Figures relative to the baseline's, where that has one; 0 stands for a failure."""
    return {
        pipeline: [each / base[pipeline] for each in values]
        for pipeline, values in _figures(found, value).items()
        if pipeline in base and (with_failures or all(values))
    }


def _figures(found: ByPipeline, value: Value) -> Scores:
    """Those of an agent, by pipeline. Where it has run less often than elsewhere, the rest is to come: it has none there."""
    runs = max(map(len, found.values()), default=0)
    figures = {pipeline: [value(each) for each in results] for pipeline, results in found.items()}
    return {
        pipeline: [each for each in values if each is not None]
        for pipeline, values in figures.items()
        if values and len(values) == runs and None not in values
    }


def _comparable(run: Run) -> dict[str, CellResult]:
    """The results of a run. Those that another cost model rated than the baseline's have no cost here.

    Raises:
        Error: see `OneProblem`.
    """
    results, one_problem = run.results(), OneProblem(run.path)
    for name, result in results.items():
        one_problem.add(name, result)
    weights = {each.weights for each in results.values() if each.cell["agent"] == run.suite.baseline and each.plan}
    return {
        name: result if result.plan is None or result.weights in weights else _without_cost(result, result.plan)
        for name, result in results.items()
    }


def _without_cost(result: CellResult, plan: Mapping[str, Any]) -> CellResult:
    return replace(result, plan={**plan, "cost": None})


def groups_of(run: Run) -> list[Group]:
    """The groups of a run, in the order of its budgets.

    Raises:
        FormatError: a file is damaged.
        Error: results of a pipeline are of different problems.
    """
    results = _comparable(run)
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
                timed_seeds(run.suite),
                [name for name, settings in run.suite.agents.items() if not settings.deterministic],
            )
        )
    return groups
