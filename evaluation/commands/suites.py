"""`halidegym list` and `halidegym suites`: the registered pipelines, and whether their names mean what they meant."""

from __future__ import annotations

import click

from halidegym.envs import pipelines
from halidegym.envs.pipelines.records import (
    PARALLELISM,
    RECORDS_FILE,
    TARGET,
    differences,
    measure,
    read_records,
    write_records,
)
from halidegym.evaluation.arguments.options import Failure, Integer
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar

_SUITE_NAMES = [suite.name for suite in pipelines.suites()]
# Those of the papers and toys are what people compare on; of generated pipelines, an impression is enough.
_EPISODES, _EPISODES_OF_GENERATED = 1000, 20


class _Changed(Failure):
    """The pipelines were compared, and are not as recorded."""

    exit_code = 1


@click.command("list")
@click.option(
    "--suite", type=click.Choice(_SUITE_NAMES), help="Only this suite.  [default: all that are not generated]"
)
def list_pipelines(suite: str | None) -> None:
    """List the registered pipelines.

    Nodes are the Funcs of a pipeline, its inputs included; stages are their definitions, so that a Func with updates has
    several. A schedule takes two decisions for each node; those for inputs are forced. Of the legal ones to choose from, the
    median and the largest number over random schedules are shown; size is that of the output. All at the default size, for
    the target and the number of cores of the papers' tables (`halidegym suites`).
    """
    records = read_records()
    counts = number_columns("Nodes", "Stages", "Decisions", "Legal", "At most")
    table = Table(*name_columns("Suite", "Pipeline"), *counts, "Size", "Origin", box=None)
    shown = set(pipelines.names(suite))
    for group in pipelines.suites():
        for entry in group.entries if suite in (None, group.name) else ():
            record = records.get(group.name, {}).get(entry.name)
            if entry.name in shown:
                values = ("?",) * 6 if record is None else (
                    str(record.nodes), str(record.stages), str(record.decisions), f"{record.median_legal:g}",
                    str(record.largest_legal), " x ".join(map(str, record.size)),
                )  # fmt: skip
                table.add_row(group.name, entry.name, *values, entry.origin)
    output_console().print(table)


@click.command()
@click.option("--check", is_flag=True, help="Analyse every pipeline, and compare with the records.")
@click.option("--write", is_flag=True, help="Make the records anew. Only for suites that nobody has used yet.")
@click.option("--episodes", type=Integer(1), help="Random episodes a pipeline.  [default: 1000; generated: 20]")
@click.option(
    "--suite", "chosen", type=click.Choice(_SUITE_NAMES), multiple=True, help="Only write this one; repeatable."
)
def suites(check: bool, write: bool, episodes: int | None, chosen: tuple[str, ...]) -> None:
    """Show the suites of pipelines; check that their names mean what they meant.

    A suite's name ends in a version. What it stands for never changes: for each pipeline the hash of its problem is
    recorded. --check exits with status 1 if one differs.
    """
    if check and write:
        raise click.UsageError("Give --check or --write, not both.")
    if write:
        _write(episodes, chosen or tuple(_SUITE_NAMES))
    elif check:
        _check()
    else:
        table = Table(*name_columns("Suite"), *number_columns("Pipelines"), "What they are", box=None)
        for suite in pipelines.suites():
            table.add_row(suite.name, str(len(suite.entries)), suite.description)
        console = output_console()
        console.print(table)
        console.print(f"Recorded for {PARALLELISM} cores and target\n{TARGET}", soft_wrap=True)


def _write(episodes: int | None, chosen: tuple[str, ...]) -> None:
    records = read_records() if RECORDS_FILE.exists() else {}
    written = [suite for suite in pipelines.suites() if suite.name in chosen]
    with steps_bar(sum(len(suite.entries) for suite in written)) as on_step:
        for suite in written:
            records[suite.name] = {}
            for entry in suite.entries:
                on_step(entry.name)
                default = _EPISODES_OF_GENERATED if entry.origin == "generated" else _EPISODES
                records[suite.name][entry.name] = measure(entry.name, default if episodes is None else episodes)
    write_records({name: records[name] for name in _SUITE_NAMES if name in records})


def _check() -> None:
    with steps_bar(sum(len(suite.entries) for suite in pipelines.suites())) as on_step:
        found = differences(read_records(), on_step)
    for line in found:
        click.echo(line)
    if found:
        raise _Changed("A suite whose pipelines change needs a new version; see above for what differs.")
    click.echo("Every name means what it meant.")
