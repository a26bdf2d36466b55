"""`halidegym collect`: schedules with their run times on this machine, for cost models to learn from."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from halidegym.envs.pipelines import generated
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.workers import RAY
from halidegym.envs.sources import named
from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.arguments.options import Integer, Number, integers_of, pipeline_options
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.commands.extras import needs_extra
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.native.checks import INT64_MAX
from halidegym.native.weights import load_weights

if TYPE_CHECKING:
    from halidegym.training.measured.collect import Collector, CollectSettings
    from halidegym.training.measured.spread import RayCollector
    from halidegym.training.measured.store import MeasuredStore

_VALIDATION_SHARE = 5
_GENERATED = 10_000


@click.command("collect")
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option(
    "-o", "--output", type=OutputFolder(), default="runs/measured", show_default=True, help="Folder of the data."
)
@click.option("--hours", type=Number(min=0, min_open=True), default=2.0, show_default=True,
              help="Begin no more pipelines after this time.")  # fmt: skip
@click.option("--schedules", type=Integer(8), default=20, show_default=True, help="Schedules a pipeline.")
@click.option("--threads", type=integers_of(Integer(1)), default="1", show_default=True,
              help="Threads to run on; of several numbers, such as 1,1,2, pipelines take one after another.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="Turns that a schedule takes.")
@click.option("--compilers", type=Integer(1), default=2, show_default=True, help="Schedules to compile at once.")
@click.option("--compile-seconds", type=Number(min=0), default=1.5, show_default=True,
              help="Leave out pipelines whose greedy schedule takes a core longer to compile.")  # fmt: skip
@click.option("--weights", "weights", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True,
              help="A .weights file to search with, besides the shipped ones; may be repeated.")  # fmt: skip
@click.option("--workers", type=click.Choice([RAY]),
              help="ray, to measure on the nodes of a Ray cluster, which are like this one.  [default: here]")  # fmt: skip
@click.option("--retry", is_flag=True, help="Try again the pipelines that were left out before.")
@click.option("--seed", type=Integer(0, INT64_MAX), default=0, show_default=True, help="Of the schedules.")
@pipeline_options
@needs_extra("train")
@needs_extra("ray")
@with_pipeline_help
def collect_command(
    names: tuple[str, ...],
    output: Path,
    hours: float,
    schedules: int,
    threads: tuple[int, ...],
    rounds: int,
    compilers: int,
    compile_seconds: float,
    weights: tuple[Path, ...],
    workers: str | None,
    retry: bool,
    seed: int,
    details: Details,
) -> None:
    """Measure schedules for cost models to learn from.

    Of each PIPELINE (by default those of random-train-v1, and of random-validation-v1 for every fifth), schedules of all
    kinds that searches meet are compiled and timed, in turns, and their outputs verified. They are kept in one file a
    machine, with the features that cost models read, and a data card beside it. What is there already is not measured
    again, so the same command goes on where Ctrl-C or worse has ended it.
    """
    from halidegym.training.measured.collect import CollectSettings, Wanted
    from halidegym.training.measured.sets import Recipe, SetName
    from halidegym.training.measured.store import MeasuredStore

    def wanted(names: Iterable[str]) -> Iterator[Wanted]:
        for name, number in zip(names, itertools.cycle(threads), strict=False):
            load = functools.partial(load_problem, name, parallelism=number, details=details)
            yield Wanted(SetName(named(name, details.options), number), load)

    # What was named is analysed before anything is measured, and but once: what is misspelt is said at once.
    chosen = [dataclasses.replace(one, load=functools.partial(_itself, one.load())) for one in wanted(names)]
    recipe = Recipe(
        schedules=schedules,
        parallelisms=(1, this_machine().cores),
        weights=tuple(map(load_weights, weights)),
        seed=seed,
    )
    console = output_console()
    with MeasuredStore(output, retry=retry) as store, steps_bar(len(names) or _GENERATED) as on_step:
        settings = CollectSettings(recipe, rounds=rounds, compilers=compilers, compile_s=compile_seconds)
        collector = _collector(store, settings, workers)
        for one in chosen:
            store.check_is_of(one.name, one.load())
        for done in collector.collect(chosen or wanted(_generated()), seconds=3600 * hours):
            on_step(f"{len(store.collection.ran):,} schedules, {done.pipeline}")
        collection = store.collection
    spent = collector.spent
    for one in chosen:
        if one.name in collection.skipped:
            click.echo(
                f"{one.name.pipeline} was left out: {collection.skipped[one.name]}. --retry tries again.", err=True
            )
    console.print(
        f"{store.path}: {len(collection.ran):,} run times of {len(collection.pipelines):,} pipelines, "
        f"{len(collection.schedules) - len(collection.ran):,} failed, {len(collection.skipped):,} pipelines skipped"
    )
    console.print(
        f"Seconds spent drawing {spent.drawing:.0f}, compiling {spent.compiling:.0f} (of cores), timing "
        f"{spent.timing:.0f}, waiting for compilers {spent.waiting:.0f}"
    )


def _itself(problem: SchedulingProblem) -> SchedulingProblem:
    return problem


def _collector(store: MeasuredStore, settings: CollectSettings, workers: str | None) -> Collector | RayCollector:
    if workers == RAY:
        from halidegym.training.measured.spread import RayCollector

        return RayCollector(store, settings)
    from halidegym.training.measured.collect import Collector

    return Collector(store, settings)


def _generated() -> Iterator[str]:
    numbers = {"train": itertools.count(), "validation": itertools.count()}
    for count in range(1, _GENERATED + 1):
        split = "validation" if count % _VALIDATION_SHARE == 0 else "train"
        yield generated.name_of(split, next(numbers[split]))
