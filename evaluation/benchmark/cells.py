"""One cell of a run: an agent on a pipeline with a budget and a seed; and what came of it, a file."""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from traceback import TracebackException
from typing import Any

from halidegym.agents.plan import Improvement
from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.arguments.agent import load_agent
from halidegym.evaluation.benchmark.agent_code import agent_code
from halidegym.evaluation.benchmark.problems import kind_of
from halidegym.evaluation.benchmark.problems.kind import Problem, Solution
from halidegym.evaluation.benchmark.suite import AgentSettings, BudgetSettings, Suite
from halidegym.native._core import Error, FormatError
from halidegym.native.checks import check_at_least, check_number, check_positive, shown
from halidegym.native.fields import checked_fields
from halidegym.native.files import write_atomically

_KIND, _VERSION = "halidegym cell", 1
_LONGEST_FILE_NAME = 255  # bytes, of Linux's file systems


def readable_file_name(what: str, digest: str) -> str:
    """Name of a file about something, for people to read; the digest tells it from others. Of a long one the end is kept."""
    ending = f"-{digest}.json"
    readable = re.sub(r"[^\w.-]+", "_", what).encode()
    return readable[-(_LONGEST_FILE_NAME - len(ending)) :].decode(errors="ignore") + ending


@dataclass(frozen=True)
class Cell:
    """What is run.

    Attributes:
        pipeline: as on the command line, or another problem, see `problems`.
        agent: the name to show.
        settings: of the agent.
        budget: None for the agent's own end.
        seed: of the search.
        target: Halide target string, or host.
        parallelism: number of cores to schedule for.
    """

    pipeline: str
    agent: str
    settings: AgentSettings
    budget: BudgetSettings | None
    seed: int
    target: str
    parallelism: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        budget = None if self.budget is None else self.budget.model_dump(exclude_none=True)
        settings = self.settings.model_dump(mode="json", include={"agent", "preset", "parameters"})
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {
            "settings": settings,
            "budget": budget,
        }

    @property
    def file_name(self) -> str:
        """Of its result: for people to read, and another one for each cell."""
        digest = hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]
        return readable_file_name(f"{self.pipeline}-{self.agent}-{self.seed}", digest)

    @property
    def label(self) -> str:
        """In words."""
        budget = "" if self.budget is None else f", {self.budget.label}"
        return f"{self.pipeline}, {self.agent}{budget}, seed {self.seed}"


def cells_of(suite: Suite, parallelism: int) -> Iterator[Cell]:
    """All cells of a suite, by pipeline, so that those meet the same load of the machine; the baseline's come first."""
    for pipeline in suite.pipelines:
        for name in sorted(suite.agents, key=lambda name: name != suite.baseline):
            settings = suite.agents[name]
            budgets = suite.budgets if settings.budgets is None else settings.budgets
            for budget in budgets or (None,):
                for seed in suite.seeds[:1] if settings.deterministic else suite.seeds:
                    yield Cell(pipeline, name, settings, budget, seed, suite.target, parallelism)


