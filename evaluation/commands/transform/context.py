"""`halidegym transform context`."""

from __future__ import annotations

import click

from halidegym.envs.transform.plan_task import SpaceName
from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.transform import SPACES
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.studies.transform_context import swaps_in_context


@click.command()
@click.argument("n", metavar="N", type=int)
@click.option("--space", type=click.Choice(SPACES), default="basic", show_default=True)
@click.option("--runners-up", type=Integer(1), default=5, show_default=True, help="Sub-plans put in place.")
@click.option("--rounds", type=Integer(1), default=15, show_default=True, help="Samples of each way alone.")
def context(n: int, space: SpaceName, runners_up: int, rounds: int) -> None:
    """Show where dynamic programming is wrong about a transform of N complex numbers.

    It takes what is fastest alone. Here the runners-up of each sub-plan of its plan are put in its place, and the whole
    plans race: times are relative to what was taken, alone and in the plan, with an interval of 95 % for the latter.
    """
    plan, swaps = swaps_in_context(n, space, runners_up, rounds)
    table = Table(*number_columns("Alone", "In the plan", "From", "To"), *name_columns("Instead", "Problem"), box=None)
    for swap in swaps:
        numbers = (swap.alone, swap.in_context, swap.low, swap.high)
        table.add_row(*(f"{number:.2f}" for number in numbers), swap.way, swap.problem)
    problems = {swap.problem for swap in swaps}
    lost = {swap.problem for swap in swaps if swap.high < 1}
    console = output_console()
    console.print(f"Dynamic programming: {plan}", soft_wrap=True)
    console.print(table)
    console.print(f"{len(lost)} of {len(problems)} sub-plans lose in the plan to one that is slower alone.")
