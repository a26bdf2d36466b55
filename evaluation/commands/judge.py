"""`halidegym judge`: what cost models are worth on measured schedules, on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from halidegym.evaluation.arguments.options import Integer, integers_of
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.judged import allow_other_machine_option, judged_cells, judged_table, measured_argument
from halidegym.evaluation.output.pages import write_table
from halidegym.native._core import InvalidParameter
from halidegym.native.weights import builtin_weights, load_weights

if TYPE_CHECKING:
    from halidegym.envs.timing.measured_schedule import MeasuredSchedule
    from halidegym.training.measured.collection import MeasuredCollection

_SPLITS = {"train": "train", "validation": "validation", "test": "test", "named": ""}


@click.command("judge", cls=WritingCommand)
@measured_argument
@click.option(
    "--weights", "files", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True,
    help="A .weights file to compare with the shipped weights; repeat it for more than one.",
)  # fmt: skip
@click.option(
    "--split", type=click.Choice(list(_SPLITS)), multiple=True, default=["validation"], show_default=True,
    help="Pipelines to judge by: a split of the generated ones, or those that have a name; repeatable.",
)  # fmt: skip
@click.option(
    "--own", type=integers_of(Integer(0)), default=(),
    help="Also fine-tune on so many schedules of each pipeline, and judge by its other ones; a list such as 10,20.",
)  # fmt: skip
@click.option("-o", "--output", type=OutputFile(), help="Also write the table to this CSV file.")
@allow_other_machine_option
@needs_extra("train")
def judge_command(
    data: Path,
    files: tuple[Path, ...],
    split: tuple[str, ...],
    own: tuple[int, ...],
    output: Path | None,
    allow_other_machine: bool,
) -> None:
    """Judge cost models by the run times that `halidegym collect` measured into DATA.

    Of each pipeline, on each number of threads, good schedules (all but random walks) are compared with each other: by the
    rank correlation of cost and time, and by how many times longer the model's favourite takes than the fastest: its regret.
    By halves, the fastest is that of the even turns as timed by the odd ones, and the other way round, so that luck does not
    count as speed. Gains and ratios are to the shipped weights, pipeline by pipeline.
    """
    from halidegym.agents.learned.cost_models.predicted import predicted_costs
    from halidegym.training.cost_model.compare import COLUMNS, Compared
    from halidegym.training.cost_model.judgement import judge
    from halidegym.training.cost_model.own_measurements import groups_to_judge, judge_after_own
    from halidegym.training.measured.collection import MeasuredCollection

    names = ["shipped", *(file.name for file in files)]
    called = {str(file) if names.count(file.name) > 1 else file.name: load_weights(file) for file in files}
    models = {"shipped": builtin_weights(), **called}
    collection = MeasuredCollection.load(data, allow_other_machine=allow_other_machine)
    schedules = _of_splits(collection, split)
    for count in (0, *own):
        groups_to_judge(schedules, count)  # what is not to be had is said before anything is judged
    console = output_console()
    compared = [
        Compared(name, 0, judge(predicted_costs(model, schedules), schedules)) for name, model in models.items()
    ]
    console.print(judged_table(COLUMNS, compared))
    rows = judged_cells(compared)
    for count in own:
        after = [Compared("shipped, as it is", 0, judge_after_own(builtin_weights(), schedules, count, tuned=False))]
        after += [
            Compared(f"{name}, tuned", count, judge_after_own(model, schedules, count))
            for name, model in models.items()
        ]
        console.print(judged_table(COLUMNS, after))
        rows += judged_cells(after)
    if output is not None:
        write_table(output, COLUMNS, rows)


def _of_splits(collection: MeasuredCollection, names: Sequence[str]) -> list[MeasuredSchedule]:
    """The schedules that ran, of splits by their names on the command line.

    Raises:
        InvalidParameter: there are none of one of them.
    """
    there = [name for name, split in _SPLITS.items() if collection.split(split).ran]
    missing = [name for name in names if name not in there]
    if there and missing:
        raise InvalidParameter(
            f"There are no run times of --split {missing[0]} to judge by, but some of {', '.join(there)}; give "
            f"--split {there[0]}"
        )
    return [measured for name in names for measured in collection.at_least(1, split=_SPLITS[name]).ran]
