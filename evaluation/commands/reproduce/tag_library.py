"""`halidegym reproduce tag-library`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from halidegym.envs.timing.timers import Unrecorded
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.plan_task import SpaceName
from halidegym.envs.transform.records import TransformReplay
from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.arguments.options import Failure, Integer
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.arguments.transform import SPACES, check_sizes
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.earlier_table import EarlierTable
from halidegym.evaluation.output.plots import check_plot_file
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers import tag_library, tag_library_report
from halidegym.native._core import TransformSpace, available_lanes
from halidegym.native.checks import INT64_MAX


@click.command("tag-library")
@click.argument("sizes", metavar="[N]...", type=int, nargs=-1)
@click.option("--space", type=click.Choice(SPACES), default="basic", show_default=True)
@click.option(
    "--evaluations",
    type=Integer(1, INT64_MAX),
    multiple=True,
    default=(100, 500, 1000),
    show_default=True,
    help="Measurements after which searches are compared; repeatable.",
)
@click.option("--seeds", type=Integer(1), default=5, show_default=True, help="Runs of each search.")
@click.option("--database", type=click.Path(path_type=Path, dir_okay=False), help="Record measurements here.")
@click.option("--output", type=OutputFolder(), help="Also write .csv, .tsv and .svg here.")
@click.option("--replay", is_flag=True, help="Search by the record in --database alone.")
def tag_library_command(
    sizes: tuple[int, ...],
    space: SpaceName,
    evaluations: tuple[int, ...],
    seeds: int,
    database: Path | None,
    output: Path | None,
    replay: bool,
) -> None:
    """Tune a library of Fourier transforms by search and by dynamic programming.

    The experiment of de Mesmay et al. (2009). Speeds are relative to the plan of careful dynamic programming; the final
    plans of all searches of a size race at the end. Default sizes: 256, 1024, 4096, 16384, 360, 1000. After Ctrl-C, the
    sizes that were done are shown.
    """
    if replay and database is None:
        raise click.UsageError("--replay needs --database.")
    budgets = sorted(set(evaluations))
    rows: list[tag_library.Row] = []
    shares: list[tag_library.Reached] = []
    searches: list[tag_library.Search] = []
    sizes = tuple(dict.fromkeys(sizes)) or tag_library.SIZES
    check_sizes(sizes, [space])
    name = "tag-library" if space == SPACES[0] else f"tag-library-{space}"
    earlier = None
    if output is not None:
        check_plot_file(output / f"{name}.svg")
        earlier = EarlierTable(output / f"{name}.csv")
        if not replay:  # which takes no time that could be lost, and says first what is not on record
            earlier.check_covered(sizes)
    try:
        for n in sizes:
            found, race = _searched(n, space, budgets, seeds, database, replay)
            rows += tag_library.rows(found, budgets, race)
            shares += tag_library.reached(found, race)
            searches += found
            if earlier is not None and earlier.is_covered(row.n for row in rows):  # what is done so far
                earlier.path.parent.mkdir(parents=True, exist_ok=True)
                tag_library_report.write_all(rows, shares, searches, earlier.path.parent, name)
    except Unrecorded as error:
        raise Failure(
            f"{database} has not all the times that this would --replay; run the same command without --replay first"
        ) from error
    finally:
        if rows:
            _print(rows, shares)
        if earlier is not None:
            earlier.tell_if_kept(row.n for row in rows)


def _searched(
    n: int, space: SpaceName, budgets: Sequence[int], seeds: int, database: Path | None, replay: bool
) -> tuple[list[tag_library.Search], dict[str, float]]:
    """All searches of a size, and what their best plans take in one race, for which a record stands when it is replayed."""
    lanes = available_lanes()
    with steps_bar(tag_library.num_searches(seeds)) as on_step:

        def searches(costs: tag_library.AllCosts) -> list[tag_library.Search]:
            return tag_library.all_searches(
                n, space, budgets[-1], seeds, costs, lanes, lambda name: on_step(f"{n}: {name}")
            )

        if replay and database is not None:
            recorded = TransformReplay(n, database, space=space, lanes=lanes)
            found = searches(recorded)
            return found, {plan: recorded.cost(plan) for plan in tag_library.finalists(found, budgets)}
        reference = TransformSpace(n, space=space, lanes=lanes).root().plan
        with TransformTimer(TransformPlan(n, reference), space=space, database=database) as timer:
            found = searches(timer)
            standings = timer.race(tag_library.finalists(found, budgets))
        return found, {standing.plan: standing.cost for standing in standings}


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
