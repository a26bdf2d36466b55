"""`halidegym bench`: the cells of a suite, with progress."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.envs.processes.workers import Workers
from halidegym.evaluation.arguments.options import Failure, number_or_ray
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.commands.extras import needs_extra


@click.command()
@click.argument("suite")
@click.option("--output", type=OutputFolder(), help="Folder of the run.  [default: runs/ and the name of the suite]")
@click.option(
    "--agent", "agents", multiple=True, metavar="[NAME=]AGENT",
    help="One more agent, by the name to show; repeatable.",
)  # fmt: skip
@click.option("--workers", type=number_or_ray, metavar="NUMBER|ray", default=1, show_default=True,
              help="Cells that run at a time; with budgets of seconds, they disturb each other. Or ray, for the nodes of a "
              "Ray cluster, where cells that look at the clock are alone on their node.")  # fmt: skip
@click.option("--retry", is_flag=True, help="Run also the cells that have failed before.")
@click.option("--edited", is_flag=True, help="Run also the cells of agents whose files, or the "
              "modules beside them that they import, have been edited since.")  # fmt: skip
@needs_extra("bench")
@needs_extra("ray")
def bench(
    suite: str, output: Path | None, agents: tuple[str, ...], workers: Workers, retry: bool, edited: bool
) -> None:
    """Run a SUITE: agents x pipelines x seeds at equal budgets, and time the schedules that they find.

    A SUITE is the name of one that is shipped (quick, papers, tuned, learned, optimality, equal-time, equal-time-longer,
    protuner-figure7, timings, transforms, transforms-measured), or a YAML file like these. Each cell, an agent on a pipeline
    with a budget and a seed, runs in a process of its own, and leaves a file with its plan. One that fails is a result, too.
    The same command goes on where Ctrl-C or worse has ended it. With another --agent, or with a SUITE that has got more
    agents, pipelines, seeds or budgets, it runs what is new alone.
    `halidegym report` makes tables and plots of the folder.

    An AGENT is a class of halidegym.agents, such as BeamSearch or reference.Adams2019; any class with the Agent interface,
    as file.py:Class or module:Class; or an entry point of the group halidegym.agents.
    """
    from halidegym.evaluation.benchmark.display import run_suite
    from halidegym.evaluation.benchmark.suite import check_names, load_suite, with_more_agents

    chosen = with_more_agents(load_suite(suite), agents)
    check_names(chosen)
    folder = output or Path("runs") / Path(suite).stem
    try:
        next_step = f"Next: halidegym report {folder}"
        run_suite(chosen, folder, workers=workers, retry=retry, edited=edited, next_step=next_step)
    except OSError as error:
        raise Failure(f"Cannot write {error.filename or folder}: {error.strerror}") from error
