"""`halidegym reproduce tuning`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from halidegym.agents.budget import Budget
from halidegym.agents.tuner.autotune import Autotune
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.processes.workers import installation
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.timers import recorded_as
from halidegym.evaluation.arguments.options import SECONDS, SEED, Failure, Integer, parallelism_option, pipeline_options
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, check_name, load_problem
from halidegym.evaluation.output.kept_runs import append_run, begin_runs, read_runs
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.studies.tuning import EXPERTS, Beaten, Tuned, TuningRun, tune_and_compare
from halidegym.evaluation.studies.tuning_rivals import Rival
from halidegym.native._core import Error
from halidegym.native.checks import INT64_MAX
from halidegym.native.files import real_path, write_atomically
from halidegym.training.statistics import geometric_mean

_SECONDS = 600.0
_RIVALS: tuple[Rival, ...] = ("draws", "recipe")
_HEADER = (
    *("Pipeline", "Measured", "Failed", "Default, ms", "Tuned, ms", "Tuned / default", "95 %", "Expert / default"),
    *("Best draw / default", "Tuned / best draw", "95 %"),
    *("Recipe measured", "Best of recipe / default", "Tuned / best of recipe", "95 %"),
    *("Seconds", "Searching, s", "Compiling, s", "Running, s"),
)
_CURVE = ("Pipeline", "Seconds", "Measured", "Times as fast", "Kind")


@click.command("tuning", cls=WritingCommand)
@click.argument("pipelines", metavar="[PIPELINE]...", nargs=-1)
@click.option(
    "--seconds", type=SECONDS, help=f"To tune each pipeline for.  [default: {_SECONDS:.0f}, without --measurements]"
)
@click.option(
    "--measurements", type=Integer(1, INT64_MAX), help="Of each pipeline, instead of seconds or until these are over."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random numbers.")
@click.option(
    "--against",
    type=click.Choice(_RIVALS),
    multiple=True,
    help="What to compare with, which takes as long again: as many careless draws, or Halide's own tuning recipe with the "
    "same budget; repeatable.",
)
@click.option("--output", type=OutputFile(), required=True, help="CSV file for the table; written after each pipeline.")
@click.option("--curves", type=OutputFile(), help="TSV file for the best so far over the time of tuning.")
@parallelism_option
@pipeline_options
def tuning(
    pipelines: tuple[str, ...],
    seconds: float | None,
    measurements: int | None,
    seed: int,
    against: tuple[Rival, ...],
    output: Path,
    curves: Path | None,
    parallelism: int | None,
    details: Details,
) -> None:
    """Tune pipelines by run time, and compare with Halide's default autoscheduler.

    In the end the winners and Adams2019's own schedule take turns. A PIPELINE is as for `halidegym schedule`; by default,
    the thirteen benchmarks of which the times of an expert and of Adams2019 are known. One that fails is named and left
    out; if all do, the exit status is 2.

    Every run is kept as soon as it is done, for tuning.csv in tuning-runs.tsv beside it, and is not made again.
    """
    budget = Budget(seconds=_SECONDS if seconds is measurements is None else seconds, measurements=measurements)
    chosen, rivals = tuple(dict.fromkeys(pipelines)) or tuple(EXPERTS), sorted(set(against))
    for pipeline in chosen:
        check_name(pipeline)
    path = output.with_name(f"{output.stem}-runs.tsv")
    if curves is not None and real_path(curves) == real_path(path):
        raise click.UsageError(f"--curves is {path}, where the runs are kept; give another file.")
    known = {run.key: run for run in read_runs(path, TuningRun)}
    begin_runs(path, TuningRun)
    done: dict[str, Tuned] = {}
    steps: list[str] = ["\t".join(_CURVE)]
    for pipeline in chosen:
        problem = run_isolated(load_problem, pipeline, parallelism=parallelism, details=details)
        here = installation()["halidegym"], this_machine().fingerprint
        conditions = recorded_as(problem), *here, budget.words, seed, ", ".join(rivals)
        run = known.get((pipeline, *conditions))
        if run is None:
            try:
                found = tune_and_compare(problem, budget, seed=seed, agent=Autotune(), rivals=rivals)
            except Error as error:
                click.echo(f"{pipeline}: {error}", err=True)
                continue
            run = TuningRun(pipeline, *conditions, found.to_json())
            append_run(path, run)
        done[pipeline] = found = Tuned.from_json(run.result, str(path))
        steps += [f"{pipeline}\t{s.seconds:.1f}\t{s.measurements}\t{s.speedup:.3f}\t{s.kind}" for s in found.curve]
        rows = [(name, *_cells(tuned, EXPERTS.get(name, math.nan))) for name, tuned in done.items()]
        write_table(output, _HEADER, [*rows, *_means(list(done.values()))])
        if curves is not None:
            write_atomically(curves, ("\n".join(steps) + "\n").encode())
    if not done:
        raise Failure("None of the pipelines could be tuned; what is above says why.")


def _cells(found: Tuned, expert: float) -> tuple[str, ...]:
    draws, recipe = map(found.rival, _RIVALS)
    return (
        str(found.measurements),
        str(found.failures),
        f"{found.default_s * 1e3:.2f}" + (" (ours)" if found.is_default_ours else ""),
        f"{found.tuned_s * 1e3:.2f}",
        *_ratio(found.to_default.ratio, found.to_default.low, found.to_default.high),
        "-" if math.isnan(expert) else f"{expert:.2f}",
        *_against(draws),
        "-" if recipe is None else str(recipe.measured),
        *_against(recipe),
        f"{found.seconds:.0f}",
        f"{found.search_seconds:.0f}",
        f"{found.compile_seconds:.0f}",
        f"{found.run_seconds:.0f}",
    )


def _against(rival: Beaten | None) -> tuple[str, str, str]:
    """The rival relative to the default, and the tuned schedule relative to the rival, with its interval."""
    if rival is None:
        return "-", "-", "-"
    to_default, to_tuned = rival.to_default, rival.to_tuned
    return f"{to_default.ratio:.2f}", *_ratio(1 / to_tuned.ratio, 1 / to_tuned.high, 1 / to_tuned.low)


def _means(done: Sequence[Tuned]) -> list[tuple[str, ...]]:
    if len(done) < 2:
        return []
    to_default = _mean([found.to_default.ratio for found in done])
    draws, recipe = (
        _mean([1 / beaten.to_tuned.ratio for found in done if (beaten := found.rival(name))]) for name in _RIVALS
    )
    return [("geometric mean", *[""] * 4, *to_default, "", "", *draws, "", "", *recipe, *[""] * 4)]


def _mean(ratios: Sequence[float]) -> tuple[str, str]:
    valid = [ratio for ratio in ratios if ratio > 0]
    if len(valid) < 2:
        return "", ""
    mean = geometric_mean(valid, resamples=10_000)
    return _ratio(mean.value, mean.low, mean.high)


def _ratio(ratio: float, low: float, high: float) -> tuple[str, str]:
    return ("-", "-") if math.isnan(ratio) else (f"{ratio:.2f}", f"{low:.2f} to {high:.2f}")
