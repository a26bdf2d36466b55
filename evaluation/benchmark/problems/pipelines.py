"""Pipelines to schedule."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.plan import Plan
from halidegym.agents.reference import Reference
from halidegym.envs import pipelines
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.measurements import Comparison, TimingSettings
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.pipeline import check_name, load_problem
from halidegym.evaluation.benchmark.problems.claims import FalseClaimError, check_equal, check_history
from halidegym.evaluation.benchmark.problems.kind import Problem, Solution
from halidegym.native.weights import builtin_weights


class Pipelines:
    """Pipelines as the command line takes them."""

    def takes(self, name: str) -> bool:
        """Any name."""
        return True

    def check(self, name: str) -> None:
        """See `ProblemKind`; what a file of the user has is seen when it is read."""
        check_name(name)

    def is_shared(self, name: str) -> bool:
        """Whether it is a registered one."""
        return pipelines.is_name(name)

    def measures(self, name: str) -> bool:
        """Never: costs are the model's, and agents that measure say so."""
        return False

    def remembers(self, name: str) -> bool:
        """Never: agents that measure have no record."""
        return False

    def load(self, name: str, target: str, parallelism: int) -> Problem:
        """See `ProblemKind`."""
        return _Pipeline(load_problem(name, target=target, parallelism=parallelism))

    def compare(
        self,
        name: str,
        target: str,
        parallelism: int,
        found: Mapping[str, Solution],
        settings: TimingSettings,
        rounds: int,
    ) -> dict[str, Comparison]:
        """See `ProblemKind`."""
        problem = run_isolated(load_problem, name, target=target, parallelism=parallelism)
        (base, baseline), *others = ((key, _schedule(problem, solution)) for key, solution in found.items())
        with contextlib.closing(RecordingTimer(settings=settings)) as timer:
            if not others:
                timing = timer.time(problem, baseline)
                return {base: Comparison(1.0, 1.0, 1.0, timing, timing)}
            compared = timer.compare_all(problem, [schedule for _, schedule in others], baseline, rounds=rounds)
        of_baseline = {base: Comparison(1.0, 1.0, 1.0, compared[0].b, compared[0].b)}
        return of_baseline | {key: comparison for (key, _), comparison in zip(others, compared, strict=True)}


class _Pipeline:
    def __init__(self, problem: SchedulingProblem) -> None:
        self._problem = problem

    @property
    def hash(self) -> str:
        return self._problem.hash

    def solve(self, agent: Agent, seed: int, budget: Mapping[str, Any]) -> Solution:
        plan = agent.plan(self._problem, seed=seed, **budget)
        reference = plan.schedule.scheduled if isinstance(plan.schedule, ReferenceSchedule) else b""
        document = plan.checked_document(self._problem.with_parallelism(plan.fingerprint.parallelism))
        key = schedule_key(self._problem, plan.schedule)
        return Solution(self.hash, key, document, base64.b64encode(reference).decode())

    def verify(self, found: Solution, agent: Agent | None, again: bool) -> bool:
        if not found.scheduled:
            return self._check_plan(found, agent)
        if not isinstance(agent, Reference):
            raise FalseClaimError("it has the schedule of a reference autoscheduler, but its agent is none")
        self._check_reference(found, agent if again else None)
        return again

    def _check_plan(self, found: Solution, agent: Agent | None) -> bool:
        """Whether all of it was computed again.

        Costs by weights of one's own are believed: they are compared with none by others, and no file is read because a
        submission names it.
        """
        plan, weights = _replayed(self._problem, found), builtin_weights()
        here = fingerprint(self._problem.with_parallelism(plan.fingerprint.parallelism), weights)
        knows_costs = plan.fingerprint.weights_hash == here.weights_hash or not _may_have_weights(agent)
        claimed = plan.fingerprint if knows_costs else replace(plan.fingerprint, weights_hash=here.weights_hash)
        check_equal("fingerprint", claimed, here)
        space = plan.rules.space(plan.schedule.problem, weights)
        for candidate in (*plan.candidates, *plan.pass_candidates):
            state = space.initial_state()
            for action in candidate.actions:
                state = state.apply(action)
            if knows_costs:
                check_equal("cost", candidate.cost, state.cost())
        check_equal("cost", plan.cost, plan.candidates[0].cost)
        texts = {"cpp": plan.schedule.cpp(), "loop_nest": plan.loop_nest}
        check_equal("schedule", found.plan["schedule"], texts)
        check_equal("schedule_key", found.schedule_key, schedule_key(self._problem, plan.schedule))
        check_history(plan.history, plan.candidates, plan.evaluations)
        return knows_costs

    def _check_reference(self, found: Solution, agent: Reference | None) -> None:
        key = schedule_key(self._problem, _schedule(self._problem, found))
        check_equal("schedule_key", found.schedule_key, key)
        if agent is not None:
            plan = agent.plan(self._problem, seed=found.plan["seed"])
            check_equal("cost", found.plan["cost"], plan.cost)
            check_equal("schedule", found.plan["schedule"]["cpp"], plan.schedule.cpp())


def _may_have_weights(agent: Agent | None) -> bool:
    """Whether an agent may go by another cost model than the shipped one: it is somebody's own, or was given weights."""
    if isinstance(agent, IteratedSearch):
        return _may_have_weights(agent.agent)
    return agent is None or getattr(agent, "weights", None) is not None


def _schedule(problem: SchedulingProblem, found: Solution) -> Schedule | ReferenceSchedule:
    """The schedule, made anew for a problem that was read in a fresh process.

    Raises:
        FormatError: the plan is damaged.
        InvalidParameter: it is of another problem, or takes an illegal decision.
    """
    if not found.scheduled:
        return _replayed(problem, found).schedule
    texts, name = found.plan["schedule"], found.plan["agent"].partition("(")[0]
    return ReferenceSchedule(problem, name, texts["cpp"], texts["loop_nest"], base64.b64decode(found.scheduled))


def _replayed(problem: SchedulingProblem, found: Solution) -> Plan:
    """The plan, its schedule made anew from its decisions; see `_schedule`."""
    cores = found.plan["fingerprint"].get("parallelism", problem.parallelism)
    return Plan.from_document(found.plan, problem.with_parallelism(cores), "the plan")
