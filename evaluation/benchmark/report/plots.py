"""The plots of a report."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from halidegym.evaluation.benchmark.report.groups import Group, Scores, cost_of
from halidegym.evaluation.benchmark.report.statistics import Summary, profiles
from halidegym.evaluation.output.plots import new_figure, plain_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Axis = Literal["evaluations", "seconds"]
AXES: tuple[Axis, ...] = ("evaluations", "seconds")

_PALETTE = (
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b", "#6a3d9a",
    "#b2df8a", "#e31a1c", "#1f78b4", "#33a02c", "#fb9a99", "#fdbf6f", "#17becf", "#bcbd22", "#cab2d6", "#b15928",
)  # fmt: skip
_POINTS = 200
_WORST_SHOWN = 4.0  # of profiles, times the best


def means(found: Mapping[str, Summary], colours: Mapping[str, str], label: str) -> Figure:
    """Geometric means with their intervals: those of other seeds thick, those of other pipelines, too, thin."""
    figure = new_figure(8, 1.2 + 0.32 * len(found))
    axis = figure.subplots()
    for place, (agent, each) in enumerate(found.items()):
        colour = colours[agent]
        axis.plot([each.mean.low, each.mean.high], [place, place], color=colour, linewidth=1.5)
        axis.plot([each.over_seeds.low, each.over_seeds.high], [place, place], color=colour, linewidth=5, alpha=0.5)
        axis.plot(each.mean.value, place, "o", color=colour)
        axis.plot(each.quartiles.value, place, "|", color=colour, markersize=12)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_yticks(range(len(found)), [plain_label(agent) for agent in found])
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xscale("log")
    _plain_ticks(axis.xaxis)
    axis.grid(axis="x", which="both", alpha=0.3)
    axis.set_xlabel(label)
    return figure


def bars(group: Group, ratios: Mapping[str, Scores], colours: Mapping[str, str], label: str) -> Figure:
    """The best ratio of an agent's seeds, normalised to the best of all agents: by pipeline, and in geometric mean.

    An agent that has none on some pipeline has no mean: it would be that of the pipelines that it copes with.
    """
    present = {agent: {p: max(r) for p, r in scores.items()} for agent, scores in ratios.items() if scores}
    pipelines = [p for p in group.pipelines if any(p in found for found in present.values())]
    best = {p: max(found[p] for found in present.values() if p in found) for p in pipelines}
    labels = [*pipelines, "geometric mean"]
    figure = new_figure(max(8.0, 0.16 * len(labels) * (len(present) + 2)), 4)
    axis = figure.subplots()
    width = 0.84 / len(present)
    for number, (agent, found) in enumerate(present.items()):
        shares = [found[p] / best[p] if p in found else 0.0 for p in pipelines]
        mean = statistics.geometric_mean(shares) if all(shares) else 0.0
        places = [place - 0.42 + (number + 0.5) * width for place in range(len(labels))]
        axis.bar(places, [*shares, mean], width, label=plain_label(agent), color=colours[agent])
    axis.set_xticks(range(len(labels)), [plain_label(label) for label in labels], rotation=30, ha="right")
    axis.set_ylabel(label)
    axis.set_ylim(0, 1.05)
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=5, fontsize="small")
    return figure


def curves(group: Group, over: Axis, colours: Mapping[str, str]) -> Figure | None:
    """Anytime curves: cost of the baseline / best cost so far, geometric mean over pipelines and seeds.

    A curve begins where all runs of the agent have a schedule, and goes on level where they have ended. An agent of which a
    run failed has none: it would be that of the pipelines that it copes with. None if no search has a history, or budgets
    are in units of what the baseline does not count.
    """
    baseline = group.scores(group.baseline, cost_of)
    units = _units(group, over) if group.in_units_of_baseline else dict.fromkeys(baseline, 1.0)
    if not all(units.get(pipeline) for pipeline in baseline):
        return None
    tracks = {agent: found for agent in group.agents if (found := _tracks(group, agent, over, baseline, units))}
    ends = [xs[-1] for found in tracks.values() for xs, _ in found]
    begins = [xs[0] for found in tracks.values() for xs, _ in found]
    if not ends:
        return None
    grid = np.geomspace(min(begins), max(max(ends), min(begins) * 1.01), _POINTS)
    figure = new_figure(8, 4.2)
    axis = figure.subplots()
    for agent, found in tracks.items():
        logs = [_at(grid, xs, ratios) for xs, ratios in found]
        mean = np.exp(np.mean(logs, axis=0))
        style = "o" if np.isfinite(mean).sum() == 1 else "-"
        axis.plot(grid, mean, style, color=colours[agent], label=plain_label(agent), linewidth=1.6)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    _plain_ticks(axis.yaxis)
    axis.grid(which="both", alpha=0.3)
    unit = f"{over} / the baseline's" if group.in_units_of_baseline else over
    axis.set_xlabel(unit)
    axis.set_ylabel("baseline's cost / best cost so far")
    figure.legend(loc="outside lower center", ncols=5, fontsize="small")
    return figure


def profile(scores: Mapping[str, Scores], colours: Mapping[str, str], what: str) -> Figure:
    """Performance profiles: the share of runs that come within a factor of the best known; bands of 95 % for other seeds.

    A run that failed is never within one (Dolan and Moré 2002, "Benchmarking Optimization Software with Performance
    Profiles"). Agents that have failed everywhere are left out.

    Args:
        scores: the ratios to the baseline, 0 of runs that failed.
        colours: of the agents.
        what: the ratios are of.
    """
    present = {agent: found for agent, found in scores.items() if any(map(any, found.values()))}
    best: dict[str, float] = {}
    for found in present.values():
        for pipeline, ratios in found.items():
            best[pipeline] = max(best.get(pipeline, 0.0), *ratios)
    shares = {
        agent: {p: [r / best[p] for r in ratios] for p, ratios in found.items()} for agent, found in present.items()
    }
    worst = min(share for found in shares.values() for each in found.values() for share in each if share)
    factors = np.geomspace(1, min(_WORST_SHOWN, max(1 / worst, 1.01)), 60)
    figure = new_figure(8, 4.2)
    axis = figure.subplots()
    for agent, points in profiles(shares, [float(1 / factor) - 1e-9 for factor in factors]).items():
        axis.step(
            factors,
            [p.value for p in points],
            color=colours[agent],
            label=plain_label(agent),
            where="post",
            linewidth=1.6,
        )
        low, high = [p.low for p in points], [p.high for p in points]
        axis.fill_between(factors, low, high, color=colours[agent], alpha=0.12, step="post", linewidth=0)
    axis.set_xlim(1, factors[-1])
    axis.set_xscale("log")
    _plain_ticks(axis.xaxis)
    axis.set_ylim(0, 1.02)
    axis.grid(alpha=0.3)
    axis.set_xlabel(f"{what} / the best known")
    axis.set_ylabel("share of runs within that")
    figure.legend(loc="outside lower center", ncols=5, fontsize="small")
    return figure


def colours_of(agents: Sequence[str]) -> dict[str, str]:
    """A colour for each agent, the same in all plots."""
    return {agent: _PALETTE[number % len(_PALETTE)] for number, agent in enumerate(agents)}


def _units(group: Group, over: Axis) -> dict[str, float]:
    """By pipeline what the baseline took, where that is counted."""
    name = "distinct_evaluations" if over == "evaluations" else over
    counts = group.scores(group.baseline, lambda result: result.count(name))
    return {pipeline: statistics.fmean(each) for pipeline, each in counts.items()}


def _tracks(
    group: Group, agent: str, over: Axis, baseline: Scores, units: Mapping[str, float]
) -> list[tuple[list[float], list[float]]]:
    """The improvements of an agent's runs: places, and the logarithms of the ratios from there on.

    None if one has none, on a pipeline on which the baseline has a cost.
    """
    tracks = []
    for pipeline in baseline:
        for result in group.agents[agent].get(pipeline, ()):
            if result.plan is None or result.cost is None or not result.plan["history"]:
                return []
            base, steps = statistics.geometric_mean(baseline[pipeline]), result.plan["history"]
            places = [max(step[over], 1e-9) / units[pipeline] for step in steps]
            tracks.append((places, [float(np.log(base / step["cost"])) for step in steps]))
    return tracks


def _at(grid: NDArray[np.floating[Any]], places: Sequence[float], values: Sequence[float]) -> list[float]:
    """A function of steps, not a number before the first."""
    found = np.searchsorted(places, grid * (1 + 1e-12), side="right") - 1
    return [values[index] if index >= 0 else float("nan") for index in found]


def _plain_ticks(axis: object) -> None:
    """Ticks of a logarithmic axis as plain numbers."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))  # type: ignore[attr-defined]
    axis.set_minor_locator(LogLocator(subs=(1.2, 1.5, 3, 4, 6, 7, 8, 9)))  # type: ignore[attr-defined]
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))  # type: ignore[attr-defined]
    axis.set_minor_formatter(StrMethodFormatter("{x:g}"))  # type: ignore[attr-defined]
