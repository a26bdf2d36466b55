"""The tables of a report: a header, and lines of cells."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from halidegym.evaluation.benchmark.cells import CellResult
from halidegym.evaluation.benchmark.report.groups import Group, Scores, cost_of
from halidegym.evaluation.benchmark.report.statistics import Pair, Summary
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.timings import PipelineTimings
from halidegym.evaluation.output import run_times
from halidegym.training.statistics import Interval

Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]


def overview(run: Run) -> Table:
    """What was run, and where."""
    suite, machine, results = run.suite, run.header.machine, run.results()
    failed = sum(bool(result.failure) for result in results.values())
    searched = sum(result.count("seconds") or 0 for result in results.values())
    facts = {
        "pipelines": ", ".join(suite.pipelines),
        "agents": ", ".join(suite.agents),
        "seeds": ", ".join(map(str, suite.seeds)),
        "budgets": "; ".join(budget.label for budget in suite.budgets) or "none: each agent runs to its own end",
        "baseline": suite.baseline,
        "target, cores scheduled for": f"{suite.target}, {run.header.parallelism}",
        "machine": f"{machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB, fingerprint {machine.fingerprint}",
        "versions": f"halidegym {run.header.version}, Halide {machine.compiler}",
        "cells": f"{len(results)} of {len(run.cells)} done, {failed} of them failed; {searched:,.0f} s of search",
    }
    return ("", ""), list(facts.items())


def summary_table(group: Group, found: Mapping[str, Summary]) -> Table:
    """A line an agent: means with their intervals, and whether the difference from the baseline is significant."""
    header = (
        "agent", "mean", "95 %, pipelines and seeds", "95 %, seeds", "interquartile mean", "95 % of that",
        "P(better than baseline)", "95 % of that", "pipelines", "verdict",
    )  # fmt: skip
    lines = [
        (
            agent,
            f"{each.mean.value:.3f}",
            range_of(each.mean),
            range_of(each.over_seeds),
            f"{each.quartiles.value:.3f}",
            range_of(each.quartiles),
            f"{each.improvement.value:.2f}",
            range_of(each.improvement, 2),
            f"{each.pipelines} of {len(group.pipelines)}",
            each.verdict or "baseline",
        )
        for agent, each in found.items()
    ]
    return header, lines


@dataclass(frozen=True)
class Means:
    """Ratios as cells of a table, geometric means over seeds.

    Attributes:
        by_pipeline: those that there are.
        mean: over the pipelines; "-" if there are none.
    """

    by_pipeline: Mapping[str, str]
    mean: str


def means_of(ratios: Scores) -> Means:
    """The geometric means of an agent's ratios."""
    means = {pipeline: statistics.geometric_mean(each) for pipeline, each in ratios.items()}
    mean = f"{statistics.geometric_mean(means.values()):.3f}" if means else "-"
    return Means({pipeline: f"{each:.3f}" for pipeline, each in means.items()}, mean)


def ratio_table(group: Group, ratios: Mapping[str, Scores]) -> Table:
    """By pipeline the ratio of each agent to the baseline, geometric mean over seeds; and over the pipelines.

    Where some of these are parts of others, as the blocks of a network, there is a mean without them, too. Whichever are
    more go down: the pipelines, or the agents.
    """
    present = {agent: means_of(scores) for agent, scores in ratios.items() if scores}
    whole = [pipeline for pipeline in group.pipelines if "/" not in pipeline]
    of_whole = f"of the {len(whole)} whole ones" if 0 < len(whole) < len(group.pipelines) else ""
    columns = [
        (
            agent,
            *(means.by_pipeline.get(pipeline, "-") for pipeline in group.pipelines),
            means.mean,
            *([means_of({p: found for p, found in ratios[agent].items() if p in whole}).mean] if of_whole else []),
        )
        for agent, means in present.items()
    ]
    header = ("pipeline", *group.pipelines, "geometric mean", *filter(None, [of_whole]))
    if len(present) > len(group.pipelines):
        return ("agent", *header[1:]), columns
    top, *lines = zip(header, *columns, strict=True)
    return top, lines


