"""`halidegym rollouts`: how many complete random schedules a core draws per second, on the command line."""

from __future__ import annotations

import statistics

import click
from rich.markup import escape

from halidegym.envs import pipelines
from halidegym.evaluation.arguments.options import (
    SECONDS,
    SEED,
    Integer,
    parallelism_option,
    pipeline_options,
    target_option,
)
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.studies.rollouts import measure_ensemble, measure_rollouts


@click.command()
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option("--all", "all_pipelines", is_flag=True, help="Measure all pipelines of the papers.")
@click.option("--seconds", type=SECONDS, default=1.0, show_default=True, help="CPU time for each kind and pipeline.")
@click.option(
    "--threads",
    type=Integer(2),
    help="Compare also an ensemble of 16 trees on so many threads with the same on one.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random decisions.")
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def rollouts(
    names: tuple[str, ...],
    all_pipelines: bool,
    seconds: float,
    threads: int | None,
    seed: int,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    """Measure how many complete random schedules of a PIPELINE one core draws per second.

    A rollout draws one child per decision, builds no other, and asks the cost model once. It is compared with rollouts
    that build all children of every state on the way, as tree search was first published on this space. Threads must
    have cores of their own to be compared.
    """
    chosen = [*names, *(pipelines.names("papers-v1") if all_pipelines else [])]
    if not chosen:
        raise click.UsageError("Give at least one PIPELINE, or --all.")
    of_threads = () if threads is None else ("Trees, 1 thread / s", f"{threads} threads / s", "Speed-up")
    table = Table(
        *name_columns("Pipeline"), *number_columns("Funcs", "Drawn / s", "All built / s", "Factor", *of_threads)
    )
    factors, speedups = [], []
    with steps_bar(len(chosen)) as on_step:
        for name in chosen:
            on_step(name)
            problem = load_problem(name, target=target, parallelism=parallelism, details=details)
            speed = measure_rollouts(problem, seconds=seconds, seed=seed)
            factors.append(speed.factor)
            row = [f"{speed.drawn:,.0f}", f"{speed.built:,.1f}", f"{speed.factor:.1f}x"]
            if threads is not None:
                simulations = max(1, int(speed.drawn * seconds))
                one, many = (
                    measure_ensemble(problem, threads=n, simulations=simulations, seed=seed) for n in (1, threads)
                )
                speedups.append(many / one)
                row += [f"{one:,.0f}", f"{many:,.0f}", f"{many / one:.2f}x"]
            table.add_row(escape(problem.name), str(problem.num_nodes), *row)
    console = output_console()
    console.print(table)
    console.print(f"Geometric mean of the factors: {statistics.geometric_mean(factors):.1f}x")
    if threads is not None:
        console.print(f"Geometric mean of the speed-ups: {statistics.geometric_mean(speedups):.2f}x")
