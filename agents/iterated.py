"""Iterated search: a planner again and again with new seeds, the best kept, by cost or by run time."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from halidegym.agents.agent import Agent, Budget, check_at_least, check_seed, problem_of
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.envs.problem import SchedulingProblem
from halidegym.envs.timers import Timer, opened
from halidegym.native._core import InvalidParameter

_MAX_CANDIDATES = 32


@dataclass(frozen=True)
class IteratedSearch(Agent):
    """Repeats a planner with new seeds until the budget is used up, and keeps the best: the autotuning mode of the papers.

    With ``workers`` several rounds go on at a time, each in a thread: beams with dropout in parallel are the baseline that
    Haj-Ali et al. 2020 (ProTuner) compare their 16 trees with. With ``measured`` the best schedules of the rounds are timed
    in the end, one after another, and the fastest one wins. Then the rounds can also take turns in scheduling for several
    numbers of cores: their costs cannot be compared, but their run times on this machine can.

    Of the plan, the cost, the candidates and the passes are those of the rounds that scheduled for as many cores as the
    winner; a pass is a round. The winner is the first candidate, whatever its cost. The seconds are the search's; measuring
    comes on top. The budget is the natural end: `Plan.interrupted` is true only after Ctrl-C.

    Attributes:
        agent: the planner. It should depend on its seed: `BeamSearch` does with a ``random_dropout`` below 100.
        rounds: how often to run it if `plan` is given no budget of seconds, evaluations or expansions.
        workers: rounds that go on at a time. Counts are divided among them.
        measured: how many schedules to time in the end; 0 to go by the cost.
        parallelisms: numbers of cores to schedule for in turn; None for that of the problem.
        timer: where run times come from, such as a `Replay`; None to measure on this machine and record nothing.
    """

    agent: NativeSearch
    rounds: int = 8
    workers: int = 1
    measured: int = 0
    parallelisms: tuple[int, ...] | None = None
    timer: Timer | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.agent, NativeSearch):
            raise InvalidParameter(f"Cannot repeat {self.agent!r}; give a planner such as RandomSearch() or MCTS()")
        check_at_least(1, rounds=self.rounds, workers=self.workers)
        check_at_least(0, measured=self.measured)
        if self.parallelisms is not None:
            object.__setattr__(self, "parallelisms", tuple(self.parallelisms))
            if not self.parallelisms or self.measured == 0:
                raise InvalidParameter(
                    f"parallelisms={self.parallelisms!r} with measured={self.measured}: give at least one number of cores, "
                    "and measured of at least 1, because costs for different numbers of cores cannot be compared"
                )

    def plan(
        self,
        problem_or_env: Any,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        expansions: int | None = None,
        measurements: int | None = None,
        seed: int = 0,
        progress: bool = False,
    ) -> Plan:
        """Search for a good schedule; see `Agent.plan`. `measurements` limits how many schedules are timed, too."""
        budget = Budget(seconds, evaluations, expansions, measurements)
        problem = problem_of(problem_or_env)
        rounds = _Rounds(self, problem, budget, check_seed(seed))
        start, cpu_start = time.perf_counter(), time.process_time()
        with rounds.bar() if progress else nullcontext() as on_progress:
            rounds.run(on_progress)
        elapsed, cpu_elapsed = time.perf_counter() - start, time.process_time() - cpu_start
        count = self.measured if measurements is None else min(self.measured, measurements)
        winner, run_time, timed = (
            _fastest(problem, rounds.finalists(count), self.timer) if count else (rounds.cheapest(), None, None)
        )
        alike = [plan for plan in rounds.plans if plan.fingerprint == winner.fingerprint]
        return replace(
            winner,
            agent=repr(self),
            seed=seed,
            candidates=_merge(winner, alike),
            pass_costs=tuple(_cost(plan) for plan in alike),
            pass_candidates=tuple(plan.candidates[0] for plan in alike),
            evaluations=sum(plan.evaluations or 0 for plan in rounds.plans),
            expansions=sum(plan.expansions or 0 for plan in rounds.plans),
            seconds=elapsed,
            cpu_seconds=cpu_elapsed,
            history=rounds.history(alike),
            interrupted=rounds.stopped.is_set(),
            run_time=run_time,
            measurements=timed,
        )


class _Rounds:
    """The rounds of one search, and what is left of its budget."""

    def __init__(self, search: IteratedSearch, problem: SchedulingProblem, budget: Budget, seed: int) -> None:
        self.search = search
        self.problem = problem
        self.settings = [problem.with_parallelism(cores) for cores in search.parallelisms or (problem.parallelism,)]
        self.budget = budget
        self.seed = seed
        self.plans: list[Plan] = []
        self.starts: list[float] = []  # of the rounds, in seconds after the first
        self.stopped = threading.Event()
        self.begin = time.perf_counter()

    def run(self, on_progress: OnProgress | None) -> None:
        """Run batches of rounds; the next one begins when all of a batch are over, so that counts decide reproducibly."""
        with ThreadPoolExecutor(self.search.workers) as pool:
            while not self._is_over():
                share = self._share()
                first = len(self.plans)
                batch = range(first, first + self._batch_size())
                self.starts += [time.perf_counter() - self.begin] * len(batch)
                self.plans += self._wait([pool.submit(self._run_round, i, share, on_progress) for i in batch])

    def _run_round(self, index: int, budget: Budget, on_progress: OnProgress | None) -> Plan:
        def go_on(*state: Any) -> bool:
            return not self.stopped.is_set() and (on_progress is None or on_progress(*state))

        # The first round is the search without iterations.
        seed = self.seed if index == 0 else int(np.random.SeedSequence([self.seed, index]).generate_state(1)[0])
        return self.search.agent.search(self.settings[index % len(self.settings)], budget, seed, go_on)

    def _wait(self, futures: list[Future[Plan]]) -> list[Plan]:
        """Wait for all rounds of a batch. Ctrl-C and errors end those that go on."""
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            self.stopped.set()
            return [future.result() for future in futures]
        except BaseException:
            self.stopped.set()
            raise

    def _is_over(self) -> bool:
        if not self.plans:
            return False
        if self.stopped.is_set():
            return True
        if self.budget.is_unlimited:
            return len(self.plans) >= self.search.rounds
        return any(left is not None and left <= 0 for left in self._left()) or self._counts_nothing()

    def _left(self) -> tuple[float | None, int | None, int | None]:
        seconds, evaluations, expansions = self.budget.seconds, self.budget.evaluations, self.budget.expansions
        return (
            None if seconds is None else seconds - (time.perf_counter() - self.begin),
            None if evaluations is None else evaluations - sum(plan.evaluations or 0 for plan in self.plans),
            None if expansions is None else expansions - sum(plan.expansions or 0 for plan in self.plans),
        )

    def _counts_nothing(self) -> bool:
        """Return whether the only budget is one of expansions, and the planner does not expand."""
        used = sum(plan.expansions or 0 for plan in self.plans)
        return self.budget.seconds is None and self.budget.evaluations is None and used == 0

    def _batch_size(self) -> int:
        if self.budget.is_unlimited:
            return min(self.search.workers, self.search.rounds - len(self.plans))
        return self.search.workers

    def _share(self) -> Budget:
        """Return the budget of each round of a batch."""
        seconds, evaluations, expansions = self._left()
        workers = self.search.workers
        return Budget(
            None if seconds is None else max(1e-6, seconds),
            None if evaluations is None else max(1, evaluations // workers),
            None if expansions is None else max(1, expansions // workers),
        )

    def cheapest(self) -> Plan:
        """Return the best plan by cost."""
        return min(self.plans, key=_cost)

    def finalists(self, count: int) -> list[Plan]:
        """Return the best plans by cost, different ones, the numbers of cores in turn."""
        best = []
        for setting in self.settings:
            distinct = {p.actions: p for p in self.plans if p.fingerprint.parallelism == setting.parallelism}
            best.append(sorted(distinct.values(), key=_cost))
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*best))
        return [plan for plan in in_turn if plan is not None][:count]

    def history(self, alike: Sequence[Plan]) -> tuple[Improvement, ...]:
        """Return the improvements of the best cost over some of the rounds, in the time and the counts of the whole."""
        improvements = []
        evaluations = expansions = 0
        for start, plan in zip(self.starts, self.plans, strict=True):
            if plan in alike:
                improvements += [
                    Improvement(start + i.seconds, evaluations + i.evaluations, expansions + i.expansions, i.cost)
                    for i in plan.history
                ]
            evaluations += plan.evaluations or 0
            expansions += plan.expansions or 0
        best: list[Improvement] = []
        for improvement in sorted(improvements, key=lambda i: (i.evaluations, i.seconds)):
            if not best or improvement.cost < best[-1].cost:
                best.append(improvement)
        return tuple(best)

    def bar(self) -> AbstractContextManager[OnProgress]:
        """Return a progress bar over time, if that is limited, else over rounds."""
        title = f"{self.search.agent.name} iterated, {self.problem.name}"
        if self.budget.seconds is not None:
            return progress_bar(title, self.budget.seconds, lambda *_: time.perf_counter() - self.begin)
        total = self.search.rounds if self.budget.is_unlimited else None
        return progress_bar(title, total, lambda *_: len(self.plans))


def _fastest(
    problem: SchedulingProblem, finalists: Sequence[Plan], timer: Timer | None
) -> tuple[Plan, float | None, int]:
    """Time schedules as schedules of the problem: the fastest, its seconds, and how many were timed.

    Each runs in turns with the fastest one before it. Whatever number of cores they were made for, they run on the problem's
    threads. If none runs, it is the first one. Ctrl-C ends the measurements.
    """
    fastest, run_time, timed = finalists[0], math.inf, 0
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
    return fastest, None if math.isinf(run_time) else run_time, timed


def _cost_for(problem: SchedulingProblem, plan: Plan) -> float | None:
    """The plan's cost, if it is one for the problem's number of cores."""
    return plan.cost if plan.fingerprint.parallelism == problem.parallelism else None


def _merge(winner: Plan, plans: Sequence[Plan]) -> tuple[Candidate, ...]:
    """Return the winner's schedule and the other candidates, best first."""
    others = {candidate.actions: candidate for plan in plans for candidate in plan.candidates}
    first = others.pop(winner.actions)
    return (first, *sorted(others.values(), key=lambda candidate: candidate.cost))[:_MAX_CANDIDATES]


def _cost(plan: Plan) -> float:
    assert plan.cost is not None, "planners state the cost"
    return plan.cost
