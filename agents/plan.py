"""What an agent returns: the schedule that it found, and how the search for it went."""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from halidegym.agents.budget import Budget, EndedBy
from halidegym.envs.problems.fingerprint import Fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.checks import (
    check_at_least,
    check_given,
    check_number,
    check_positive,
    check_present,
    checked_path,
    shown,
)
from halidegym.native.fields import checked_fields
from halidegym.native.files import write_atomically

_KIND, _VERSION = "halidegym plan", 5


@dataclass(frozen=True)
class Candidate:
    """A complete schedule as the decisions that lead to it.

    Attributes:
        cost: of the cost model, without any penalty that a search may add.
        actions: per decision, the index of the one taken among the legal ones; two decisions per node, forced ones
            included.
    """

    cost: float
    actions: tuple[int, ...]


@dataclass(frozen=True)
class Improvement:
    """A new best cost, and what it took until then.

    Attributes:
        seconds: of wall-clock time since the search began.
        evaluations: as of the plan, until then.
        expansions: likewise.
        cost: of the best schedule so far.
    """

    seconds: float
    evaluations: int
    expansions: int
    cost: float


@dataclass(frozen=True, repr=False)
class Plan:
    """The best schedule that an agent found, and how its search went; immutable, picklable, and writable as JSON.

    Costs are in the cost model's unit (milliseconds as trained).

    Attributes:
        agent: the agent with its parameters.
        seed: of the search.
        fingerprint: what the costs depend on.
        rules: of the search space; the actions depend on them.
        cost: of `schedule`; None if the agent has no cost model.
        schedule: the best schedule, by run time if the agent measured, else by cost.
        candidates: complete schedules that the search came by; `schedule` is the first one, and the others follow by cost.
            Empty for the reference autoschedulers.
        pass_costs: per pass of a multi-pass search, the cost of its result as the search compared it: a beam search may
            have penalized it (docs/specification/search-and-cost-model.md, section 2.5).
        pass_candidates: per pass, its result.
        evaluations: how often the cost model was asked (docs/specification/search-and-cost-model.md, section 1.5), or a
            learned agent read the schedule features of a child, which takes the same work; None if not counted.
        distinct_evaluations: how many of these costs were computed, the others being known from an earlier pass of the same
            search; None if not counted.
        expansions: states expanded; None if not counted.
        forwards: states that went through a learned network, each time that one did.
        seconds: wall-clock time of the search.
        cpu_seconds: CPU time of the search, all threads together.
        history: the improvements of the best cost, in order.
        ended_by: "finished", "budget" or "interrupt"; see `EndedBy`.
        budget: that the search was given; None if that is not on record.
        run_time: seconds that `schedule` took when the agent timed it; None if it did not.
        measurements: how many schedules the agent timed; None if it does not measure.
    """

    agent: str
    seed: int
    fingerprint: Fingerprint
    cost: float | None
    schedule: Schedule | ReferenceSchedule
    rules: Rules = dataclasses.field(default_factory=Rules)
    candidates: tuple[Candidate, ...] = ()
    pass_costs: tuple[float, ...] = ()
    pass_candidates: tuple[Candidate, ...] = ()
    evaluations: int | None = None
    distinct_evaluations: int | None = None
    expansions: int | None = None
    forwards: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    history: tuple[Improvement, ...] = ()
    ended_by: EndedBy = "finished"
    budget: Budget | None = None
    run_time: float | None = None
    measurements: int | None = None

    def __repr__(self) -> str:
        """What people ask first, in a line: all decisions of all candidates would be a page."""
        told = {
            "cost": self.cost,
            "run_time": self.run_time,
            "measurements": self.measurements,
            "evaluations": self.evaluations,
            "seconds": round(self.seconds, 3),
        }
        known = "".join(f", {name}={value!r}" for name, value in told.items() if value is not None)
        ended = f"ended_by={self.ended_by!r}, seed={self.seed}, agent={self.agent!r}"
        return f"{type(self).__name__}({self.fingerprint.problem!r}{known}, {ended})"

    @property
    def actions(self) -> tuple[int, ...]:
        """The decisions of `schedule`; empty if the agent does not decide step by step."""
        return self.candidates[0].actions if self.candidates else ()

    @property
    def loop_nest(self) -> str:
        """`schedule` as an indented text of loops (docs/specification/search-and-cost-model.md, section 2.11)."""
        return self.schedule.loop_nest()

    def schedule_of(self, candidate: Candidate) -> Schedule:
        """Return the schedule of one of the candidates.

        Raises:
            InvalidParameter: it is none, or one of another plan's, whose decisions do not fit.
        """
        check_given(Candidate, candidate=candidate)
        return Schedule.from_actions(self.schedule.problem, self.rules, candidate.actions)

    def top(self, count: int) -> tuple[Candidate, ...]:
        """Return the best candidates, best first, as many as there are up to `count`.

        Raises:
            InvalidParameter: `count` is no integer from 1 on.
        """
        check_at_least(1, **check_present(count=count))
        return self.candidates[:count]

    def to_document(self) -> dict[str, Any]:
        """As JSON can hold it, for `from_document`, with the schedule as source code beside its decisions."""
        fields = {
            field.name: getattr(self, field.name) for field in dataclasses.fields(Plan) if field.name != "schedule"
        }
        document = {
            "kind": _KIND,
            "version": _VERSION,
            **fields,
            "schedule": {"cpp": self.schedule.cpp(), "loop_nest": self.loop_nest},
        }
        return json.loads(json.dumps(document, default=plain))  # type: ignore[no-any-return]

    def checked_document(self, problem: SchedulingProblem) -> dict[str, Any]:
        """What `to_document` returns, if `from_document` can make a plan of the problem of it again.

        Raises:
            InvalidParameter: it cannot: an agent of yours has put into the plan what does not fit together.
        """
        try:
            document = self.to_document()
            if isinstance(self.schedule, Schedule):  # others took no decisions, and are not loaded
                restored = self.from_document(document, problem)
                if restored.schedule != self.schedule:
                    raise InvalidParameter("its schedule is not that of its first candidate")
        except (TypeError, FormatError, InvalidParameter) as error:
            raise InvalidParameter(
                f"The plan could not be loaded again: {error.__cause__ or error}. Let the agent return a Plan whose parts "
                "are as its documentation says"
            ) from error
        return document

    def save(self, path: str | Path) -> None:
        """Write the plan as a JSON file.

        Raises:
            InvalidParameter: see `checked_document`; or `path` is none.
            OSError: it cannot be written; what was there stays.
        """
        path = checked_path("path", path)
        document = self.checked_document(self.schedule.problem)
        write_atomically(path, (json.dumps(document, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path, problem: SchedulingProblem) -> Plan:
        """Read a plan of a problem from a file; see `from_document`.

        Raises:
            FormatError, InvalidParameter: see `from_document`; or `path` is none.
        """
        return cls.from_document(_read(path), problem, str(path))

    @classmethod
    def from_document(cls, document: Any, problem: SchedulingProblem, path: str = "the document") -> Plan:
        """Return the plan of a problem that `to_document` wrote; the schedule is made anew from its decisions.

        Args:
            document: the plan.
            problem: that it was made for.
            path: what errors call the document.

        Raises:
            FormatError: it is no plan, a damaged one, or one without decisions (of a reference autoscheduler).
            InvalidParameter: it is the plan of another problem, or `problem` is none.
        """
        check_given(SchedulingProblem, problem=problem)
        document = _current(document, path)
        recorded = _fingerprint(path, document)
        if recorded.problem_hash != problem.hash:
            raise InvalidParameter(
                f"{path} is a plan for {recorded.problem}, target {recorded.target}, parallelism "
                f"{recorded.parallelism}, and the problem given is another one; give the problem that it was made for"
            )
        try:
            rules, candidates = Rules(**document["rules"]), _candidates(document, "candidates")
            if not candidates:
                raise InvalidParameter("it has no candidates, the first of which is its schedule")
            plan = cls(
                agent=document["agent"],
                seed=document["seed"],
                fingerprint=recorded,
                cost=document["cost"],
                schedule=Schedule.from_actions(problem, rules, candidates[0].actions),
                rules=rules,
                candidates=candidates,
                pass_costs=tuple(_list_of(document, "pass_costs")),
                pass_candidates=_candidates(document, "pass_candidates"),
                evaluations=document["evaluations"],
                distinct_evaluations=document["distinct_evaluations"],
                expansions=document["expansions"],
                forwards=document["forwards"],
                seconds=document["seconds"],
                cpu_seconds=document["cpu_seconds"],
                history=tuple(Improvement(**entry) for entry in _list_of(document, "history")),
                ended_by=document["ended_by"],
                budget=None if document["budget"] is None else Budget(**document["budget"]),
                run_time=document["run_time"],
                measurements=document["measurements"],
            )
            _check_numbers(checked_fields(plan))
            return plan
        except (KeyError, TypeError, IndexError, InvalidParameter) as error:
            raise _incomplete(path, error) from error


def plain(value: Any) -> Any:
    """What JSON has for a part of a plan; numbers and arrays of NumPy are what an agent of one's own may well put there."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else dataclasses.asdict(value)


def _check_numbers(plan: Plan) -> None:
    """Check what a plan says of itself, as far as no search is needed for it.

    Raises:
        InvalidParameter: a number is none that a search can come to, or two of them do not fit together.
    """
    check_positive(cost=plan.cost, run_time=plan.run_time)
    check_number(maximum=sys.float_info.max, seconds=plan.seconds, cpu_seconds=plan.cpu_seconds)
    check_at_least(0, seed=plan.seed, evaluations=plan.evaluations, distinct_evaluations=plan.distinct_evaluations)
    check_at_least(0, expansions=plan.expansions, forwards=plan.forwards, measurements=plan.measurements)
    for candidate in (*plan.candidates, *plan.pass_candidates):
        check_positive(cost_of_candidate=candidate.cost)
        taken, needed = len(candidate.actions), len(plan.candidates[0].actions)
        if taken != needed:
            raise InvalidParameter(f"a candidate has {taken} decisions, and a complete schedule {needed}")
    if plan.cost != plan.candidates[0].cost:
        raise InvalidParameter(f"cost={plan.cost} is not the one of its schedule, {plan.candidates[0].cost}")
    for cost in plan.pass_costs:
        check_positive(cost_of_pass=cost)
    if len(plan.pass_costs) != len(plan.pass_candidates):
        raise InvalidParameter(
            f"{len(plan.pass_costs)} pass_costs are not those of {len(plan.pass_candidates)} pass_candidates"
        )
    for step in plan.history:
        check_positive(cost_in_history=step.cost)
        check_number(maximum=sys.float_info.max, seconds_in_history=step.seconds)
        check_at_least(0, evaluations_in_history=step.evaluations, expansions_in_history=step.expansions)
    recorded, problem = plan.fingerprint, plan.schedule.problem
    if (recorded.target, recorded.parallelism) != (problem.target, problem.parallelism):
        raise InvalidParameter(
            f"target {recorded.target} and parallelism={recorded.parallelism} of its fingerprint are not those of the "
            f"problem that it is for, {problem.target} and {problem.parallelism}"
        )


def recorded_fingerprint(path: str | Path) -> Fingerprint:
    """What the costs in the file of a plan depend on; among it, which problem the plan is for.

    Raises:
        FormatError: the file is no plan, or a damaged one.
        InvalidParameter: `path` is none.
    """
    return _fingerprint(str(path), _current(_read(path), str(path)))


def _fingerprint(path: str, document: dict[str, Any]) -> Fingerprint:
    try:
        return checked_fields(Fingerprint(**document["fingerprint"]))
    except (KeyError, TypeError) as error:
        raise _incomplete(path, error) from error


def _read(path: str | Path) -> Any:
    file = checked_path("path", path)
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"Cannot read the plan {path}: {error.strerror}. Check the path") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is no plan: {error}. Give a file written by Plan.save") from error


def _current(document: Any, path: str) -> dict[str, Any]:
    """The document of a plan, brought up to this version."""
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise FormatError(f"{path} is no plan; give a file written by Plan.save")
    current: dict[str, Any] = dict(document)
    version = current.get("version")
    if type(version) is not int:  # a bool or a float, too, may be equal to a version
        raise FormatError(f"{path} is a plan of version {shown(version)}, which is none; save the plan again")
    if version == 1:  # knew only whether something had ended the search early
        current["ended_by"] = "budget" if current.get("interrupted") else "finished"
    if version in (1, 2):  # of searches that computed every cost that they asked for
        current["distinct_evaluations"] = current.get("evaluations")
    if version in (1, 2, 3):  # of agents without networks
        current["forwards"] = 0
    if version in (1, 2, 3, 4):  # of agents that did not tell what they were given
        current["budget"] = None
    elif version != _VERSION:
        raise FormatError(f"{path} is a plan of version {version}, not {_VERSION}; save the plan again")
    return current


def _candidates(document: dict[str, Any], name: str) -> tuple[Candidate, ...]:
    return tuple(
        checked_fields(Candidate(cost=entry["cost"], actions=tuple(_list_of(entry, "actions"))))
        for entry in _list_of(document, name)
    )


def _list_of(entry: dict[str, Any], name: str) -> list[Any]:
    """What an entry lists; an object or a text without content is no list, although nothing is in it either."""
    found = entry[name]
    if not isinstance(found, list):
        raise TypeError(f"{name}={shown(found)}")
    return found


def _incomplete(path: str | Path, error: Exception) -> FormatError:
    return FormatError(f"{path} is an incomplete plan, or damaged ({error!r}); save the plan again")
