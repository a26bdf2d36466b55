"""Iterated search: a planner again and again with new seeds, the best kept, by cost or by run time."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from halidegym.agents.agent import Agent, checked_result
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.rounds import Found, Round, Rounds, Searches, cost_of, merge_candidates
from halidegym.agents.spaces import AnySpace, SpaceSolution
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.timers import Timer, opened
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import INT32_MAX, check_at_least, check_present, checked_integers


@dataclass(frozen=True)
class IteratedSearch(Agent):
    """Repeats a planner with new seeds until the budget is used up, and keeps the best: the autotuning mode of the papers.

    With ``workers`` several rounds go on at a time, each in a thread: beams with dropout in parallel are the baseline that
    Haj-Ali et al. 2020 (ProTuner) compare their 16 trees with. They can also go on at the nodes of a Ray cluster, and find
    the same there; rounds of ``MCTS(trees=1, threads=1)`` are an ensemble of trees that do not wait for each other.

    With ``measured`` the best schedules of the rounds are timed in the end, one after another, and the fastest one wins.
    Then the rounds can also take turns in scheduling for several numbers of cores: their costs cannot be compared, but their
    run times on this machine can.

    A planner that measures, such as ``MCTS(measured=True)``, shares out the measurements of `plan` among its rounds like all
    other counts, and the round with the fastest schedule wins.

    Of the plan, the cost, the candidates and the passes are those of the rounds that scheduled for as many cores as the
    winner; a pass is a round. The winner is the first candidate, whatever its cost. The seconds are the search's; measuring
    comes on top.

    Attributes:
        agent: the planner, or an agent of your own whose plans have a cost and candidates. It should depend on its seed:
            `BeamSearch` does with a ``random_dropout`` below 100.
        rounds: how often to run it if `plan` is given no budget of seconds, evaluations or expansions.
        workers: rounds that go on at a time. Counts are divided among them.
        measured: how many schedules to time in the end; 0 to go by the cost.
        parallelisms: numbers of cores to schedule for in turn; None for that of the problem.
        backend: where rounds go on: in threads ("threading"), or on a Ray cluster ("ray"), each on one CPU. There, Ctrl-C
            returns the best of the rounds that are over, and spaces are not searched, but problems.
    """

    agent: Agent
    rounds: int = 8
    workers: int = 1
    measured: int = 0
    parallelisms: tuple[int, ...] | None = None
    backend: Literal["threading", "ray"] = field(default="threading", repr=False)  # which changes nothing of the plan

    def __post_init__(self) -> None:
        if not isinstance(self.agent, Agent):
            raise InvalidParameter(
                f"Cannot repeat {self.agent!r}; give a planner such as RandomSearch(), which suites write as "
                "{agent: RandomSearch}, or an agent of your own"
            )
        check_at_least(1, **check_present(rounds=self.rounds, workers=self.workers))
        check_at_least(0, **check_present(measured=self.measured))
        if self.measured > 0 and self.agent.measures:
            raise InvalidParameter(
                f"measured={self.measured}, but {self.agent.name} measures in its rounds, and the fastest of these wins; "
                "give measured=0, or a planner that does not measure"
            )
        if self.backend not in ("threading", "ray"):
            raise InvalidParameter(f"backend={self.backend!r} is unknown; give threading or ray")
        if self.parallelisms is not None:
            cores = checked_integers("parallelisms", self.parallelisms, 1, INT32_MAX)
            object.__setattr__(self, "parallelisms", cores)
            if not self.parallelisms or self.measured == 0:
                raise InvalidParameter(
                    f"parallelisms={self.parallelisms!r} with measured={self.measured}: give at least one number of cores, "
                    "and measured of at least 1, because costs for different numbers of cores cannot be compared"
                )

    def check_files(self) -> None:
        """See `Agent.check_files`."""
        self.agent.check_files()

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        """Do what `plan` does; see `Agent.search`."""
        settings = [problem.with_parallelism(cores) for cores in self.parallelisms or (problem.parallelism,)]
        start, cpu_start = time.perf_counter(), time.process_time()
        with self._searches(budget, timer) as search:

            def run_round(index: int, budget: Budget, seed: int, on_progress: OnProgress) -> Plan:
                plan = search(self.agent, settings[index % len(settings)], budget, seed, on_progress)
                return checked_result(Plan, plan, f"{self.agent.name}.search")

            of_rounds = budget if self.agent.measures else replace(budget, measurements=None)
            rounds: Rounds[Plan] = self._run(run_round, of_rounds, seed, on_progress)
        elapsed, cpu_elapsed = time.perf_counter() - start, time.process_time() - cpu_start
        if self.backend == "ray":
            cpu_elapsed += sum(plan.cpu_seconds for plan in rounds.found)
        choice = self._choose(problem, settings, rounds, budget.measurements, timer)
        alike = [plan for plan in rounds.found if plan.fingerprint == choice.plan.fingerprint]
        return replace(
            choice.plan,
            agent=repr(self),
            seed=seed,
            candidates=merge_candidates(choice.plan, alike),
            pass_costs=tuple(cost_of(plan) for plan in alike),
            pass_candidates=tuple(plan.candidates[0] for plan in alike),
            evaluations=rounds.evaluations,
            distinct_evaluations=rounds.distinct_evaluations,
            expansions=rounds.expansions,
            forwards=rounds.forwards,
            seconds=elapsed,
            cpu_seconds=cpu_elapsed,
            history=rounds.history(alike),
            ended_by="interrupt" if choice.interrupted else rounds.ended_by,
            run_time=choice.run_time,
            measurements=choice.measurements,
        )

    def search_space(
        self,
        space: AnySpace,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        measure: Callable[[Any], float] | None = None,
    ) -> SpaceSolution:
        """Do what `solve` does; see `Agent.search_space`.

        Raises:
            InvalidParameter: `backend` is "ray", or something is to be measured, because only a problem's schedules can be
                timed, or as for the planner.
        """
        if self.backend == "ray":
            raise InvalidParameter("backend='ray' searches problems, not spaces; give threading, or call plan")
        if self.measured > 0:
            raise InvalidParameter(
                f"measured={self.measured}, but a space has no schedules to time; give measured=0, or call plan"
            )
        if self.agent.measures:
            raise InvalidParameter(
                f"{self.agent.name} measures, but rounds in a space are compared by cost; give measured=False, or call plan"
            )

        def run_round(_index: int, budget: Budget, seed: int, on_progress: OnProgress) -> SpaceSolution:
            solution = self.agent.search_space(space, budget, seed, on_progress, measure)
            return checked_result(SpaceSolution, solution, f"{self.agent.name}.search_space")

        rounds: Rounds[SpaceSolution] = self._run(run_round, budget, seed, on_progress)
        winner = rounds.cheapest()
        return replace(
            winner,
            agent=repr(self),
            seed=seed,
            candidates=merge_candidates(winner, rounds.found),
            pass_costs=tuple(cost_of(solution) for solution in rounds.found),
            evaluations=rounds.evaluations,
            distinct_evaluations=rounds.distinct_evaluations,
            expansions=rounds.expansions,
            forwards=rounds.forwards,
            seconds=time.perf_counter() - rounds.begin,
            history=rounds.history(rounds.found),
            ended_by=rounds.ended_by,
        )

    @property
    def measures(self) -> bool:
        """Whether rounds end with a race, or their planner measures."""
        return self.measured > 0 or self.agent.measures

    def _searches(self, budget: Budget, timer: Timer | None) -> AbstractContextManager[Searches]:
        """Where rounds are made."""
        if self.backend == "threading":

            def search(
                agent: Agent, problem: SchedulingProblem, budget: Budget, seed: int, on_progress: OnProgress
            ) -> Plan:
                return agent.search(problem, budget, seed, on_progress, timer)

            return nullcontext(search)
        if timer is not None and self.agent.measures:
            raise InvalidParameter("Rounds on a Ray cluster measure there, and take no timer; leave it out")
        from halidegym.agents.spread import searches_on_ray  # brings ray, which others need not have

        return searches_on_ray(1 if budget.seconds is None else self.workers)

    def _run(self, run_round: Round[Found], budget: Budget, seed: int, on_progress: OnProgress | None) -> Rounds[Found]:
        rounds = Rounds(run_round, budget, seed=seed, limit=self.rounds, workers=self.workers)
        rounds.run(on_progress)
        return rounds

    def _choose(
        self,
        problem: SchedulingProblem,
        settings: Sequence[SchedulingProblem],
        rounds: Rounds[Plan],
        measurements: int | None,
        timer: Timer | None,
    ) -> _Choice:
        """Return the winner of the rounds: by time, if anything was or is to be measured, else by cost."""
        if self.agent.measures:
            winner = min(rounds.found, key=_by_run_time)
            return _Choice(winner, winner.run_time, rounds.measurements)
        count = self.measured if measurements is None else min(self.measured, measurements)
        if count == 0:
            return _Choice(rounds.cheapest(), None, None)
        return _fastest(problem, _finalists(rounds.found, settings, count), timer)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        """Return a progress bar over time, if that is limited, else over rounds."""
        title = f"{self.agent.name} iterated, {problem.name}"
        if budget.seconds is not None:
            start = time.perf_counter()
            return progress_bar(title, budget.seconds, lambda *_: time.perf_counter() - start)
        return progress_bar(title, self.rounds if budget.is_unlimited else None, lambda number, *_: number)


@dataclass(frozen=True)
class _Choice:
    """The plan that won, its seconds, and how many were timed; None if the cost decided."""

    plan: Plan
    run_time: float | None
    measurements: int | None
    interrupted: bool = False  # while timing


def _by_run_time(plan: Plan) -> tuple[float, float]:
    """The fastest first, then the cheapest of those of which none could be timed."""
    return math.inf if plan.run_time is None else plan.run_time, cost_of(plan)


def _finalists(plans: Sequence[Plan], settings: Sequence[SchedulingProblem], count: int) -> list[Plan]:
    """Return the best plans by cost, different ones, the numbers of cores in turn."""
    best = []
    for setting in settings:
        distinct = {p.actions: p for p in plans if p.fingerprint.parallelism == setting.parallelism}
        best.append(sorted(distinct.values(), key=cost_of))
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*best))
    return [plan for plan in in_turn if plan is not None][:count]


def _fastest(problem: SchedulingProblem, finalists: Sequence[Plan], timer: Timer | None) -> _Choice:
    """Time schedules as schedules of the problem.

    Each runs in turns with the fastest one before it. Whatever number of cores they were made for, they run on the problem's
    threads. If none runs, it is the first one. Ctrl-C ends the measurements.
    """
    fastest, run_time, timed, interrupted = finalists[0], math.inf, 0, True
    with opened(timer) as clock, suppress(KeyboardInterrupt):
        for plan in finalists:
            cost = _cost_for(problem, plan)
            if math.isinf(run_time):
                seconds = clock.time(problem, plan.schedule, cost=cost).median_s
                is_faster = seconds < run_time
            else:
                costs = cost, _cost_for(problem, fastest)
                comparison = clock.compare(problem, plan.schedule, fastest.schedule, costs=costs)
                seconds, is_faster = comparison.a.median_s, comparison.ratio > 1
            timed += 1
            if is_faster:
                fastest, run_time = plan, seconds
        interrupted = False
    return _Choice(fastest, None if math.isinf(run_time) else run_time, timed, interrupted)


def _cost_for(problem: SchedulingProblem, plan: Plan) -> float | None:
    """The plan's cost, if it is one for the problem's number of cores."""
    return plan.cost if plan.fingerprint.parallelism == problem.parallelism else None
