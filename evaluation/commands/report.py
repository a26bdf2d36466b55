"""`halidegym report`: tables and plots of a run."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.arguments.options import Failure
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--output",
    type=OutputFolder(),
    help="Folder of the report.  [default: report/ in the folder of the run; of mine.zip, mine.report/ beside it]",
)
@needs_extra("bench")
def report(run: Path, output: Path | None) -> None:
    """Make tables and plots of a RUN, a folder of `halidegym bench` or a submission.

    Writes report.html, one file with everything in it, and report.md, with its tables as CSV and its plots as SVG beside it.
    A run that has not ended is reported as far as it is.
    """
    from halidegym.evaluation.benchmark.report.page import write_report
    from halidegym.evaluation.benchmark.run import Run

    opened = Run(run)
    folder = output or (run / "report" if run.is_dir() else run.with_suffix(".report"))
    try:
        page = write_report(opened, folder)
    except OSError as error:
        raise Failure(f"Cannot write {error.filename or folder}: {error.strerror}") from error
    click.echo(f"The report: {page}")
