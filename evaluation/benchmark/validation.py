"""Whether the results of a run are what they claim to be: every plan is replayed, and what it says is computed again.

What cannot be computed again is believed: seconds, counts within their order, and run times within their samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.measurements import Comparison
from halidegym.evaluation.arguments.agent import is_own, load_agent
from halidegym.evaluation.benchmark.agent_claim import check_agent
from halidegym.evaluation.benchmark.attempts import search_budget
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.problems import kind_of
from halidegym.evaluation.benchmark.problems.claims import FalseClaimError, check_equal
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.timings import read_timings
from halidegym.native._core import Error


@dataclass(frozen=True)
class Verdict:
    """On a file of a run.

    Attributes:
        file: its name.
        kind: "replayed" if all of it is true; "failed" if the cell had failed, so that there is nothing to replay;
            "believed" if it cannot be: a reference autoscheduler took no decisions, or costs were measured; "false"
            otherwise.
        reason: why it is false.
    """

    file: str
    kind: str
    reason: str = ""


def validate(
    run: Run, *, again: bool = False, own_pipelines: bool = True, on_pipeline: Callable[[str], None] = lambda _: None
) -> list[Verdict]:
    """Replay all plans of a run; each pipeline in a process of its own.

    Args:
        run: what to validate.
        again: run the reference autoschedulers again, which take no decisions that could be replayed.
        own_pipelines: whether to build pipelines of files and modules of the user, which runs their code.
        on_pipeline: called with the name of each pipeline that is begun.

    Raises:
        FormatError: a file is damaged, so that it cannot be read.
    """
    verdicts = [Verdict(name, "false", "it is of no cell of the suite") for name in run.strangers()]
    by_pipeline: dict[str, dict[str, tuple[Cell, CellResult]]] = {}
    for name, result in run.results().items():
        cell = run.cells[name]
        if result.cell != cell.to_dict():
            verdicts.append(Verdict(name, "false", "it is of another cell than its name says"))
        elif result.machine != run.header.machine.fingerprint:
            verdicts.append(Verdict(name, "false", "it comes from another machine than the run"))
        else:
            by_pipeline.setdefault(cell.pipeline, {})[name] = cell, result
    for pipeline, cells in by_pipeline.items():
        on_pipeline(pipeline)
        baseline = next((result for cell, result in cells.values() if cell.agent == run.suite.baseline), None)
        # What failed needs no pipeline, which may be what cannot be built.
        plans = {name: (cell, result) for name, (cell, result) in cells.items() if result.solution is not None}
        verdicts += [_of_failure(name, result) for name, (_, result) in cells.items() if name not in plans]
        if not plans:
            continue
        if not own_pipelines and not kind_of(pipeline).is_shared(pipeline):
            reason = f"building {pipeline} would run code of the run; if you trust it, add --own-pipelines"
            verdicts += [Verdict(name, "false", reason) for name in plans]
            continue
        try:
            verdicts += run_isolated(_replay_all, plans, baseline, again)
        except Error as error:
            verdicts += [Verdict(name, "false", f"replaying it failed: {error}") for name in plans]
    return verdicts + _timings(run, {verdict.file: verdict for verdict in verdicts})


def _of_failure(name: str, result: CellResult) -> Verdict:
    return Verdict(name, "failed") if result.failure else Verdict(name, "false", "no plan")


def _replay_all(
    cells: Mapping[str, tuple[Cell, CellResult]], baseline: CellResult | None, again: bool
) -> list[Verdict]:
    first, _ = next(iter(cells.values()))
    problem = kind_of(first.pipeline).load(first.pipeline, first.target, first.parallelism)
    verdicts = []
    for name, (cell, result) in cells.items():
        found = result.solution
        assert found is not None, "cells without a plan are told apart before"
        try:
            if found.problem_hash != problem.hash:
                raise FalseClaimError(
                    "it is of another problem than this pipeline is here; was it made with this version?"
                )
            agent = None
            _check_budget(result, search_budget(cell, baseline))
            if is_own(cell.settings.agent, cell.settings.parameters):
                agent = load_agent(cell.settings.agent, cell.settings.parameters, cell.settings.preset)
                check_agent(found.plan["agent"], repr(agent))
            check_equal("seed", found.plan["seed"], cell.seed)
            is_replayed = problem.verify(found, agent, again)
            verdicts.append(Verdict(name, "replayed" if is_replayed else "believed"))
        except (Error, LookupError, TypeError, ValueError) as error:
            verdicts.append(Verdict(name, "false", str(error)))
    return verdicts


def _check_budget(result: CellResult, budget: Mapping[str, float]) -> None:
    """A search was given the budget of its cell. Some go beyond it: they finish the schedule that they have begun."""
    check_equal("budget", result.budget, budget)
    on_record = (result.plan or {}).get("budget")
    if on_record is not None:
        given = {name: amount for name, amount in on_record.items() if amount is not None}
        check_equal("budget of the plan", given, budget)


def _timings(run: Run, verdicts: Mapping[str, Verdict]) -> list[Verdict]:
    """Of run times: whether they are of schedules of the run, and the ratios within what the samples allow."""
    results = run.results()
    found = []
    for pipeline, timings in read_timings(run).items():
        keys = {
            result.schedule_key
            for name, result in results.items()
            if run.cells[name].pipeline == pipeline and verdicts[name].kind in ("replayed", "believed")
        }
        reasons = [
            "a run time is of a schedule that no valid cell found" if key not in keys else _impossible(comparison)
            for key, comparison in timings.comparisons.items()
        ]
        reason = next(filter(None, reasons), "")
        found.append(Verdict(f"run times of {pipeline}", "false" if reason else "believed", reason))
    return found


def _impossible(comparison: Comparison) -> str:
    a, b = comparison.a.samples_s, comparison.b.samples_s
    if not (a and b):
        return "" if comparison.ratio != comparison.ratio else "a schedule that failed is said to be fast"
    within = (
        min(b) / max(a) <= comparison.ratio <= max(b) / min(a) and comparison.low <= comparison.ratio <= comparison.high
    )
    return "" if within else f"a ratio of {comparison.ratio:.3f} does not follow from the samples"
