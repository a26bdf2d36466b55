"""`halidegym reproduce guided`."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.envs.pipelines.generated import SUITES
from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers.guided_searches import HEADER, guided_searches, lines
from halidegym.evaluation.papers.learned_agents import append_runs, compare, read_runs


@click.command("guided")
@click.option("--policy", "policies", multiple=True, default=("default",), show_default=True,
              help="Name of a policy of the package, or the path of its file; repeatable: of several, one by lot draws each "
              "schedule.")  # fmt: skip
@click.option("--suite", type=click.Choice([suite for suite, split in SUITES.items() if split == "validation"]),
              default="random-validation-v1", show_default=True, help="Of the pipelines.")  # fmt: skip
@click.option("--first", type=Integer(0), default=300, show_default=True,
              help="Number of the first pipeline.")  # fmt: skip
@click.option("--pipelines", type=Integer(1), default=12, show_default=True, help="So many of them.")
@click.option("--seeds", type=Integer(1), default=2, show_default=True, help="Runs of each agent.")
@click.option("--output", type=OutputFolder(), required=True,
              help="Folder of the runs, which are not made again, and of the table.")  # fmt: skip
def guided(policies: tuple[str, ...], suite: str, first: int, pipelines: int, seeds: int, output: Path) -> None:
    """Compare the ways to search with a policy, at equal evaluations, on validation pipelines.

    Files: guided-runs.tsv has every run; guided-searches.csv the table made of them.
    """
    entrants = guided_searches(policies)
    path = output / "guided-runs.tsv"
    names = [f"{suite}/{first + i}" for i in range(pipelines)]
    with steps_bar(pipelines * len(entrants)) as on_step:
        for _ in append_runs(
            path, compare(names, entrants, seeds=range(seeds), known=read_runs(path), on_step=on_step)
        ):
            pass
    compared = {(name, entrant.policy) for name, entrant in entrants.items()}
    table = lines([run for run in read_runs(path) if run.pipeline in names and (run.agent, run.policy) in compared])
    write_table(output / "guided-searches.csv", HEADER, table)
    shown = Table(*name_columns(HEADER[0]), *number_columns(*HEADER[1:]), box=None)
    for line in table:
        shown.add_row(*line)
    output_console().print(shown)
