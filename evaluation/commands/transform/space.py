"""`halidegym transform space`."""

from __future__ import annotations

import click

from halidegym.envs.transform.plan_task import SpaceName
from halidegym.evaluation.arguments.transform import SPACES
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.native._core import TransformSpace


@click.command()
@click.argument("sizes", metavar="N...", type=int, nargs=-1, required=True)
@click.option("--space", "names", type=click.Choice(SPACES), multiple=True, help="[default: basic and lanes]")
def space(sizes: tuple[int, ...], names: tuple[SpaceName, ...]) -> None:
    """Count the plans of a transform of N complex numbers.

    Pairs are of a problem and a step, of which dynamic programming measures those that leave a choice; words are plans,
    complete or not, and walks the orders in which complete ones can be derived. All counts are exact up to 3.4e+38, and
    shown with two digits from 100 000 on.
    """
    columns = number_columns("Problems", "Most steps", "Pairs", "Plans", "Words", "Walks")
    table = Table(*number_columns("N"), *name_columns("Space"), *columns, box=None)
    for n in sizes:
        for name in names or SPACES[:2]:
            counted = TransformSpace(n, space=name)
            sizes_of = (counted.count_plans(), counted.count_words(), counted.count_walks())
            numbers = (counted.num_problems, counted.max_depth(), counted.num_pairs, *sizes_of)
            table.add_row(str(n), name, *map(_shown, numbers))
    output_console().print(table)


def _shown(count: int | None) -> str:
    if count is None:
        return "> 3.4e+38"
    return str(count) if count < 100_000 else f"{count:.1e}"