@dataclass(frozen=True)
class CellResult:
    """What came of a cell.

    Attributes:
        cell: as `Cell.to_dict` says it.
        budget: that the search was given, as `Agent.plan` takes it.
        problem_hash: of the problem; empty if there was none.
        schedule_key: of the schedule, equal in every process; empty if there was none.
        plan: as `Plan.to_document` says it; None if there is none.
        scheduled: what a reference autoscheduler made of the pipeline, in base64; empty for all others.
        failure: why there is no plan; empty if there is one.
        machine: fingerprint of the machine.
        written: when, in UTC.
        code: version of the agent, see `agent_code`.
    """

    cell: dict[str, Any]
    budget: dict[str, float]
    problem_hash: str = ""
    schedule_key: str = ""
    plan: dict[str, Any] | None = None
    scheduled: str = ""
    failure: str = ""
    machine: str = ""
    written: str = ""
    code: str = ""

    @property
    def cost(self) -> float | None:
        """Of the schedule; None if it has none that can be compared: made without a cost model, or for other cores."""
        if self.plan is None or self.plan["fingerprint"]["problem_hash"] != self.problem_hash:
            return None
        cost: float | None = self.plan["cost"]
        return cost

    @property
    def weights(self) -> str | None:
        """Hash of the weights that the cost is by; None if there is no plan, or another kind of cost."""
        return None if self.plan is None else self.plan["fingerprint"].get("weights_hash")

    def count(self, name: str) -> float | None:
        """A number of the plan, such as its evaluations; None if not counted, or if there is no plan."""
        return None if self.plan is None else self.plan[name]

    @property
    def solution(self) -> Solution | None:
        """What the agent found; None if nothing."""
        return None if self.plan is None else Solution(self.problem_hash, self.schedule_key, self.plan, self.scheduled)

    def save(self, path: Path) -> None:
        """Write it as a whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        document = {"kind": _KIND, "version": _VERSION, **vars(self)}
        write_atomically(path, (json.dumps(document, indent=1) + "\n").encode())

    @classmethod
    def parse(cls, data: bytes, origin: str) -> CellResult:
        """Read what `save` has written.

        Raises:
            FormatError: it is none, of another version, or damaged.
        """
        try:
            document = json.loads(data)
            kind, version = document.pop("kind"), document.pop("version")
            if (kind, version) != (_KIND, _VERSION):
                raise FormatError(f"{origin} is a {kind} of version {version}, not a {_KIND} of version {_VERSION}")
            result = cls(**document)
            if result.plan is not None:
                _check_plan(result.plan)
            return _with_checked_fields(result)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"{origin} is no result of a cell, or damaged: {error}. Remove it, and run again"
            ) from error


def run_cell(cell: Cell, budget: dict[str, float], problem: Problem | None = None) -> CellResult:
    """Run a cell here, in a process that has made no Funcs yet; a search that fails is a result.

    Args:
        cell: what to run.
        budget: of the search, as `Agent.plan` takes it.
        problem: of the cell's pipeline; None to analyse that here.
    """
    result = CellResult(cell.to_dict(), budget, machine=this_machine().fingerprint, written=_now())
    try:
        problem = problem or kind_of(cell.pipeline).load(cell.pipeline, cell.target, cell.parallelism)
        agent = load_agent(cell.settings.agent, cell.settings.parameters, cell.settings.preset)
        result = dataclasses.replace(result, code=agent_code(cell.settings))
        found = problem.solve(agent, cell.seed, budget)
        _check_plan(found.plan)  # before it can spoil the tables of all
        return dataclasses.replace(result, **vars(found), written=_now())
    except Error as error:
        failure = str(error)
    except Exception as error:  # of an agent or pipeline of the user, which may fail to tell it, too
        failure = f"{type(error).__name__}: {TracebackException.from_exception(error)}"
    return dataclasses.replace(result, failure=failure or "no reason given", written=_now())


def _with_checked_fields(result: CellResult) -> CellResult:
    for field in dataclasses.fields(CellResult):
        value = getattr(result, field.name)
        kinds = {"cell": dict, "budget": dict, "plan": (dict, type(None))}
        if not isinstance(value, kinds.get(field.name, str)):  # type: ignore[arg-type]
            raise TypeError(f"{field.name}={shown(value)}")
    for name, kind in (("pipeline", str), ("agent", str), ("seed", int)):  # what is read off results of any run
        if not isinstance(result.cell[name], kind):
            raise TypeError(f"cell.{name}={shown(result.cell[name])}")
    return result


def _check_plan(plan: dict[str, Any]) -> None:
    """Whether a plan has what reports read off it; `Problem.verify` looks at the rest.

    Raises:
        InvalidParameter, TypeError: something in it is none of the numbers that it should be.
        KeyError: something is missing.
    """
    check_positive(cost=plan["cost"], run_time=plan["run_time"])
    check_number(maximum=sys.float_info.max, seconds=plan["seconds"])
    check_at_least(0, **{name: plan[name] for name in ("evaluations", "expansions", "measurements")})
    for step in plan["history"]:
        check_positive(cost_in_history=checked_fields(Improvement(**step)).cost)
    if not isinstance(plan["fingerprint"]["problem_hash"], str):
        raise TypeError(f"fingerprint={shown(plan['fingerprint'])}")


def _now() -> str:
    return dt.datetime.now(tz=dt.timezone.utc).isoformat(timespec="seconds")
