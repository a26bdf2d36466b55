"""The pages of a report: Markdown with its tables as CSV and its plots as SVG beside it, and one HTML file of all that."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from halidegym.evaluation.benchmark.report import plots, tables
from halidegym.evaluation.benchmark.report.groups import Group, Scores, groups_of
from halidegym.evaluation.benchmark.report.statistics import pairs, summaries
from halidegym.evaluation.benchmark.report.tables import Table
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.timings import read_timings
from halidegym.evaluation.output.pages import marked_table, with_tables, write_table
from halidegym.evaluation.output.plots import save_svg
from halidegym.native._core import Error
from halidegym.native.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_READING = """Ratios are relative to the baseline, above 1 where an agent is better. Means over pipelines are geometric.
Intervals are of 95 %, by a stratified bootstrap: "seeds" asks what other seeds would have given on the same pipelines,
"pipelines and seeds" what other pipelines would, too; "-" is where a single run, or a single pipeline, does not tell. With
few of them intervals are too narrow: those of three seeds or fifteen pipelines cover the truth in about 90 % of all cases.
The interquartile mean leaves out the best and the worst quarter of the runs. P(better than baseline) is the probability that
a run of the agent beats one of the baseline on a pipeline, ties counted as half. The verdict is that of Wilcoxon's
signed-rank test over the pipelines at 5 %, with Holm's correction for the number of agents; fewer than six pipelines decide
nothing, and neither do ranks that the mean contradicts."""

_STYLE = """
body { font-family: system-ui, sans-serif; line-height: 1.45; color: #1a1a1a; background: #fff; max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.2 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; padding-bottom: .2rem }
.table { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #e2e2e2; text-align: left }
th { border-bottom: 2px solid #888; vertical-align: bottom }
td:first-child, td[style*=right] { white-space: nowrap }
tbody tr:hover { background: #f4f7fb }
img { max-width: 100%; height: auto }
code { background: #f2f2f2; padding: 0 .2rem }
"""


def write_report(run: Run, folder: Path, on_step: Callable[[str], None] = lambda _: None) -> Path:
    """Write report.md, its tables and plots, and report.html into a folder.

    Args:
        run: with at least one result of the baseline.
        folder: which is made if there is none.
        on_step: called with what is begun.

    Returns:
        The path of the HTML file.

    Raises:
        Error: the run has no results to compare, or results of different problems; or a library is missing.
        FormatError: a file of the run is damaged.
        OSError: a file cannot be written.
    """
    writer = _Writer(folder)
    writer.text(f"# {run.suite.title}\n\n{run.suite.description}")
    writer.table("overview", tables.overview(run))
    writer.text(_READING)
    groups = [group for group in groups_of(run) if group.baseline in group.agents]
    if not groups:
        raise Error(f"{run.path} has no result of its baseline, {run.suite.baseline}; run `halidegym bench` to its end")
    looks = plots.looks_of(list(run.suite.agents))
    for number, group in enumerate(groups, 1):
        on_step(group.budget)
        _write_group(writer, group, f"{number}-", looks)
    failures = tables.failure_table(run, read_timings(run))
    if failures[1]:
        writer.text("## What failed")
        writer.table("failures", failures)
    return writer.close(run.suite.title)


def _write_group(writer: _Writer, group: Group, prefix: str, looks: plots.Looks) -> None:
    writer.text(f"## Budget: {group.budget}\n\nAgents that run to their own end are in all comparisons.")
    if group.cost_ratios(group.baseline):
        writer.text("### Costs\n\nCost of the baseline / cost, by the cost model.")
        _write_ratios(writer, group, f"{prefix}cost", group.cost_ratios, looks, "cost")
        apart = [agent for agent in group.agents if group.has_no_costs(agent)]
        if apart:
            writer.text(
                f"Not compared by cost, as another cost model rated them, or none, or for other cores: {', '.join(apart)}."
            )
        for over in plots.AXES:
            figure = plots.curves(group, over, looks)
            if figure is not None:
                writer.text(f"#### The best cost so far, over {over}")
                caption = (
                    "Geometric mean over pipelines and seeds, from where on all runs of an agent have a schedule; there is "
                    "none if one of them failed, or is still to come."
                )
                writer.plot(f"{prefix}anytime-{over}", figure, caption)
        text = "Geometric mean of the costs / mean expansions a pass, where they are counted."
        writer.text(f"#### Costs and expansions\n\n{text}")
        writer.table(f"{prefix}costs", tables.cost_table(group))
    if group.speedups(group.baseline):
        measured = any((count or 0) > 0 for count in _measurements(group))
        title = "Run times, autotuning among them" if measured else "Run times"
        writer.text(f"### {title}\n\nRun time of the baseline's schedule / run time, schedules of a pipeline in turns.")
        _write_ratios(writer, group, f"{prefix}time", group.speedups, looks, "run time")
        text = (
            "Of the first seed. After the median, ± is half the range of the middle half of samples; *disturbed* is where "
            "other processes took cores away in all samples, so that the times are too long."
        )
        writer.text(f"#### Milliseconds\n\n{text}")
        writer.table(f"{prefix}times", tables.time_table(group))
    writer.text("### What the searches took\n\nGeometric means over pipelines and seeds; of budgets, the median share.")
    writer.table(f"{prefix}effort", tables.effort_table(group))


def _write_ratios(
    writer: _Writer, group: Group, name: str, ratios_of: Callable[..., Scores], looks: plots.Looks, what: str
) -> None:
    ratios = {agent: ratios_of(agent) for agent in group.agents}
    with_failures = {agent: ratios_of(agent, with_failures=True) for agent in group.agents}
    found = summaries(ratios, group.baseline, group.drawing)
    writer.table(f"{name}-summary", tables.summary_table(group, found))
    caption = "Dots are geometric means, strokes interquartile ones; thick intervals are of seeds, thin ones of both."
    writer.plot(f"{name}-means", plots.means(found, looks, f"baseline's {what} / {what}"), caption)
    writer.text("#### By pipeline")
    writer.table(f"{name}-pipelines", tables.ratio_table(group, ratios))
    caption = (
        f"The least {what} of each agent's seeds, normalised to the least of all agents: 1 is the best. The mean is of "
        "agents that have one on each pipeline."
    )
    writer.plot(f"{name}-bars", plots.bars(group, ratios, looks, f"least {what} of all / agent's"), caption)
    writer.text("#### Performance profiles")
    caption = (
        f"The share of runs whose {what} is within a factor of the best known; those that failed never are. Bands are of "
        "95 %, of seeds."
    )
    writer.plot(f"{name}-profile", plots.profile(with_failures, looks, what), caption)
    writer.text(
        "#### Each agent against each\n\nHow many times better the agent of the line is than that of the column, geometric "
        "mean; bold where the difference is significant, corrected for the number of pairs."
    )
    writer.table(f"{name}-pairs", tables.pair_table(list(group.agents), pairs(ratios)))


def _measurements(group: Group) -> list[float | None]:
    return [
        result.count("measurements")
        for by_pipeline in group.agents.values()
        for results in by_pipeline.values()
        for result in results
    ]


class _Writer:
    """Puts a page together."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[str] = []
        for name in ("tables", "plots"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def text(self, markdown: str) -> None:
        """Add paragraphs."""
        self._parts.append(f"{markdown}\n")

    def table(self, name: str, table: Table) -> None:
        """Add a table, and write its file."""
        file = f"tables/{name}.csv"
        write_table(self._folder / file, *table)
        self._parts.append(marked_table(file))

    def plot(self, name: str, figure: Figure, caption: str) -> None:
        """Add a plot with what it shows, and write its file."""
        file = f"plots/{name}.svg"
        save_svg(figure, self._folder / file)
        self._parts.append(f"![{caption}]({file})\n\n*{caption}*\n")

    def close(self, title: str) -> Path:
        """Write the pages."""
        page = with_tables("\n".join(self._parts), self._folder)
        write_atomically(self._folder / "report.md", page.encode())
        html = self._folder / "report.html"
        write_atomically(html, _html(page, title, self._folder).encode())
        return html


def _html(page: str, title: str, folder: Path) -> str:
    """A page of Markdown as one file, with its plots in it."""
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    def embedded(found: re.Match[str]) -> str:
        data = base64.b64encode((folder / found[1]).read_bytes()).decode()
        return f'src="data:image/svg+xml;base64,{data}"'

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(re.sub(r"<!--.*?-->\n", "", page))
    body = re.sub(r'src="(plots/[\w.-]+)"', embedded, body)
    body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escapeHtml(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n<body>\n{body}</body></html>\n'
    )
