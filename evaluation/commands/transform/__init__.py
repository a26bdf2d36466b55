"""`halidegym transform`: plans of Fourier transforms; one file a command."""

from __future__ import annotations

import click

from halidegym.evaluation.commands.transform.compare import compare
from halidegym.evaluation.commands.transform.context import context
from halidegym.evaluation.commands.transform.plan import plan
from halidegym.evaluation.commands.transform.space import space


@click.group()
def transform() -> None:
    """Plan Fourier transforms by search: the counterpart of tuning a schedule, in microseconds."""


for command in (plan, space, compare, context):
    transform.add_command(command)
