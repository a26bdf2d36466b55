"""`halidegym train cost-model`: a cost model that knows this machine, on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from halidegym.evaluation.arguments.paths import OutputFile, TrainedFile, WritingCommand
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.commands.train.options import config_option
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.judged import allow_other_machine_option, judged_cells, judged_table, measured_argument
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.output.progress import phases_bar
from halidegym.native.checks import shown
from halidegym.native.files import real_path
from halidegym.native.weights import save_weights, weights_hash

if TYPE_CHECKING:
    from halidegym.training.cost_model.compare import Compared

_FEWEST_SCHEDULES, _FEWEST_PIPELINES = 30, 4


@click.command("cost-model", cls=WritingCommand)
@measured_argument
@click.option("-o", "--output", type=TrainedFile(), required=True, help="The .weights file to write.")
@config_option("cost-model")
@click.option("--compare", type=OutputFile(), help="Also train models of every kind, and write a table as CSV.")
@allow_other_machine_option
@needs_extra("train")
def cost_model(data: Path, output: Path, config: str, compare: Path | None, allow_other_machine: bool) -> None:
    """Train a cost model on the run times that `halidegym collect` measured into DATA.

    It learns from pipelines of the train split of generated ones, and is chosen by those of the validation split: what
    `halidegym collect` measures where it is told no names. Others in DATA are left to be judged by.

    The file works wherever halidegym takes weights, and in Halide's own Adams2019 autoscheduler as weights_path. The curve,
    the logs, the weights of all members and a checkpoint go into the folder of the same name without its ending; the same
    command goes on where Ctrl-C or worse has ended it. Judge the result by `halidegym judge`.
    """
    from halidegym.training.cost_model.compare import COLUMNS
    from halidegym.training.cost_model.compare import compare as compare_models
    from halidegym.training.cost_model.settings import CostModelSettings
    from halidegym.training.cost_model.train import train_cost_model
    from halidegym.training.measured.collection import MeasuredCollection
    from halidegym.training.settings import load_settings

    settings = load_settings(CostModelSettings, config)
    if real_path(Path(settings.start)) == real_path(output):
        raise click.UsageError(f"--output {output} has the weights to begin with (start); give another file.")
    collection = MeasuredCollection.load(data, allow_other_machine=allow_other_machine)
    train = collection.at_least(_FEWEST_SCHEDULES, _FEWEST_PIPELINES, split="train")
    validation = collection.at_least(1, split="validation")
    unused = [schedule for schedule in collection.ran if schedule.split not in ("train", "validation")]
    if unused:
        names = shown(sorted({schedule.pipeline for schedule in unused}))
        click.echo(
            f"Not learned from: {len(unused):,} schedules of {names}, which are of neither the train nor the validation "
            "split; judge by them: halidegym judge",
            err=True,
        )
    folder, console = output.with_suffix(""), output_console()
    with phases_bar() as (on_begin, on_step):
        trained = train_cost_model(
            settings, train.schedules, validation.schedules, folder, on_begin=on_begin, on_step=on_step
        )
        for number, member in enumerate(trained.members):
            save_weights(member, folder / f"member-{number}.weights")
        save_weights(trained.best, output)
        compared: Sequence[Compared] = ()
        if compare is not None:
            on_begin("Comparing models", 1)
            compared = compare_models(settings, train.ran, validation.ran, folder / "compared", on_model=on_step)
    for number, score in enumerate(trained.scores):
        console.print(f"model {number}: loss {score:.4f} on validation pipelines")
    console.print(f"The best model: {output}, SHA-256 {weights_hash(trained.best)}", soft_wrap=True)
    if compare is not None:
        console.print(judged_table(COLUMNS, compared))
        write_table(compare, COLUMNS, judged_cells(compared))
