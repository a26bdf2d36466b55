"""`halidegym playthroughs`: episodes as text."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.studies.playthroughs import PLAYTHROUGHS, playthrough
from halidegym.native.files import write_atomically


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice(list(PLAYTHROUGHS)))
@click.option(
    "--output",
    type=OutputFolder(),
    help="Folder to write a file for each to, instead of the standard output.",
)
def playthroughs(names: tuple[str, ...], output: Path | None) -> None:
    """Play episodes by a fixed rule, and tell them: decisions, observations, rewards, costs and schedules.

    By default, all are told. `make playthroughs` writes those that the tests compare with.
    """
    chosen = names or tuple(PLAYTHROUGHS)
    with steps_bar(len(chosen)) as on_step:
        for name in chosen:
            on_step(name)
            text = playthrough(name)
            if output is None:
                click.echo(text)
            else:
                output.mkdir(parents=True, exist_ok=True)
                write_atomically(output / f"{name}.txt", text.encode())
