"""`halidegym validate`: whether the results of a run are true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from halidegym.evaluation.arguments.options import Failure
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.progress import steps_bar


@click.command("validate", cls=WritingCommand)
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--again", is_flag=True, help="Run Halide's own autoschedulers again, too, which takes as long as they take."
)
@click.option("--submission", type=OutputFile(), help="Write all of the run as this file, if it is whole and valid.")
@needs_extra("bench")
def validate_command(run: Path, again: bool, submission: Path | None) -> None:
    """Replay all plans of a RUN, a folder of `halidegym bench` or a submission.

    Every decision must be legal, and costs, schedules and fingerprints must be what the files say. Halide's own
    autoschedulers take no decisions that could be replayed: their schedules are believed, unless --again runs them. Run
    times are believed, too, within what their samples allow. The exit status is 1 if something is false.
    """
    from halidegym.evaluation.benchmark.run import Run
    from halidegym.evaluation.benchmark.validation import validate

    opened = Run(run)
    if submission is not None and opened.missing:
        raise Failure(
            f"{run} makes no submission, since {opened.missing} of its {len(opened.cells)} cells are missing: the "
            "leaderboard would leave it out. Run `halidegym bench` again until its end, or leave --submission out"
        )
    with steps_bar(len(opened.suite.pipelines)) as on_step:
        verdicts = validate(opened, again=again, on_pipeline=on_step)
    false = [verdict for verdict in verdicts if verdict.kind == "false"]
    for verdict in false:
        click.echo(f"{verdict.file}: {verdict.reason}")
    counts = Counter(verdict.kind for verdict in verdicts)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("replayed", "believed", "failed", "false"))
    click.echo(f"{kinds}, {opened.missing} missing" if opened.missing else kinds)
    if false:
        raise SystemExit(1)
    if submission is not None:
        try:
            opened.pack(submission)
        except OSError as error:
            raise Failure(f"Cannot write {submission}: {error.strerror}") from error
        click.echo(f"The submission: {submission}")
