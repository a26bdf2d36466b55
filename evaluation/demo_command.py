"""`halidegym demo`."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from halidegym.evaluation.demo import Entry, num_steps, run_demo, usable_threads
from halidegym.evaluation.progress import steps_bar


@click.command()
def demo() -> None:
    """Schedule five pipelines in four ways, and measure the results.

    Each pipeline is scheduled for this machine and two cores by random search, by greedy search, by beam search, and by
    Halide's own Adams2019 autoscheduler, which is a beam search too. Every schedule is then compiled and run on two
    threads. It takes one to three minutes.
    """
    threads = usable_threads()
    entries: list[Entry] = []
    console = Console()
    with steps_bar(num_steps()) as on_step:
        entries.extend(run_demo(threads, on_step))
    console.print(_table(entries, threads))
    console.print(
        "Cost is what the learned cost model predicts; run time is the median that was measured. Random search draws 1000 "
        "schedules. Beam search and Adams2019 are the same algorithm with the same parameters: five passes, and a beam as "
        "wide as the number after the name (32 by default; bilateral_grid has 8, where Adams2019 would take minutes). "
        "So their costs, evaluations and schedules are equal, and the search times can be compared."
    )


def _table(entries: list[Entry], threads: int) -> Table:
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
    return table
