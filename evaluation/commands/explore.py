"""`halidegym explore`: the search of a plan as a page."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.agents.plan import Plan, recorded_fingerprint
from halidegym.envs import pipelines
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.evaluation.arguments.options import Failure, pipeline_options
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.viewing.search_page import search_page
from halidegym.native.files import write_atomically
from halidegym.native.weights import resolve_weights


@click.command(cls=WritingCommand)
@click.argument("plan", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=OutputFile(), help="The page to write.  [default: the plan's name with .html]")
@click.option(
    "--pipeline", help="What the plan schedules, as `halidegym schedule` takes it; its name on record if left out."
)
@click.option(
    "--weights", type=click.Path(exists=True, dir_okay=False), help="Of the cost model, if not the built-in ones."
)
@pipeline_options
def explore(plan: Path, output: Path | None, pipeline: str | None, weights: str | None, details: Details) -> None:
    """Show the search that a PLAN tells of as a page for a browser.

    PLAN is a file that `halidegym schedule --save` or Plan.save wrote. The page holds the tree of the schedules that the
    search kept and of the results of its passes, the beam of each pass, what the trees of a tree search brought to each
    move of their root, each decision beside its alternatives with their costs, the loop nest after each decision, and the
    schedule as source code. It needs neither a server nor anything else.
    """
    page = output or plan.with_suffix(".html")
    if page == plan:
        raise Failure(f"The page of {plan} would be written over the plan; give another file: --output FILE")
    if not plan.is_file():
        raise Failure(f"{plan} is no plain file, such as a pipe, and plans are read twice; give a file")
    recorded = recorded_fingerprint(plan)
    if pipeline is None and not pipelines.is_name(recorded.problem):
        name = recorded.problem.partition("(")[0]  # without its options
        source = name if pipelines.is_name(name) else f"my_pipeline.py:{name}"
        raise Failure(
            f"{plan} is a plan for {recorded.problem}, and does not tell what builds it: give what `halidegym schedule` was "
            f"given, such as --pipeline {source}, and its --option, --param, --estimate and --estimate-from"
        )
    problem = load_problem(
        pipeline or recorded.problem, target=recorded.target, parallelism=recorded.parallelism, details=details
    )
    found = Plan.load(plan, problem)
    model = resolve_weights(weights)
    if fingerprint(problem, model).weights_hash != recorded.weights_hash:
        raise Failure(f"The costs in {plan} are of another cost model; name the file of its --weights")
    try:
        write_atomically(page, search_page(found, found.rules.space(problem, model)).encode())
    except OSError as error:
        raise Failure(f"Cannot write {page}: {error.strerror}") from error
    click.echo(f"Open {page} in a browser", err=True)
