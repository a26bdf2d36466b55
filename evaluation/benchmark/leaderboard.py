"""Runs of several people in one table: what was validated, machine by machine."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym.envs.timing.machine import Machine
from halidegym.evaluation.benchmark.report.groups import Group, Scores, groups_of
from halidegym.evaluation.benchmark.report.statistics import Summary, summaries
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.validation import validate
from halidegym.native._core import FormatError


@dataclass(frozen=True)
class Entry:
    """An agent of a run with a budget.

    Attributes:
        run: name of its folder or file, with so many folders before it that each run has another one.
        agent, budget: in words.
        cost, run_time: how it compares with the run's baseline; None if it has no costs, or was not timed.
    """

    run: str
    agent: str
    budget: str
    cost: Summary | None
    run_time: Summary | None


@dataclass(frozen=True)
class Board:
    """Entries that may be compared: of runs of the same contest with the same baseline on the same machine.

    Attributes:
        title: of the suite.
        machine: that they ran on.
        entries: those with figures of the most pipelines first, then the fastest, then the cheapest, whatever their budgets.
    """

    title: str
    machine: Machine
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Refused:
    """A run that is not in the tables.

    Attributes:
        run: as in `Entry`.
        reason: why.
        is_damaged: whether it could not be read, so that nothing is known of its results.
    """

    run: str
    reason: str
    is_damaged: bool = False


def leaderboard(
    paths: Iterable[Path], *, own_pipelines: bool = False, on_run: Callable[[str], None] = lambda _: None
) -> tuple[list[Board], list[Refused]]:
    """Validate runs, and put those that are valid into tables. Their agents' code is not run.

    Args:
        paths: of folders and submissions; one that is given twice counts once.
        own_pipelines: see `validate`; without it, runs with such pipelines are refused.
        on_run: called with the name of each that is begun.
    """
    boards: dict[str, tuple[str, Machine, list[Entry]]] = {}
    refused = []
    for path, name in _names(paths).items():
        on_run(name)
        try:
            run = Run(path)
            reason = _why_not(run, own_pipelines)
        except FormatError as error:
            refused.append(Refused(name, str(error), is_damaged=True))
            continue
        if reason:
            refused.append(Refused(name, reason))
            continue
        # The baseline's name may stand for another agent in another run.
        settings = run.suite.contest.model_dump_json() + run.suite.agents[run.suite.baseline].model_dump_json()
        contest = hashlib.sha256(settings.encode()).hexdigest()
        key = f"{run.header.machine.fingerprint} {run.header.parallelism} {contest}"
        board = boards.setdefault(key, (run.suite.title, run.header.machine, []))
        board[2].extend(_entries(name, run))
    return [Board(title, machine, sorted(entries, key=_rank)) for title, machine, entries in boards.values()], refused


def _names(paths: Iterable[Path]) -> dict[Path, str]:
    """A name for each run: what its path ends in, from where on it is the only one."""
    whole = list(dict.fromkeys(path.resolve() for path in paths))
    if len({path.stem for path in whole}) == len(whole):
        return {path: path.stem for path in whole}
    ends = {path: ["/".join(path.parts[-count:]) for count in range(1, len(path.parts) + 1)] for path in whole}
    used = Counter(end for each in ends.values() for end in each)
    return {path: next(end for end in each if used[end] == 1) for path, each in ends.items()}


def _why_not(run: Run, own_pipelines: bool) -> str:
    if run.missing:
        return f"{run.missing} of its {len(run.cells)} cells are missing"
    false = [verdict for verdict in validate(run, own_pipelines=own_pipelines) if verdict.kind == "false"]
    return "" if not false else f"{len(false)} of its results are not valid, such as {false[0].file}: {false[0].reason}"


def _entries(name: str, run: Run) -> list[Entry]:
    found: dict[tuple[str, str], Entry] = {}
    for group in groups_of(run):
        costs = _summaries(group, group.cost_ratios)
        times = _summaries(group, group.speedups)
        for agent, by_pipeline in group.agents.items():
            is_free = all(not result.budget for results in by_pipeline.values() for result in results)
            budget = "its own end" if is_free else group.budget
            # Agents without a budget are in all groups.
            found.setdefault((agent, budget), Entry(name, agent, budget, costs.get(agent), times.get(agent)))
    return list(found.values())


def _summaries(group: Group, ratios_of: Callable[[str], Scores]) -> dict[str, Summary]:
    return summaries({agent: ratios_of(agent) for agent in group.agents}, group.baseline, group.drawing)


def _rank(entry: Entry) -> tuple[float, ...]:
    """Those with figures of the most pipelines first: a mean of few is that of the pipelines that an agent copes with."""

    def of(summary: Summary | None) -> tuple[float, float]:
        return (0, 0) if summary is None else (-summary.pipelines, -summary.mean.value)

    return *of(entry.run_time), *of(entry.cost)


def machine_label(machine: Machine) -> str:
    """A machine in words, and what tells it from others."""
    return f"{machine.words}, {machine.fingerprint}"
