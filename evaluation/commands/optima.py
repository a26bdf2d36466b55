"""`halidegym optima`: the toy problems and their proven optima."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from halidegym.envs.pipelines import toys
from halidegym.envs.pipelines.toys import Optimum
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.studies.optima import prove_optimum, write_optima

_TOY = click.Choice(list(toys.BUILDERS))


@click.command()
@click.argument("names", metavar="[TOY]...", nargs=-1, type=_TOY)
@click.option("--check", is_flag=True, help="Prove them again; the exit status is 1 if one is not as recorded.")
@click.option("--write", is_flag=True, help="Prove all of them again, and write the record.")
def optima(names: tuple[str, ...], check: bool, write: bool) -> None:
    """Show the proven optima of the toy problems.

    A TOY is a pipeline that is small enough to try every complete schedule; by default, all are shown. --check does so, in
    a few seconds altogether.
    """
    if check and write:
        raise click.UsageError("Give --check or --write, not both.")
    if write and names:
        raise click.UsageError("--write proves all toys; leave out the names.")
    chosen = names or tuple(toys.BUILDERS)
    console = output_console()
    if write:
        proven = _prove(chosen)
        write_optima(proven)
        console.print(_optima_table(proven))
        return
    recorded = toys.read_optima()
    console.print(_optima_table({name: recorded[name] for name in chosen if name in recorded}))
    if check:
        different = [name for name, optimum in _prove(chosen).items() if optimum != recorded.get(name)]
        for name in different:
            console.print(f"{name} is not as recorded.")
        console.print(f"{len(chosen) - len(different)} of {len(chosen)} optima are proven as recorded.")
        if different:
            raise SystemExit(1)


def _prove(names: Sequence[str]) -> dict[str, Optimum]:
    proven = {}
    with steps_bar(len(names)) as on_step:
        for name in names:
            on_step(name)
            proven[name] = prove_optimum(name)
    return proven


def _optima_table(optima: Mapping[str, Optimum]) -> Table:
    table = Table(
        *name_columns("Pipeline"),
        *number_columns("Schedules", "Optimal cost"),
        "Optimal decisions",
        title=f"Target {toys.TARGET}, parallelism {toys.PARALLELISM}",
        title_justify="left",
    )
    for name, optimum in optima.items():
        table.add_row(name, f"{optimum.num_schedules:,}", repr(optimum.cost), " ".join(map(str, optimum.actions)))
    return table
