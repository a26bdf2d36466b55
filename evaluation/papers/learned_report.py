"""What learned policies reached beside search: means over pipelines, with intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.evaluation.output.console import Table, name_columns, number_columns
from halidegym.evaluation.papers.learned_agents import BEAM, GREEDY, Run
from halidegym.training.statistics import bootstrap

_ALONE = "interpolate"

HEADER = (
    "agent", "of beam", "95 % interval", "without interpolate", "of greedy's cost", "evaluations", "of beam's, median",
    "forwards, median", "seconds of beam's",
)  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """What an agent reached over all pipelines.

    Attributes:
        agent: its name.
        of_beam: cost of the beam / cost, geometric mean over pipelines, policies and seeds; above 1 beats it.
        interval: of 95 %, by a bootstrap over the runs of each pipeline (stratified, as the pipelines are given); over the
            policies, if there are several.
        without_interpolate: the same mean without that pipeline, which alone moves it by several per cent.
        of_greedy: cost / greedy's, geometric mean; below 1 beats it.
        evaluations: distinct ones, least and most of all runs.
        evaluations_of_beam: the median over runs of evaluations / the beam's distinct ones.
        forwards: states through a network, median over runs.
        seconds_of_beam: geometric mean.
    """

    agent: str
    of_beam: float
    interval: tuple[float, float]
    without_interpolate: float
    of_greedy: float
    evaluations: tuple[int, int]
    evaluations_of_beam: float
    forwards: float
    seconds_of_beam: float


def summarize(runs: Sequence[Run], *, seed: int = 0) -> list[Summary]:
    """Compare each agent with the beam and with greedy search, over the pipelines that all three were run on.

    Args:
        runs: of all agents, those of the beam and of greedy search among them.
        seed: of the bootstrap.
    """
    beam = {run.pipeline: run for run in runs if run.agent == BEAM}
    greedy = {run.pipeline: run for run in runs if run.agent == GREEDY}
    summaries = []
    for agent in dict.fromkeys(run.agent for run in runs):
        by_pipeline: dict[str, list[Run]] = {}
        for run in runs:
            if run.agent == agent and run.pipeline in beam and run.pipeline in greedy:
                by_pipeline.setdefault(run.pipeline, []).append(run)
        if not by_pipeline:
            continue
        logs = {
            name: _independent(own, lambda run: math.log(beam[run.pipeline].cost / run.cost))
            for name, own in by_pipeline.items()
        }
        pairs = [(run, beam[run.pipeline]) for own in by_pipeline.values() for run in own]
        costs = [run.distinct_evaluations for run, _ in pairs]
        others = [values for name, values in logs.items() if name != _ALONE]
        summaries.append(
            Summary(
                agent=agent,
                of_beam=math.exp(_mean(list(logs.values()))),
                interval=interval(list(logs.values()), seed),
                without_interpolate=math.exp(_mean(others)) if others else math.nan,
                of_greedy=_over_pipelines(by_pipeline, lambda run: math.log(run.cost / greedy[run.pipeline].cost)),
                evaluations=(min(costs), max(costs)),
                evaluations_of_beam=statistics.median(
                    run.distinct_evaluations / of_beam.distinct_evaluations for run, of_beam in pairs
                ),
                forwards=statistics.median(run.forwards for run, _ in pairs),
                seconds_of_beam=_over_pipelines(
                    by_pipeline, lambda run: math.log(run.seconds / beam[run.pipeline].seconds)
                ),
            )
        )
    return summaries


def cells(summary: Summary) -> tuple[str, ...]:
    """A line of the table, below `HEADER`."""
    least, most = summary.evaluations
    return (
        summary.agent,
        f"{summary.of_beam:.3f}",
        f"{summary.interval[0]:.3f} to {summary.interval[1]:.3f}",
        f"{summary.without_interpolate:.3f}",
        f"{summary.of_greedy:.3f}",
        f"{least:,}" if least == most else f"{least:,} to {most:,}",
        f"{_percent(summary.evaluations_of_beam)} %",
        f"{summary.forwards:,.0f}",
        f"{summary.seconds_of_beam:.2f}",
    )


def table(summaries: Sequence[Summary]) -> Table:
    """The summaries as a table for the terminal."""
    shown = Table(*name_columns(HEADER[0]), *number_columns(*HEADER[1:]), box=None)
    for summary in summaries:
        shown.add_row(*cells(summary))
    return shown


def by_pipeline(runs: Sequence[Run]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The geometric mean of cost of the beam / cost for each agent and pipeline: a header, and a line a pipeline."""
    beam = {run.pipeline: run.cost for run in runs if run.agent == BEAM}
    agents = [agent for agent in dict.fromkeys(run.agent for run in runs) if agent != BEAM]
    lines = []
    for pipeline, cost in beam.items():
        line = [pipeline]
        for agent in agents:
            own = [cost / run.cost for run in runs if run.agent == agent and run.pipeline == pipeline]
            line.append(f"{statistics.geometric_mean(own):.3f}" if own else "-")
        lines.append(tuple(line))
    return ("pipeline", *agents), lines


