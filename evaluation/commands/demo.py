"""`halidegym demo`."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.table import Table

from halidegym.evaluation.output.console import name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.studies.demo import DemoRun, num_steps, run_demo, summarize, usable_threads


@click.command()
def demo() -> None:
    """Schedule five pipelines in seven ways, and measure the results.

    Each pipeline is scheduled for this machine and two cores by Halide's own Adams2019 autoscheduler, by beam search,
    which is the same algorithm, and then, each in as many seconds as beam search took, by MB2FBS, Monte Carlo tree
    search, the paper's and the one that begins with a pass of the beam, greedy search and random search. Every schedule
    is then compiled and run on two threads. It takes two to four minutes.
    """
    threads = usable_threads()
    runs: list[DemoRun] = []
    console = output_console()
    with steps_bar(num_steps()) as on_step:
        runs.extend(run_demo(threads, on_step))
    console.print(_table(runs, threads))
    console.print(
        "Cost is what the learned cost model predicts; run time is the median that was measured. Beam search and Adams2019 "
        "are the same algorithm with the same parameters: five passes, and a beam of 32 (8 for bilateral_grid, where "
        "Adams2019 would take minutes). So their costs, evaluations and schedules are equal, and their search times can be "
        "compared. MB2FBS, MCTS, greedy and random search have the seconds of beam search, on one thread each; MB2FBS and "
        "greedy search end by themselves when they are done."
    )


def _table(runs: Sequence[DemoRun], threads: int) -> Table:
    table = Table(
        *name_columns("Pipeline", "Agent"),
        *number_columns("Cost", "Evaluations", "Search, s", "Run time, ms"),
        title=f"Schedules for this machine, on {threads} threads",
        title_justify="left",
    )
    previous = None
    for run in runs:
        if previous not in (None, run.pipeline):
            table.add_section()
        table.add_row(
            "" if run.pipeline == previous else run.pipeline,
            run.agent,
            "-" if run.plan.cost is None else f"{run.plan.cost:.4g}",
            "-" if run.plan.evaluations is None else f"{run.plan.evaluations:,}",
            f"{run.plan.seconds:.2f}",
            f"{run.timing.median_s * 1e3:.2f}" if run.timing.outcome == "ok" else run.timing.outcome,
        )
        previous = run.pipeline
    table.add_section()
    for number, mean in enumerate(summarize(runs)):
        table.add_row(
            "geometric mean" if number == 0 else "",
            mean.agent,
            f"x {mean.cost:.3f}",
            "",
            "",
            "-" if mean.run_time is None else f"x {mean.run_time:.3f}",
        )
    return table
