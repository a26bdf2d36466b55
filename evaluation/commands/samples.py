"""`halidegym samples`: the files of Halide's own retraining tools, written and read."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.paths import OutputFile, OutputFolder, WritingCommand
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.console import output_console


@click.group()
def samples() -> None:
    """Write and read the .sample files of Halide's own retraining tools."""


@samples.command("write")
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.argument("folder", type=OutputFolder())
@click.option("--allow-other-machine", is_flag=True, help="Take run times of another machine.")
@needs_extra("train")
def write(data: Path, folder: Path, allow_other_machine: bool) -> None:
    """Write each run time of DATA, which `halidegym collect` made, to a file in FOLDER.

    Halide's retraining program reads them: ls FOLDER/*.sample | adams2019_retrain_cost_model ...
    """
    from halidegym.training.measured.collection import MeasuredCollection
    from halidegym.training.measured.samples import write_samples

    paths = write_samples(MeasuredCollection.load(data, allow_other_machine=allow_other_machine), folder)
    output_console().print(f"{len(paths):,} samples in {folder}")


@samples.command("read", cls=WritingCommand)
@click.argument("files", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=-1, required=True)
@click.option("-o", "--output", type=OutputFile(), required=True, help="Parquet file of the schedules.")
@click.option("--threads", type=Integer(1), default=1, show_default=True, help="Threads that they ran on.")
@needs_extra("train")
def read(files: tuple[Path, ...], output: Path, threads: int) -> None:
    """Gather FILES, which were measured on this machine, in one file for `halidegym judge --split named`.

    They do not tell which split their pipelines are of, so `halidegym train cost-model` learns nothing from them.
    """
    from halidegym.training.measured.samples import read_samples

    collection = read_samples(files, threads=threads)
    collection.save(output)
    output_console().print(
        f"{len(collection.schedules):,} schedules of {len(collection.pipelines):,} pipelines: {output}"
    )