def by_policy(runs: Sequence[Run]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The geometric mean of cost of the beam / cost for each agent and policy: a header, and a line an agent.

    Where every policy was trained with a seed of its own, a line tells what training leaves to chance.
    """
    beam = {run.pipeline: run.cost for run in runs if run.agent == BEAM}
    ratios: dict[tuple[str, str], dict[str, list[float]]] = {}
    for run in runs:
        if run.policy and run.pipeline in beam:
            of_pipelines = ratios.setdefault((run.agent, run.policy), {})
            of_pipelines.setdefault(run.pipeline, []).append(beam[run.pipeline] / run.cost)
    means = {
        of: statistics.geometric_mean(map(statistics.geometric_mean, found.values())) for of, found in ratios.items()
    }
    policies = tuple(dict.fromkeys(policy for _, policy in means))
    lines = [
        (agent, *(f"{means[agent, policy]:.3f}" if (agent, policy) in means else "-" for policy in policies))
        for agent in dict.fromkeys(agent for agent, _ in means)
    ]
    return ("agent", *policies), lines


PAIRS_HEADER = (
    "agent", "against", "times as cheap", "95 %, over runs", "95 %, over pipelines", "without interpolate", "better on",
    "worse on",
)  # fmt: skip


def pairs(runs: Sequence[Run], *, seed: int = 0) -> list[tuple[str, ...]]:
    """Guided searches against the same search without a policy, at the same budget: a line each, below `PAIRS_HEADER`.

    The geometric mean of cost / cost over pipelines; better or worse on a pipeline means by more than half a per cent.
    """
    by_agent: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        by_agent.setdefault(run.agent, {}).setdefault(run.pipeline, []).append(run)
    logs = {
        agent: {pipeline: _independent(own, lambda run: math.log(run.cost)) for pipeline, own in found.items()}
        for agent, found in by_agent.items()
    }
    lines: list[tuple[str, ...]] = []
    for agent, ours in logs.items():
        name, _, budget = agent.rpartition(", ")
        other = f"mcts_replay, {budget}"
        if not name.startswith("guided") or other not in logs:
            continue
        common = [pipeline for pipeline in ours if pipeline in logs[other]]
        gains = {pipeline: float(logs[other][pipeline].mean() - ours[pipeline].mean()) for pipeline in common}
        over_runs = interval([-ours[p] for p in common] + [logs[other][p] for p in common], seed, 2)
        lines.append(
            (
                agent,
                other,
                f"{math.exp(statistics.fmean(gains.values())):.3f}",
                "{:.3f} to {:.3f}".format(*over_runs),
                "{:.3f} to {:.3f}".format(*interval([np.array(list(gains.values()))], seed)),
                f"{math.exp(statistics.fmean([gain for p, gain in gains.items() if p != _ALONE])):.3f}",
                str(sum(gain > math.log(1.005) for gain in gains.values())),
                str(sum(gain < -math.log(1.005) for gain in gains.values())),
            )
        )
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def _mean(strata: Sequence[NDArray[np.float64]]) -> float:
    return statistics.fmean(float(values.mean()) for values in strata)


def _over_pipelines(by_pipeline: dict[str, list[Run]], log: Callable[[Run], float]) -> float:
    return math.exp(_mean([_independent(own, log) for own in by_pipeline.values()]))


def _independent(runs: Sequence[Run], log: Callable[[Run], float]) -> NDArray[np.float64]:
    """Figures of an agent on a pipeline that chance has made one by one: of its runs, or the means of several policies.

    The runs of a policy have its training in common, and those of its favourites alone are all the same.
    """
    by_policy: dict[str, list[float]] = {}
    for run in runs:
        by_policy.setdefault(run.policy, []).append(log(run))
    (first, *others) = by_policy.values()
    return np.array([statistics.fmean(each) for each in (first, *others)] if others else first)


def interval(strata: Sequence[NDArray[np.float64]], seed: int, sides: int = 1) -> tuple[float, float]:
    """Of the exponential of the mean of the strata's means; times 2 if each pipeline has two strata that are summed."""

    def of(*drawn: NDArray[np.int64]) -> NDArray[np.float64]:
        means = [values[indices].mean(axis=1) for values, indices in zip(strata, drawn, strict=True)]
        return np.asarray(np.exp(sides * np.mean(means, axis=0)))

    found = bootstrap([len(values) for values in strata], of, seed=seed)
    return found.low, found.high
