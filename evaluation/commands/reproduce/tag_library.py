"""`halidegym reproduce tag-library`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.transform.space import SPACES
from halidegym.evaluation.output.console import name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers import tag_library, tag_library_report
from halidegym.native._core import TransformSpace, available_lanes


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
@click.option("--output", type=OutputFolder(), help="Also write .csv and .svg here.")
def tag_library_command(
    sizes: tuple[int, ...],
    space: str,
    evaluations: tuple[int, ...],
    seeds: int,
    database: Path | None,
    output: Path | None,
) -> None:
    """Tune a library of Fourier transforms by search and by dynamic programming (de Mesmay et al. 2009).

    Speeds are relative to the plan of careful dynamic programming; the final plans of all searches of a size race at the
    end. Default sizes: 256, 1024, 4096, 16384, 360, 1000.
    """
    rows: list[tag_library.Row] = []
    shares: list[tag_library.Reached] = []
    searches: list[tag_library.Search] = []
    for n in sizes or tag_library.SIZES:
        found, race = _run(n, space, sorted(evaluations), seeds, database)
        rows += tag_library.rows(found, sorted(evaluations), race)
        shares += tag_library.reached(found, race)
        searches += found
    _print(rows, shares)
    if output is not None:
        tag_library_report.write_tables(rows, shares, output)
        tag_library_report.draw(searches, output)


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


def _print(rows: Sequence[tag_library.Row], shares: Sequence[tag_library.Reached]) -> None:
    table = Table(
        *number_columns("N"),
        *name_columns("Search"),
        *number_columns("Measurements", "Speed", "Worst", "Best", "Executed s"),
        box=None,
    )
    for row in rows:
        speeds = (f"{speed:.2f}" for speed in (row.speed, row.worst, row.best))
        table.add_row(str(row.n), row.agent, str(row.measurements), *speeds, f"{row.executed_s:.2f}")
    reached = Table(
        *number_columns("N"), *name_columns("Search"), *number_columns("Share", "Measurements", "Seeds"), box=None
    )
    for entry in shares:
        count = str(entry.measurements) if entry.measurements >= 0 else ""
        reached.add_row(str(entry.n), entry.agent, f"{entry.share:.0%}", count, str(entry.seeds))
    console = output_console()
    console.print(table)
    console.print("Measurements until the best plan had a share of the best known speed:")
    console.print(reached)
