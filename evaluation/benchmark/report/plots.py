"""The plots of a report."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from halidegym.evaluation.benchmark.report.groups import Group, Scores, cost_of
from halidegym.evaluation.benchmark.report.statistics import Summary, profiles
from halidegym.evaluation.output.plots import fonts_of_readers, new_figure, plain_label

if TYPE_CHECKING:
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Look:
    """How an agent is drawn, as matplotlib takes it.

    Attributes:
        colour: of all that is the agent's.
        dash: of its lines.
        hatch: of its bars.
    """

    colour: str
    dash: str
    hatch: str


Looks = Mapping[str, Look]
"""Those of the agents, by their names."""

Axis = Literal["evaluations", "seconds"]
AXES: tuple[Axis, ...] = ("evaluations", "seconds")

_PALETTE = (
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b", "#6a3d9a",
)  # fmt: skip
_STYLES = (("-", ""), ("--", "////"), (":", "...."))  # of lines and bars; more colours could not be told apart
_POINTS = 200
_WORST_SHOWN = 4.0  # of profiles, times the best


def means(found: Mapping[str, Summary], looks: Looks, label: str) -> Figure:
    """Geometric means with their intervals: those of other seeds thick, those of other pipelines, too, thin."""
    figure = new_figure(8, 1.2 + 0.32 * len(found))
    axis = figure.subplots()
    for place, (agent, each) in enumerate(found.items()):
        colour = looks[agent].colour
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


def bars(group: Group, ratios: Mapping[str, Scores], looks: Looks, label: str) -> Figure:
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
        look = looks[agent]
        axis.bar(
            places,
            [*shares, mean],
            width,
            label=plain_label(agent),
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white" if look.hatch else look.colour,
            linewidth=0,
        )
    axis.set_xticks(range(len(labels)), [plain_label(label) for label in labels], rotation=30, ha="right")
    axis.set_ylabel(label)
    axis.set_ylim(0, 1.05)
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)
    _legend(figure)
    return figure


def curves(group: Group, over: Axis, looks: Looks) -> Figure | None:
    """Anytime curves: cost of the baseline / best cost so far, geometric mean over pipelines and seeds.

    A curve begins where all runs of the agent have a schedule, and goes on level where they have ended. An agent of which a
    run failed, or is still to come, has none: it would be that of the pipelines that it copes with, or has met. None if no
    search has a history, or budgets are in units of what the baseline does not count.
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
        style = "o" if np.isfinite(mean).sum() == 1 else looks[agent].dash
        axis.plot(grid, mean, style, color=looks[agent].colour, label=plain_label(agent), linewidth=1.6)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    _plain_ticks(axis.yaxis)
    axis.grid(which="both", alpha=0.3)
    unit = f"{over} / the baseline's" if group.in_units_of_baseline else over
    axis.set_xlabel(unit)
    axis.set_ylabel("baseline's cost / best cost so far")
    _legend(figure)
    return figure


def profile(scores: Mapping[str, Scores], looks: Looks, what: str) -> Figure:
    """Performance profiles: the share of runs that come within a factor of the best known; bands of 95 % for other seeds.

    A run that failed is never within one (Dolan and Moré 2002, "Benchmarking Optimization Software with Performance
    Profiles"). Agents that have failed everywhere are left out.

    Args:
        scores: the ratios to the baseline, 0 of runs that failed.
        looks: of the agents.
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
            color=looks[agent].colour,
            linestyle=looks[agent].dash,
            label=plain_label(agent),
            where="post",
            linewidth=1.6,
        )
        low, high = [p.low for p in points], [p.high for p in points]
        axis.fill_between(factors, low, high, color=looks[agent].colour, alpha=0.12, step="post", linewidth=0)
    axis.set_xlim(1, factors[-1])
    axis.set_xscale("log")
    _plain_ticks(axis.xaxis)
    axis.set_ylim(0, 1.02)
    axis.grid(alpha=0.3)
    axis.set_xlabel(f"{what} / the best known")
    axis.set_ylabel("share of runs within that")
    _legend(figure)
    return figure


def looks_of(agents: Sequence[str]) -> dict[str, Look]:
    """A look for each agent, the same in all plots: thirty that also those tell apart who do not see all colours."""
    looks = [Look(colour, *style) for style in _STYLES for colour in _PALETTE]
    return {agent: looks[number % len(looks)] for number, agent in enumerate(agents)}


def _units(group: Group, over: Axis) -> dict[str, float]:
    """By pipeline what the baseline took, where that is counted."""
    name = "distinct_evaluations" if over == "evaluations" else over
    counts = group.scores(group.baseline, lambda result: result.count(name))
    return {pipeline: statistics.fmean(each) for pipeline, each in counts.items()}


def _tracks(
    group: Group, agent: str, over: Axis, baseline: Scores, units: Mapping[str, float]
) -> list[tuple[list[float], list[float]]]:
    """The improvements of an agent's runs: places, and the logarithms of the ratios from there on.

    None if one has none, or is still to come, on a pipeline on which the baseline has a cost.
    """
    tracks, found = [], group.agents[agent]
    runs = max(map(len, found.values()), default=0)
    for pipeline in baseline:
        results = found.get(pipeline, ())
        if len(results) < runs:
            return []
        for result in results:
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


def _legend(figure: Figure) -> None:
    """The names below the plot, in up to five columns as there is room; fewer make the figure higher, not the plot lower."""
    for columns in range(5, 0, -1):
        legend = figure.legend(loc="outside lower center", ncols=columns, fontsize="small")
        with fonts_of_readers():
            box = legend.get_window_extent()
        if columns == 1 or box.width <= figure.bbox.width:
            break
        legend.remove()
    if columns < 5:
        figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)


def _plain_ticks(axis: XAxis | YAxis) -> None:
    """Ticks of a logarithmic axis as plain numbers, as many as stand side by side over the decades that it shows."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades <= 2 else (1,)))
    axis.set_minor_locator(LogLocator(subs=(1.2, 1.5, 3, 4, 6, 7, 8, 9) if decades <= 2 else range(2, 10)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(StrMethodFormatter("{x:g}") if decades <= 1 else NullFormatter())
