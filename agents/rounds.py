"""Rounds of a search: the same search again and again with new seeds, some at a time, within one budget."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget, EndedBy
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter, OutOfResources

_MAX_CANDIDATES = 32
_STARTUP_BYTES = 16 << 20

Found = TypeVar("Found", Plan, SpaceSolution)
Result = TypeVar("Result")

Round: TypeAlias = Callable[[int, Budget, int, OnProgress], Found]
"""Searches once: given the number of the round, its budget, its seed, and what ends it early."""


class Searches(Protocol):
    """Makes the searches of rounds somewhere, several at a time if it is called from several threads."""

    def __call__(
        self, agent: Agent, problem: SchedulingProblem, budget: Budget, seed: int, on_progress: OnProgress
    ) -> Plan:
        """See `Agent.search`."""


class Rounds(Generic[Found]):
    """The rounds of one search, and what is left of its budget.

    Attributes:
        found: what the rounds found, in order.
        begin: when the first one began, on the clock of `time.perf_counter`.
        stopped: set by Ctrl-C, and by an error in a round; ends all of them.
    """

    def __init__(self, run_round: Round[Found], budget: Budget, *, seed: int, limit: int, workers: int) -> None:
        """Prepare rounds.

        Args:
            run_round: called from threads.
            budget: of all rounds together; with a number of measurements if each measures.
            seed: of the first round; the others' are derived from it.
            limit: number of rounds if the budget is unlimited.
            workers: rounds that go on at a time.
        """
        self.found: list[Found] = []
        self.begin = time.perf_counter()
        self.stopped = threading.Event()
        self._run_round: Callable[[int, Budget, int, OnProgress], Found] = run_round
        self._budget = budget
        self._seed = seed
        self._limit = limit
        self._workers = workers
        self._starts: list[float] = []  # of the rounds, in seconds after the first

    def run(self, on_progress: OnProgress | None = None) -> None:
        """Run batches of rounds; the next one begins when all of a batch are over, so that counts decide reproducibly."""
        while not self._is_over():
            share = self._share()
            first = len(self.found)
            batch = range(first, first + self._batch_size())
            self._starts += [time.perf_counter() - self.begin] * len(batch)
            self.found += self._wait(self._start(batch, share, on_progress))

    @property
    def ended_by(self) -> EndedBy:
        """Why there are no more rounds."""
        if self.stopped.is_set():
            return "interrupt"
        return "finished" if self._budget.is_unlimited and len(self.found) >= self._limit else "budget"

    @property
    def evaluations(self) -> int:
        """Of all rounds."""
        return sum(found.evaluations or 0 for found in self.found)

    @property
    def distinct_evaluations(self) -> int:
        """Of all rounds, each of which computes its costs itself."""
        return sum(found.distinct_evaluations or 0 for found in self.found)

    @property
    def expansions(self) -> int:
        """Of all rounds."""
        return sum(found.expansions or 0 for found in self.found)

    @property
    def forwards(self) -> int:
        """Of all rounds."""
        return sum(found.forwards for found in self.found)

    @property
    def measurements(self) -> int:
        """Of all rounds; 0 in other spaces than those of schedules."""
        return sum(found.measurements or 0 for found in self.found if isinstance(found, Plan))

    def cheapest(self) -> Found:
        """Return the best round by cost."""
        return min(self.found, key=cost_of)

    def history(self, chosen: Sequence[Found]) -> tuple[Improvement, ...]:
        """Return the improvements of the best cost over some of the rounds, in the time and the counts of the whole.

        Counts take rounds that went on at the same time one after another, as equal searches count alike that way. By the
        clock, one of a later round may have come first: each improvement has the time by which all before it had come, too.
        """
        improvements = []
        evaluations = expansions = 0
        for start, found in zip(self._starts, self.found, strict=True):
            if found in chosen:
                improvements += [
                    Improvement(start + i.seconds, evaluations + i.evaluations, expansions + i.expansions, i.cost)
                    for i in found.history
                ]
            evaluations += found.evaluations or 0
            expansions += found.expansions or 0
        best: list[Improvement] = []
        for improvement in sorted(improvements, key=lambda i: (i.evaluations, i.seconds)):
            if not best:
                best.append(improvement)
            elif improvement.cost < best[-1].cost:
                best.append(replace(improvement, seconds=max(improvement.seconds, best[-1].seconds)))
        return tuple(best)

    def _run(self, index: int, budget: Budget, on_progress: OnProgress | None) -> Found:
        def go_on(_pass: int, *state: Any) -> bool:
            if on_progress is not None and not on_progress(index, *state):
                self.stopped.set()
            return not self.stopped.is_set()

        # The first round is the search without iterations.
        seed = self._seed if index == 0 else int(np.random.SeedSequence([self._seed, index]).generate_state(1)[0])
        return _with_cost(self._run_round(index, budget, seed, go_on))

    def _start(self, batch: range, share: Budget, on_progress: OnProgress | None) -> list[Future[Found]]:
        running: list[Future[Found]] = []
        try:
            with _all_at_once() as may_begin:
                for index in batch:
                    run_round = functools.partial(self._run, index, share, on_progress)
                    running.append(_in_thread(run_round, may_begin))
        except RuntimeError as error:
            self._stop(running)
            raise OutOfResources(
                f"worker {len(running) + 1} of {len(batch)} cannot start ({error}); give fewer workers"
            ) from error
        return running

    def _wait(self, running: list[Future[Found]]) -> list[Found]:
        """Wait for all rounds of a batch. Ctrl-C and errors end those that go on."""
        try:
            return [future.result() for future in running]
        except KeyboardInterrupt:
            self._stop(running)
            return [future.result() for future in running]
        except BaseException:
            self._stop(running)
            raise

    def _stop(self, running: list[Future[Found]]) -> None:
        self.stopped.set()
        futures.wait(running)

    def _is_over(self) -> bool:
        if not self.found:
            return False
        if self.stopped.is_set():
            return True
        if any(left is not None and left <= 0 for left in self._left()):
            return True
        return len(self.found) >= self._limit if self._budget.is_unlimited else self._counts_nothing()

    def _left(self) -> tuple[float | None, int | None, int | None, int | None]:
        seconds, evaluations, expansions = self._budget.seconds, self._budget.evaluations, self._budget.expansions
        measurements = self._budget.measurements
        return (
            None if seconds is None else seconds - (time.perf_counter() - self.begin),
            None if evaluations is None else evaluations - self.evaluations,
            None if expansions is None else expansions - self.expansions,
            None if measurements is None else measurements - self.measurements,
        )

    def _counts_nothing(self) -> bool:
        """Return whether no round brings the end nearer: no clock does, and the planner counts nothing of the budget."""
        limits = (self._budget.evaluations, self._budget.expansions)
        counts = (self.evaluations, self.expansions)
        return self._budget.seconds is None and not any(
            count for limit, count in zip(limits, counts, strict=True) if limit is not None
        )

    def _batch_size(self) -> int:
        *_, measurements = self._left()
        rounds = self._limit - len(self.found) if self._budget.is_unlimited else self._workers
        # A round makes a schedule however little it is given, but measurements cost too much to be exceeded.
        return min(self._workers, rounds, self._workers if measurements is None else measurements)

    def _share(self) -> Budget:
        """Return the budget of each round of a batch."""
        seconds, evaluations, expansions, measurements = self._left()
        return Budget(
            None if seconds is None else max(1e-6, seconds),
            None if evaluations is None else max(1, evaluations // self._workers),
            None if expansions is None else max(1, expansions // self._workers),
            None if measurements is None else measurements // self._batch_size(),
        )


@contextlib.contextmanager
def _all_at_once() -> Iterator[threading.Event]:
    """An event that lets threads begin when all of them have been started, or one could not be.

    A thread that comes to C++ for the first time allocates its thread-local data there, and the process ends if there is no
    memory left, as when the stacks of threads have just used it up. So some is set aside until they begin.
    """
    reserve, may_begin = bytearray(_STARTUP_BYTES), threading.Event()
    try:
        yield may_begin
    finally:
        del reserve
        may_begin.set()


def _in_thread(function: Callable[[], Result], may_begin: threading.Event) -> Future[Result]:
    """Call a function in a thread of its own, which the interpreter does not wait for when it exits."""
    future: Future[Result] = Future()

    def run() -> None:
        may_begin.wait()
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def merge_candidates(winner: Found, rounds: Sequence[Found]) -> tuple[Candidate, ...]:
    """Return the winner's solution and the other candidates, best first."""
    others: dict[tuple[int, ...], Candidate] = {c.actions: c for found in rounds for c in found.candidates}
    first = others.pop(winner.actions)
    return (first, *sorted(others.values(), key=lambda candidate: candidate.cost))[:_MAX_CANDIDATES]


def _with_cost(found: Found) -> Found:
    """Return what a round found, if rounds can be compared by it; those of somebody's own agent may have anything."""
    if found.cost is None or not found.candidates:
        raise InvalidParameter(
            f"A round of {found.agent} has {'no candidates' if found.cost is not None else 'no cost'}, and rounds are "
            "compared by the costs of theirs; repeat an agent whose plans have a cost and candidates"
        )
    return found


def cost_of(found: Plan | SpaceSolution) -> float:
    """Return the cost of what a planner found."""
    assert found.cost is not None, "planners state the cost"
    return found.cost
