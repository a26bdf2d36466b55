"""The command line: `halidegym`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from halidegym.agents.agent import Agent
from halidegym.agents.beam import BeamSearch
from halidegym.agents.greedy import Greedy
from halidegym.agents.mb2fbs import MB2FBS
from halidegym.agents.mcts import MCTS
from halidegym.agents.plan import Plan
from halidegym.agents.random_search import RandomSearch
from halidegym.agents.tag import TAG
from halidegym.envs.problem import SchedulingProblem
from halidegym.evaluation.calibrate_command import calibrate_command
from halidegym.evaluation.demo_command import demo
from halidegym.evaluation.distribution_command import distribution
from halidegym.evaluation.optimality_command import optima, optimality
from halidegym.evaluation.options import (
    Failure,
    parallelism_option,
    pipeline_options,
    target_option,
    with_pipeline_help,
)
from halidegym.evaluation.parity_command import parity
from halidegym.evaluation.pipeline_argument import Details, load_problem
from halidegym.evaluation.reproduce_command import reproduce
from halidegym.evaluation.rollouts import rollouts
from halidegym.evaluation.suites_command import list_pipelines, suites
from halidegym.evaluation.time_command import time_command
from halidegym.evaluation.timing_check_command import timing_check_command
from halidegym.evaluation.timings_command import timings_command
from halidegym.native._core import Error


class _Main(click.Group):
    """Shows our errors as one line each, and exits with status 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Error as error:
            raise Failure(str(error)) from error


@click.group(
    cls=_Main,
    epilog="Start with `halidegym demo`, or with `halidegym schedule harris`.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="halidegym")
def main() -> None:
    """Schedule Halide pipelines by search.

    A Halide pipeline says what to compute, its schedule how: in which loops, tiles, vectors and threads. The commands find
    schedules with a learned cost model, measure them, and compare the search with Halide's own autoscheduler.
    """


@main.command()
@click.argument("pipeline")
@click.option(
    "--agent",
    type=click.Choice(["beam", "mb2fbs", "mcts", "tag", "greedy", "random"]),
    default="beam",
    show_default=True,
    help="How to search; docs/agents/ has a page on each. tag needs --seconds or --evaluations.",
)
@click.option(
    "--beam", "beam_size", type=click.IntRange(min=1), default=32, show_default=True, help="Width of the beam."
)
@click.option("--passes", type=click.IntRange(min=1), help="Passes of the beam search.  [default: 5]")
@click.option("--seconds", type=float, help="Stop after this time with the best schedule so far.")
@click.option("--evaluations", type=int, help="Stop after so many evaluations of the cost model.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["cpp", "python", "loops"]),
    default="cpp",
    show_default=True,
    help="What to print: source code that schedules the pipeline, or the loop nest.",
)
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Also write the plan to this JSON file.")
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def schedule(
    pipeline: str,
    agent: str,
    beam_size: int,
    passes: int | None,
    seconds: float | None,
    evaluations: int | None,
    seed: int,
    output_format: str,
    save: Path | None,
    target: str,
    parallelism: int | None,
    details: Details,
) -> None:
    """Find a schedule for a PIPELINE and print it.

    The schedule goes to the standard output; how the search went, to the error stream. Ctrl-C ends the search with the
    best schedule so far.
    """
    problem = load_problem(pipeline, target=target, parallelism=parallelism, details=details)
    plan = _agent(agent, beam_size, passes).plan(
        problem, seconds=seconds, evaluations=evaluations, seed=seed, progress=True
    )
    _report(problem, plan)
    if save is not None:
        plan.save(save)
    found = plan.schedule_of(plan.top(1)[0])
    texts = {"cpp": found.cpp, "python": found.python, "loops": found.loop_nest}
    click.echo(texts[output_format]().rstrip("\n"))


def _agent(name: str, beam_size: int, passes: int | None) -> Agent:
    agents: dict[str, Callable[[], Agent]] = {
        "beam": lambda: BeamSearch(beam_size=beam_size, passes=passes),
        "mb2fbs": lambda: MB2FBS(passes=passes or 5),
        "mcts": lambda: MCTS.preset("mcts_0.5s"),
        "tag": TAG,
        "greedy": Greedy,
        "random": RandomSearch,
    }
    return agents[name]()


def _report(problem: SchedulingProblem, plan: Plan) -> None:
    evaluations = "" if plan.evaluations is None else f", {plan.evaluations:,} evaluations"
    click.echo(
        f"{problem.name}: cost {plan.cost:.6g}{evaluations}, {plan.seconds:.2f} s"
        + (" (ended early)" if plan.interrupted else ""),
        err=True,
    )


for command in (
    list_pipelines,
    suites,
    time_command,
    timings_command,
    timing_check_command,
    calibrate_command,
    demo,
    parity,
    optima,
    optimality,
    distribution,
    reproduce,
    rollouts,
):
    main.add_command(command)
