"""`halidegym train data`: collect plans to learn from, on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import click

from halidegym.envs.processes.workers import Workers
from halidegym.evaluation.arguments.options import number_or_ray
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.commands.train.options import config_option
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.progress import steps_bar


@click.command()
@config_option("data")
@click.option("--output", type=OutputFolder(), default="runs/data", show_default=True, help="Folder of the plans.")
@click.option("--workers", type=number_or_ray, metavar="NUMBER|ray",
              help="Processes that plan, or ray for the nodes of a Ray cluster.  [default: the usable cores]")  # fmt: skip
@needs_extra("train")
@needs_extra("ray")
def data(config: str, output: Path, workers: Workers | None) -> None:
    """Collect plans of beam search and tree search for generated pipelines.

    They go into a folder for each split, as shards: files that store problems and plans. What is there already is not made
    again, so the same command goes on where Ctrl-C or worse has ended it.
    """
    from halidegym.training.data.collect import DataSettings, collect
    from halidegym.training.settings import load_settings

    settings = load_settings(DataSettings, config)
    console = output_console()
    with steps_bar(sum(settings.pipelines.values())) as on_pipeline:
        for split in collect(
            settings, output, workers=workers or len(os.sched_getaffinity(0)), on_pipeline=on_pipeline
        ):
            console.print(
                f"{split.folder}: {split.plans:,} plans for {split.problems:,} pipelines; {split.skipped:,} skipped"
            )
