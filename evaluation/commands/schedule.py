"""`halidegym schedule`: find a schedule and print it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from halidegym.agents.budget import EndedBy
from halidegym.agents.interrupts import interruptible
from halidegym.agents.plan import Plan
from halidegym.agents.tuner.plan import TunedPlan
from halidegym.agents.tuner.racing import tuning_timer
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import check_function_name
from halidegym.envs.timing.machine import check_runs_here
from halidegym.evaluation.arguments.comparison import Beside, beside_options
from halidegym.evaluation.arguments.options import (
    SECONDS,
    SEED,
    Failure,
    Integer,
    Number,
    parallelism_option,
    pipeline_options,
    target_option,
)
from halidegym.evaluation.arguments.paths import OutputFile, ScheduleFile, WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.arguments.search import GUIDED, SEARCHES, Given, check_takers, search_agent
from halidegym.evaluation.output.best_schedules import Best, best_schedules, fails, run_time_words
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.schedule_files import (
    default_function,
    function_names,
    how_to_call,
    is_module,
    source_file,
)
from halidegym.evaluation.timings.beside import check_others, memory_notes, time_beside
from halidegym.evaluation.timings.side_by_side import Row, larger_inputs_note, notes, rows_table, why_wrong
from halidegym.native.checks import INT64_MAX
from halidegym.native.files import write_atomically
from halidegym.native.weights import resolve_weights

_COMMENTS = {"cpp": "// ", "python": "# ", "loops": ""}

# What a tuner without a budget gets: on a quiet machine, a hundred schedules of a small pipeline.
_SECONDS = 120.0


def _one_or_several(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> str | tuple[str, ...] | None:
    return given[0] if len(given) == 1 else given or None


@click.command(cls=WritingCommand)
@click.argument("pipeline")
@click.option(
    "--agent",
    type=click.Choice(SEARCHES),
    help="How to search; docs/agents/ has a page on each. All but autotune go by the cost model, and take seconds "
    "or less, but mcts half a second a decision.  [default: autotune, or beam if --beam or --passes is given]",
)
@click.option("--beam", type=Integer(1), help="Width of the beam, of --agent beam.  [default: 32]")
@click.option(
    "--passes",
    type=Integer(1),
    help="Passes of the search, of --agent beam or mb2fbs.  [default: 5, or 1 for --beam 1]",
)
@click.option(
    "--policy",
    multiple=True,
    callback=_one_or_several,
    help=f"Name or file of the policy, of --agent {', '.join(GUIDED)} (docs/training/); repeatable: of several, one by "
    "lot draws each schedule.  [default: default]",
)
@click.option(
    "--shortlist",
    type=Integer(0),
    help=f"How many children the policy reads at each step, of --agent {', '.join(GUIDED)}; 16 pays for guided-replay "
    "where seconds are limited, and evaluations are not.  [default: 0]",
)
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A .weights file for the cost model, such as one of `halidegym train cost-model`.  [default: the shipped weights]",
)
@click.option(
    "--guide",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A .weights file for a second cost model, of --agent autotune, such as one that learned from run times on this "
    "machine.  [default: the example weights]",
)
@click.option(
    "--max-recompute",
    type=Number(min=1),
    default=Rules.max_recompute,
    show_default=True,
    help="How many times the fewest points possible a stage may compute; inf for any number. More than the default finds "
    "schedules of pipelines that have none by Adams2019's rules.",
)
@click.option(
    "--seconds",
    type=SECONDS,
    help="Stop after this time with the best schedule so far.  "
    f"[default: {_SECONDS:.0f} for autotune without --measurements, else no limit]",
)
@click.option(
    "--evaluations",
    type=Integer(1, INT64_MAX),
    help="Stop after so many evaluations of the cost model; not of autotune.",
)
@click.option(
    "--measurements", type=Integer(1, INT64_MAX), help="Stop after so many schedules were timed, of --agent autotune."
)
@click.option(
    "--database",
    type=OutputFile(),
    help="Record what --agent autotune times in this file, and go on from there if the same was begun before.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="So many of the best schedules, all different.",
)
@click.option(
    "-o",
    "--output",
    type=ScheduleFile(),
    help="Write functions to this file instead of printing: a header for C++ (.h), or a module in Python (.py).",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random numbers.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["cpp", "python", "loops"]),
    default="cpp",
    show_default=True,
    help="What to print: source code that schedules the pipeline, or the loop nest.",
)
@click.option(
    "--function",
    metavar="NAME",
    help="Make source code a function of this name, which takes a pipeline.  [in files: schedule_PIPELINE]",
)
@click.option("--save", type=OutputFile(), help="Also write the plan to this JSON file.")
@beside_options
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def schedule(
    pipeline: str,
    agent: str | None,
    weights: Path | None,
    max_recompute: float,
    seconds: float | None,
    evaluations: int | None,
    measurements: int | None,
    database: Path | None,
    top: int,
    seed: int,
    output_format: str,
    function: str | None,
    output: Path | None,
    save: Path | None,
    beside: Beside,
    target: str,
    parallelism: int | None,
    details: Details,
    **parameters: Given,
) -> None:
    """Find a schedule for a PIPELINE and print it.

    The schedule goes to the standard output; how the search went, to the error stream.

    By default schedules are compiled and timed on this machine, in turns with the one of Adams2019's search, and the fastest
    wins (docs/agents/autotune.md). Other agents go by the cost model alone.

    With --measure or --manual, the best schedule is then timed beside others in turns, and a table on the error stream
    tells cost, run time and speed. If it computes something else than the pipeline, or does not run, the exit status is 2;
    so it is if all do that were timed.

    Ctrl-C ends the search with the best schedule so far, which is printed and written as any other; it is timed beside no
    others, and the exit status is 0.
    """
    name = agent or ("autotune" if parameters["beam"] is None and parameters["passes"] is None else "beam")
    check_takers(name, **parameters, evaluations=evaluations, measurements=measurements, database=database)
    tunes = name == "autotune"
    for option, is_given in (("--threads", beside.threads is not None), ("--return-memory", not beside.keep_memory)):
        if is_given and not (tunes or beside.schedules):
            raise click.UsageError(f"{option} is of --agent autotune, --measure and --manual, and none is given.")
    if output_format == "loops" and (function or output):
        raise click.UsageError("--format loops is printed, and no source code: leave it out, or --function and -o.")
    if output_format == "python" and output is not None and not is_module(output):
        raise click.UsageError(f"{output} is a header in C++: leave out --format python, or write a module (.py).")
    if function is not None:
        check_function_name(function)
    given = search_agent(name, top, **parameters)
    planner = dataclasses.replace(given, weights=weights, max_recompute=max_recompute)
    problem = load_problem(pipeline, target=target, parallelism=parallelism, details=details)
    if beside.schedules:
        check_runs_here(problem.target)
    check_others(problem, beside.schedules)
    for sentence in problem.undersized_inputs():
        click.echo(f"Note: {sentence} The schedule is for one that is large enough.", err=True)
    if tunes and seconds is None and measurements is None:
        seconds = _SECONDS
        click.echo(
            f"{problem.name}: tuning for {seconds:.0f} s (--seconds); Ctrl-C ends it with the best so far", err=True
        )
    with tuning_timer(database, beside.settings) if tunes else nullcontext() as timer:
        plan = planner.plan(
            problem,
            seconds=seconds,
            evaluations=evaluations,
            measurements=measurements,
            timer=timer,
            seed=seed,
            progress=True,
        )
    with interruptible(None):  # there is nothing left for Ctrl-C to end, only to lose
        _report(problem, plan)
        best = best_schedules(plan, top, resolve_weights(weights))
        try:
            if output is None:
                _print(best, output_format, function)
            else:
                _write(best, output, function)
        finally:
            if save is not None:
                _save(plan, save)
    if isinstance(plan, TunedPlan) and fails(plan):
        raise Failure(
            f"Do not use this schedule: {run_time_words(plan, plan.finalists[0])}. `halidegym time` of adams2019 tells why."
        )
    if beside.schedules and plan.ended_by != "interrupt":
        cost = best[0].cost if weights is None else None  # others' costs are those of the shipped weights
        timed = time_beside(problem, best[0].schedule, cost, beside.schedules, beside.settings)
        output_console(stderr=True).print(rows_table(timed.title, timed.rows))
        _tell(notes(timed.rows[:-1]))
        _check(timed.rows[-1])
        if not tunes:  # which has told of its own
            _tell(notes(timed.rows[-1:]))
        _tell(memory_notes(timed, beside.settings))
    elif tunes:
        _tell(memory_notes(None, beside.settings))


def _tell(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        click.echo(f"Note: {sentence}", err=True)


def _print(best: Sequence[Best], output_format: str, function: str | None) -> None:
    names: Sequence[str | None] = [None] * len(best) if function is None else function_names(function, len(best))
    for place, (name, one) in enumerate(zip(names, best, strict=True), start=1):
        if len(best) > 1:
            click.echo(f"{_COMMENTS[output_format]}{place}: {one.words}")
        if output_format == "loops":
            click.echo(one.schedule.loop_nest().rstrip("\n"))
        else:
            source = one.schedule.cpp if output_format == "cpp" else one.schedule.python
            click.echo(source(function=name).rstrip("\n"))


def _write(best: Sequence[Best], path: Path, function: str | None) -> None:
    name = function or default_function(best[0].schedule)
    try:
        write_atomically(path, source_file(path, best, name).encode())
    except OSError as error:
        click.echo(source_file(path, best, name))
        raise Failure(f"The schedule is printed, and {path} cannot be written: {error.strerror}") from error
    click.echo(f"Wrote {path}: {how_to_call(path, name)}", err=True)


def _check(ours: Row) -> None:
    """Fail if the schedule that was found is of no use, whatever its cost."""
    if ours.timing is None or ours.timing.outcome == "ok":
        return
    if ours.timing.outcome != "wrong_output":
        raise Failure(
            f"The schedule does not run ({ours.timing.outcome}): {ours.timing.error}. Search by another --agent."
        )
    raise Failure(
        f"Do not use this schedule: {ours.timing.error}. {why_wrong('It', ours.timing)} "
        "Without --agent, none is found whose output was not compared."
    )


_ENDS: dict[EndedBy, str] = {
    "finished": "",
    "budget": " (the budget was used up)",
    "interrupt": " (interrupted)",
}


def _report(problem: SchedulingProblem, plan: Plan) -> None:
    evaluations = "" if plan.evaluations is None else f", {plan.evaluations:,} evaluations"
    evaluations += f", {plan.forwards:,} states through the network" if plan.forwards else ""
    if plan.measurements is not None:
        evaluations += f", {plan.measurements} schedules timed"
    click.echo(
        f"{problem.name}: cost {plan.cost:.6g}{evaluations}, {plan.seconds:.2f} s" + _ENDS[plan.ended_by],
        err=True,
    )
    if isinstance(plan, TunedPlan):
        winner = plan.finalists[0]
        click.echo(f"{problem.name}: {run_time_words(plan, winner)}", err=True)
        if winner.larger_inputs:
            click.echo(f"Note: {larger_inputs_note('this schedule', winner.larger_inputs)}", err=True)


def _save(plan: Plan, path: Path) -> None:
    try:
        plan.save(path)
    except OSError as error:
        raise Failure(f"The schedule is printed, and the plan not saved: {path}: {error.strerror}") from error
