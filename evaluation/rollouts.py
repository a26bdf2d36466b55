"""`halidegym rollouts`: how many complete random schedules a core draws per second, on the command line."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from halidegym.agents.mcts import MCTS
from halidegym.agents.plan import Rules
from halidegym.envs import pipelines
from halidegym.envs.problem import SchedulingProblem
from halidegym.evaluation.options import parallelism_option, pipeline_options, target_option, with_pipeline_help
from halidegym.evaluation.pipeline_argument import Details, load_problem
from halidegym.evaluation.progress import steps_bar
from halidegym.native._core import rollout_speed


@dataclass(frozen=True)
class RolloutSpeed:
    """Speed of random rollouts on one problem.

    Attributes:
        drawn: complete schedules per second of CPU time, one child drawn and built per decision.
        built: the same with all children of every state on the way built.
    """

    drawn: float
    built: float

    @property
    def factor(self) -> float:
        """How many times faster drawing is."""
        return self.drawn / self.built


def measure_rollouts(problem: SchedulingProblem, *, seconds: float = 1.0, seed: int = 0) -> RolloutSpeed:
    """Measure random rollouts from the empty schedule to the cost of a complete one, on one core.

    The two kinds take turns until each has used `seconds` of CPU time.
    """
    return RolloutSpeed(*rollout_speed(Rules().space(problem), seconds=seconds, seed=seed))


def measure_ensemble(problem: SchedulingProblem, *, threads: int, simulations: int, seed: int = 0) -> float:
    """Return the simulations per second of wall-clock time of the paper's ensemble without its greedy tree.

    With equal `simulations` and seeds, the work is the same for any number of threads.
    """
    plan = MCTS(greedy_trees=0, threads=threads).plan(problem, evaluations=simulations, seed=seed)
    assert plan.evaluations is not None, "tree search counts them"
    return plan.evaluations / plan.seconds


@click.command()
@click.argument("names", metavar="PIPELINE...", nargs=-1)
@click.option("--all", "all_pipelines", is_flag=True, help="Measure all pipelines of the papers.")
@click.option("--seconds", type=float, default=1.0, show_default=True, help="CPU time for each kind and pipeline.")
@click.option(
    "--threads",
    type=click.IntRange(min=2),
    help="Compare also an ensemble of 16 trees on so many threads with the same on one.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random decisions.")
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
    table = Table("Pipeline", "Funcs", "Drawn / s", "All built / s", "Factor")
    if threads is not None:
        for column in ("Trees, 1 thread / s", f"{threads} threads / s", "Speed-up"):
            table.add_column(column)
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
    console = Console()
    console.print(table)
    console.print(f"Geometric mean of the factors: {statistics.geometric_mean(factors):.1f}x")
    if threads is not None:
        console.print(f"Geometric mean of the speed-ups: {statistics.geometric_mean(speedups):.2f}x")
