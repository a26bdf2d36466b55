"""`halidegym demo`."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table

from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.studies.demo import Entry, num_steps, run_demo, summarize, usable_threads


@click.command()
def demo() -> None:
    """Schedule five pipelines in seven ways, and measure the results.

    Each pipeline is scheduled for this machine and two cores by Halide's own Adams2019 autoscheduler, by beam search,
    which is the same algorithm, and then, each in as many seconds as beam search took, by MB2FBS, Monte Carlo tree
    search, the paper's and the one that begins with a pass of the beam, greedy search and random search. Every schedule
    is then compiled and run on two threads. It takes two to four minutes.
    """
    threads = usable_threads()
    entries: list[Entry] = []
    console = Console()
    with steps_bar(num_steps()) as on_step:
        entries.extend(run_demo(threads, on_step))
    console.print(_table(entries, threads))
    console.print(
        "Cost is what the learned cost model predicts; run time is the median that was measured. Beam search and Adams2019 "
        "are the same algorithm with the same parameters: five passes, and a beam of 32 (8 for bilateral_grid, where "
        "Adams2019 would take minutes). So their costs, evaluations and schedules are equal, and their search times can be "
        "compared. MB2FBS, MCTS, greedy and random search have the seconds of beam search, on one thread each; MB2FBS and "
        "greedy search end by themselves when they are done."
    )


def _table(entries: Sequence[Entry], threads: int) -> Table:
    table = Table(title=f"Schedules for this machine, on {threads} threads", title_justify="left")
    for column in ("Pipeline", "Agent"):
        table.add_column(column, no_wrap=True)
    for column in ("Cost", "Evaluations", "Search, s", "Run time, ms"):
        table.add_column(column, justify="right")
    previous = None
    for entry in entries:
        if previous not in (None, entry.pipeline):
            table.add_section()
        table.add_row(
            "" if entry.pipeline == previous else entry.pipeline,
            entry.agent,
            "-" if entry.plan.cost is None else f"{entry.plan.cost:.4g}",
            "-" if entry.plan.evaluations is None else f"{entry.plan.evaluations:,}",
            f"{entry.plan.seconds:.2f}",
            f"{entry.timing.median_s * 1e3:.2f}" if entry.timing.outcome == "ok" else entry.timing.outcome,
        )
        previous = entry.pipeline
    table.add_section()
    for number, mean in enumerate(summarize(entries)):
        table.add_row(
            "geometric mean" if number == 0 else "",
            mean.agent,
            f"x {mean.cost:.3f}",
            "",
            "",
            "-" if mean.run_time is None else f"x {mean.run_time:.3f}",
        )
    return table