def time_table(group: Group) -> Table:
    """The run times of the first seed's schedules, and what became of those that have none."""
    header = ("pipeline", "agent", "cost", "median, ms", "least, ms", "speed, of the baseline's", "outcome")
    lines = []
    for pipeline in group.pipelines:
        for agent, by_pipeline in group.agents.items():
            result = next(iter(by_pipeline.get(pipeline, ())), None)
            comparison = None if result is None else group.comparison(result)
            if result is None or (comparison is None and not result.failure):
                continue
            timing = None if comparison is None else comparison.a
            cost = "-" if result.cost is None else f"{result.cost:.6g}"
            beside = run_times.speed(None if agent == group.baseline else comparison)
            times = run_times.median_ms(timing), run_times.least_ms(timing), beside
            lines.append((pipeline, agent, cost, *times, run_times.outcome(timing, result.failure)))
    return header, lines


def cost_table(group: Group) -> Table:
    """Cost and expansions a pass of each agent, as in MB2FBS, Tables 2 and 3: means over seeds."""
    agents = [agent for agent in group.agents if group.scores(agent, cost_of)]
    lines = []
    for pipeline in group.pipelines:
        line = [pipeline]
        for agent in agents:
            costs = group.scores(agent, cost_of).get(pipeline)
            expansions = group.scores(agent, _expansions).get(pipeline)
            cost = "-" if costs is None else f"{statistics.geometric_mean(costs):.6g}"
            line += [cost if expansions is None else f"{cost} / {statistics.fmean(expansions):,.0f}"]
        lines.append(line)
    return ("pipeline", *agents), lines


def effort_table(group: Group) -> Table:
    """What the searches took: geometric means over pipelines and seeds, and the share that failed."""
    header = ("agent", "seconds", "of its budget", "evaluations", "expansions", "measurements", "failed")
    lines = []
    for agent, by_pipeline in group.agents.items():
        results = [result for found in by_pipeline.values() for result in found]
        shares = [used for result in results if (used := _share_of_budget(result)) is not None]
        counts = [_mean_count(results, name) for name in ("evaluations", "expansions", "measurements")]
        share = f"{statistics.median(shares):.0%}" if shares else "-"
        failed = sum(bool(result.failure) for result in results)
        lines.append((agent, _mean_count(results, "seconds", "{:.3g}"), share, *counts, f"{failed} of {len(results)}"))
    return header, lines


def pair_table(agents: Sequence[str], found: Mapping[tuple[str, str], Pair]) -> Table:
    """How many times better the agent of the line is than that of the column; bold where that is significant."""
    present = [agent for agent in agents if any(agent in pair for pair in found)]
    lines = []
    for a in present:
        cells = [found.get((a, b)) for b in present]
        lines.append((a, *("" if c is None else _bold(f"{c.ratio:.3f}", c.is_significant) for c in cells)))
    return ("", *present), lines


def failure_table(run: Run, timings: Mapping[str, PipelineTimings]) -> Table:
    """The cells that failed, and the pipelines whose schedules could not be timed, and why."""
    reasons = {run.cells[name].label: result.failure for name, result in run.results().items()}
    reasons |= {f"run times of {pipeline}": timed.failure for pipeline, timed in timings.items()}
    lines = [(what, reason.splitlines()[0][:300]) for what, reason in reasons.items() if reason]
    return ("what", "reason"), lines


def _expansions(result: CellResult) -> float | None:
    expansions = result.count("expansions")
    return None if expansions is None or result.plan is None else expansions / max(1, len(result.plan["pass_costs"]))


def _share_of_budget(result: CellResult) -> float | None:
    """How much of the budget was used, of its limit that was used up the most."""
    taken = [(result.count(name), allowed) for name, allowed in result.budget.items()]
    return max((count / allowed for count, allowed in taken if count is not None), default=None)


def _mean_count(results: Sequence[CellResult], name: str, text: str = "{:,.0f}") -> str:
    counts = [count for result in results if (count := result.count(name)) is not None]
    if not counts:
        return "-"
    return text.format(statistics.geometric_mean(counts) if all(counts) else 0)


def range_of(estimate: Interval, digits: int = 3) -> str:
    """Both ends of an interval; "-" where nothing is known of it."""
    return "-" if math.isnan(estimate.low) else f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text
