"""`halidegym reproduce tag-library`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.records import TransformReplay
from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.arguments.options import Failure
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.arguments.transform import SPACES
from halidegym.evaluation.output.console import name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers import tag_library, tag_library_report
from halidegym.native._core import TransformSpace, available_lanes

_SEARCHES = "tag-library-searches.tsv"


@click.command("tag-library")
@click.argument("sizes", metavar="[N]...", type=int, nargs=-1)
@click.option("--space", type=click.Choice(SPACES[:2]), default="basic", show_default=True)
@click.option(
    "--evaluations",
    type=click.IntRange(min=1),
    multiple=True,
    default=(100, 500, 1000),
    show_default=True,
    help="Measurements after which searches are compared; repeatable.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of each search.")
@click.option("--database", type=click.Path(path_type=Path, dir_okay=False), help="Record measurements here.")
@click.option("--output", type=OutputFolder(), help="Also write .csv, .tsv and .svg here.")
@click.option("--replay", is_flag=True, help="Search by the record in --database; DP's plans are those in --output.")
def tag_library_command(
    sizes: tuple[int, ...],
    space: str,
    evaluations: tuple[int, ...],
    seeds: int,
    database: Path | None,
    output: Path | None,
    replay: bool,
) -> None:
    """Tune a library of Fourier transforms by search and by dynamic programming (de Mesmay et al. 2009).

    Speeds are relative to the plan of careful dynamic programming; the final plans of all searches of a size race at the
    end. Default sizes: 256, 1024, 4096, 16384, 360, 1000.
    """
    if replay and (database is None or output is None):
        raise click.UsageError("--replay needs --database and --output.")
    budgets = sorted(evaluations)
    rows: list[tag_library.Row] = []
    shares: list[tag_library.Reached] = []
    searches: list[tag_library.Search] = []
    before = tag_library_report.read_searches(output / _SEARCHES) if replay and output is not None else []
    for n in sizes or tag_library.SIZES:
        if replay and database is not None:
            found, race = _replayed(n, space, budgets, seeds, database, before)
        else:
            found, race = _run(n, space, budgets, seeds, database)
        rows += tag_library.rows(found, budgets, race)
        shares += tag_library.reached(found, race)
        searches += found
    _print(rows, shares)
    if output is not None and not replay:
        output.mkdir(parents=True, exist_ok=True)
        tag_library_report.write_tables(rows, shares, output)
        tag_library_report.write_searches(searches, output / _SEARCHES)
        tag_library_report.draw(searches, output / "tag-library.svg")


def _run(
    n: int, space: str, budgets: Sequence[int], seeds: int, database: Path | None
) -> tuple[list[tag_library.Search], dict[str, float]]:
    """All searches of a size, and what their best plans take in one race."""
    lanes = available_lanes()
    reference = TransformSpace(n, space=space, lanes=lanes).root().plan  # type: ignore[arg-type]  # click has checked it
    searches: list[tag_library.Search] = []
    num_runs = seeds + 1 + sum(1 if name in tag_library.WITHOUT_SEEDS else seeds for name in tag_library.AGENTS)
    with (
        TransformTimer(TransformPlan(n, reference), space=space, database=database) as timer,
        steps_bar(num_runs) as on_step,
    ):
        on_step(f"{n}: {tag_library.CAREFUL}")
        searches.append(tag_library.plan_by_dp(n, space, tag_library.CAREFUL, 0, timer, lanes))
        for seed in range(seeds):
            on_step(f"{n}: {tag_library.QUICK}")
            searches.append(tag_library.plan_by_dp(n, space, tag_library.QUICK, seed, timer, lanes))
        for name in tag_library.AGENTS:
            for seed in range(1 if name in tag_library.WITHOUT_SEEDS else seeds):
                on_step(f"{n}: {name}")
                searches.append(tag_library.search(n, space, name, seed, budgets[-1], timer, lanes))
        standings = timer.race(tag_library.finalists(searches, budgets))
    return searches, {standing.plan: standing.cost for standing in standings}


def _replayed(
    n: int, space: str, budgets: Sequence[int], seeds: int, database: Path, before: Sequence[tag_library.Search]
) -> tuple[list[tag_library.Search], dict[str, float]]:
    """The same by a record alone, which stands for the race, too; dynamic programming's plans are those of before."""
    lanes = available_lanes()
    costs = TransformReplay(n, database, space=space, lanes=lanes)
    searches = [found for found in before if found.n == n and found.agent in (tag_library.CAREFUL, tag_library.QUICK)]
    if not searches:
        raise Failure(f"{_SEARCHES} in --output has no dynamic programming for {n}: run without --replay first.")
    for name in tag_library.AGENTS:
        for seed in range(1 if name in tag_library.WITHOUT_SEEDS else seeds):
            searches.append(tag_library.search(n, space, name, seed, budgets[-1], costs, lanes))
    return searches, {plan: costs.cost(plan) for plan in tag_library.finalists(searches, budgets)}


def _print(rows: Sequence[tag_library.Row], shares: Sequence[tag_library.Reached]) -> None:
    console = output_console()
    console.print(_table(tag_library_report.ROWS_HEADER, tag_library_report.row_cells(rows)))
    console.print("Plans measured until the best one had a share of the best known speed:")
    console.print(_table(tag_library_report.SHARES_HEADER, tag_library_report.share_cells(shares)))


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    table = Table(*number_columns(header[0]), *name_columns(header[1]), *number_columns(*header[2:]), box=None)
    for cells in lines:
        table.add_row(*cells)
    return table
