"""`halidegym demo`: the suite `quick`, its report, and a table of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from halidegym.evaluation.arguments.options import Failure
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console

if TYPE_CHECKING:
    from halidegym.evaluation.benchmark.run import Run

_SUITE = "quick"


@click.command()
@click.option(
    "--output", type=OutputFolder(), default="runs/quick", show_default=True, help="Folder of the run and its report."
)
@needs_extra("bench")
def demo(output: Path) -> None:
    """Schedule six pipelines in eleven ways, measure the results, and write a report.

    It is `halidegym bench quick` and `halidegym report` in one: beam search, which is the algorithm of Halide's Adams2019
    autoscheduler, that one itself, and in as many seconds as the beam took planners and searches that a learned policy
    guides; and a tuner, which measures. Every schedule is compiled and run on this machine. It takes minutes on
    two idle cores; after Ctrl-C, the same command goes on.
    """
    from halidegym.evaluation.benchmark.display import run_suite
    from halidegym.evaluation.benchmark.report.page import write_report
    from halidegym.evaluation.benchmark.suite import load_suite

    try:
        run = run_suite(load_suite(_SUITE), output)
        page = write_report(run, output / "report")
    except OSError as error:
        raise Failure(f"Cannot write {error.filename or output}: {error.strerror}") from error
    console = output_console()
    console.print(_table(run))
    console.print(
        f"Costs and run times of the baseline, {run.suite.baseline}, divided by the agent's: above 1 is better. Means are "
        "geometric, over seeds and pipelines; of run times, those of one seed.",
        markup=False,
    )
    console.print(f"The report: {page}", markup=False, soft_wrap=True)


def _table(run: Run) -> Table:
    """A line an agent: its cost, and how fast its schedules run, by pipeline and in geometric mean."""
    from halidegym.evaluation.benchmark.report.groups import groups_of
    from halidegym.evaluation.benchmark.report.tables import means_of

    table = Table(
        *name_columns("Agent"),
        *number_columns("Cost", "Speed", *run.suite.pipelines),
        title=escape(run.suite.title),
        title_justify="left",
    )
    shown: set[str] = set()
    for group in groups_of(run):
        for agent in group.agents:
            if agent not in shown:
                shown.add(agent)
                costs, speeds = means_of(group.cost_ratios(agent)), means_of(group.speedups(agent))
                table.add_row(
                    escape(agent),
                    costs.mean,
                    speeds.mean,
                    *(speeds.by_pipeline.get(pipeline, "-") for pipeline in group.pipelines),
                )
    return table
