"""Whether the results of a run are what they claim to be: every plan is replayed, and what it says is computed again.

What cannot be computed again is believed: seconds, counts within their order, and run times within their samples.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from halidegym.agents.plan import Candidate, Plan
from halidegym.envs import pipelines
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.timing.measurements import Comparison
from halidegym.evaluation.arguments.agent import load_agent, own_agents
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.timings import read_timings
from halidegym.native._core import Error
from halidegym.native.weights import builtin_weights, resolve_weights


@dataclass(frozen=True)
class Verdict:
    """On a file of a run.

    Attributes:
        file: its name.
        kind: "replayed" if all of it is true; "failed" if the cell had failed, so that there is nothing to replay;
            "believed" if a reference autoscheduler took no decisions that could be; "false" otherwise.
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
        if not own_pipelines and not pipelines.is_name(pipeline):
            verdicts += [Verdict(name, "false", "its pipeline is none of the registered ones") for name in cells]
            continue
        try:
            verdicts += run_isolated(_replay_all, cells, again)
        except Error as error:
            verdicts += [Verdict(name, "false", f"replaying it failed: {error}") for name in cells]
    return verdicts + _timings(run, {verdict.file: verdict for verdict in verdicts})


def _replay_all(cells: Mapping[str, tuple[Cell, CellResult]], again: bool) -> list[Verdict]:
    first, _ = next(iter(cells.values()))
    problem = load_problem(first.pipeline, target=first.target, parallelism=first.parallelism)
    verdicts = []
    for name, (cell, result) in cells.items():
        if result.plan is None:
            verdicts.append(Verdict(name, "failed" if result.failure else "false", "" if result.failure else "no plan"))
            continue
        try:
            if result.problem_hash != problem.hash:
                raise _FalseError("it is of another problem than this pipeline is here; was it made with this version?")
            if cell.settings.agent in own_agents():
                agent = load_agent(cell.settings.agent, cell.settings.parameters, cell.settings.preset)
                _equal("agent", result.plan["agent"], repr(agent))
            _equal("seed", result.plan["seed"], cell.seed)
            is_reference = bool(result.scheduled)
            if is_reference and not cell.settings.agent.startswith("reference."):
                raise _FalseError("it has the schedule of a reference autoscheduler, but its agent is none")
            if is_reference:
                _check_reference(problem, cell, result, again)
            else:
                _check_plan(problem, result)
            verdicts.append(Verdict(name, "believed" if is_reference and not again else "replayed"))
        except (Error, LookupError, TypeError, ValueError) as error:
            verdicts.append(Verdict(name, "false", str(error)))
    return verdicts


class _FalseError(Error):
    """A result is not what it claims to be."""


def _check_plan(problem: SchedulingProblem, result: CellResult) -> None:
    plan = result.replayed(problem)
    document = result.plan or {}
    weights = builtin_weights()
    _equal(
        "fingerprint", plan.fingerprint, fingerprint(problem.with_parallelism(plan.fingerprint.parallelism), weights)
    )
    space = plan.rules.space(plan.schedule.problem, resolve_weights(None))
    for candidate in (*plan.candidates, *plan.pass_candidates):
        state = space.initial_state()
        for action in candidate.actions:
            state = state.apply(action)
        _equal("cost", candidate.cost, state.cost())
    _equal("cost", plan.cost, plan.candidates[0].cost)
    _equal("schedule", document["schedule"], {"cpp": plan.schedule.cpp(), "loop_nest": plan.loop_nest})
    _equal("schedule_key", result.schedule_key, schedule_key(problem, plan.schedule))
    _check_history(plan, plan.candidates)


def _check_history(plan: Plan, candidates: Sequence[Candidate]) -> None:
    """An anytime curve falls as its counts grow, and ends with the best cost and at most the counts of the plan."""
    if not plan.history:
        return
    for earlier, later in itertools.pairwise(plan.history):
        if later.cost >= earlier.cost or (later.seconds, later.evaluations) < (earlier.seconds, earlier.evaluations):
            raise _FalseError("history is no curve that falls as the search goes on")
    _equal("the last cost of the history", plan.history[-1].cost, min(candidate.cost for candidate in candidates))
    if plan.evaluations is not None and plan.history[-1].evaluations > plan.evaluations:
        raise _FalseError("history goes on beyond the evaluations of the plan")


def _check_reference(problem: SchedulingProblem, cell: Cell, result: CellResult, again: bool) -> None:
    document = result.plan or {}
    _equal("schedule_key", result.schedule_key, schedule_key(problem, result.schedule(problem)))
    if again:
        agent = load_agent(cell.settings.agent, cell.settings.parameters, cell.settings.preset)
        plan = agent.plan(problem, seed=cell.seed)
        _equal("cost", document["cost"], plan.cost)
        _equal("schedule", document["schedule"]["cpp"], plan.schedule.cpp())


def _equal(what: str, claimed: object, found: object) -> None:
    if claimed != found:
        is_short = len(repr(claimed)) + len(repr(found)) < 200
        raise _FalseError(
            f"{what} is {claimed!r} there, and {found!r} here" if is_short else f"{what} is another one here"
        )


def _timings(run: Run, verdicts: Mapping[str, Verdict]) -> list[Verdict]:
    """Of run times: whether they are of schedules of the run, and the ratios within what the samples allow."""
    results = run.results()
    found = []
    for pipeline, timings in read_timings(run).items():
        keys = {
            result.schedule_key
            for name, result in results.items()
            if result.cell["pipeline"] == pipeline and verdicts[name].kind in ("replayed", "believed")
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
