"""The interface that planners and learned policies share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import AnySpace, SpaceSolution
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.timers import Timer
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_kind, check_seed, shown

Result = TypeVar("Result", Plan, SpaceSolution)
PlanT = TypeVar("PlanT", bound=Plan)
_PlanT_co = TypeVar("_PlanT_co", bound=Plan, covariant=True)


class _Searching(Protocol[_PlanT_co]):
    """What `Agent.plan` is called on: for type checkers, it returns the kind of plan that `search` of this agent does."""

    @property
    def name(self) -> str: ...
    def search(self, *args: Any, **kwargs: Any) -> _PlanT_co: ...  # as `Agent.search` has it
    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress | None]: ...


class Agent(ABC):
    """Finds schedules for problems.

    An agent is anytime: it keeps the best schedule so far, and returns it when a budget is used up or Ctrl-C is pressed;
    those of `halidegym.agents.reference` alone cannot. Equal seeds give equal plans, unless seconds or measured run times
    decide. An agent is a small immutable description of what to do, so it can be printed, compared, pickled and used for
    many problems.

    A new agent implements `search`, and, if it can search other spaces than schedules, `search_space`.
    """

    def plan(
        self: _Searching[PlanT],
        problem_or_env: Any,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        expansions: int | None = None,
        measurements: int | None = None,
        timer: Timer | None = None,
        seed: int = 0,
        progress: bool = False,
    ) -> PlanT:
        """Search for a good schedule.

        Budgets end the search early; None sets no limit. They are looked at between expansions, so a search may go over by
        what one expansion takes, and it always goes on until there is one complete schedule to return.

        Args:
            problem_or_env: a `SchedulingProblem`, or an environment that has one.
            seconds: wall-clock time to use.
            evaluations: how often the cost model may be asked
                (docs/specification/search-and-cost-model.md, section 1.5).
            expansions: how many states may be expanded, i.e. have all their children enumerated; agents that draw whole
                schedules expand none, and ignore it.
            measurements: how many schedules may be compiled and timed; agents that never measure ignore it.
            timer: where run times come from, such as a `RecordingTimer` or a `Replay`; None to measure on this machine and
                record nothing. Agents that never measure ignore it.
            seed: of the random numbers, from 0 to 2^32 - 1.
            progress: show a progress bar on the error stream.

        Raises:
            InvalidParameter: a budget is not positive, or none that the agent can keep; the seed is out of range; `timer` is
                none; there is no problem; or `search`, in an agent of yours, returns no plan.
            SearchExhausted: the problem has no legal schedule, or the agent's limits leave none.
            OutOfResources: the machine has not the memory or the threads for the search.
        """
        budget = Budget(seconds, evaluations, expansions, measurements)
        problem, seed = problem_of(problem_or_env), check_seed(seed)
        check_kind(Timer, timer=timer)
        with self._bar(problem, budget) if progress else nullcontext() as on_progress:
            plan = self.search(problem, budget, seed, on_progress, timer)
        checked_result(Plan, plan, f"{self.name}.search")
        return replace(plan, budget=budget)

    def solve(
        self,
        space: AnySpace,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        expansions: int | None = None,
        measurements: int | None = None,
        measure: Callable[[Any], float] | None = None,
        seed: int = 0,
    ) -> SpaceSolution:
        """Search any space for its cheapest complete state: what `plan` does for schedules.

        Args:
            space: a `SyntheticTree`, a `TransformSpace`, an object with the methods of `SearchSpace`, or the `Space` of a
                scheduling problem, which has its own rules and weights.
            seconds: as for `plan`.
            evaluations: as for `plan`.
            expansions: as for `plan`.
            measurements: as for `plan`.
            measure: the `timer` of such a space: given a complete state, returns seconds, infinite if it fails.
            seed: as for `plan`.

        Raises:
            InvalidParameter: an argument is out of its range, `space` is none, the agent schedules pipelines only, or
                `search_space`, in an agent of yours, returns no solution.
            SearchExhausted: the space has no acceptable complete state, or the agent's limits leave none.
            OutOfResources: as for `plan`.
        """
        budget = Budget(seconds, evaluations, expansions, measurements)
        if isinstance(space, SchedulingProblem):
            raise InvalidParameter("a SchedulingProblem is no search space; call plan, which searches its schedules")
        if measure is not None and not callable(measure):
            raise InvalidParameter(f"measure={shown(measure)} cannot be called; give a function of a state")
        solution = self.search_space(space, budget, check_seed(seed), None, measure)
        return checked_result(SpaceSolution, solution, f"{self.name}.search_space")

    @abstractmethod
    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        """Do what `plan` does, with a callback, which can end the search from another thread."""

    def search_space(
        self,
        space: AnySpace,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        measure: Callable[[Any], float] | None = None,
    ) -> SpaceSolution:
        """Do what `solve` does, with a callback, which can end the search from another thread."""
        raise InvalidParameter(
            f"{self.name} schedules pipelines only; for another search space take a planner such as BeamSearch() or TAG()"
        )

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress | None]:
        """Return the progress bar of this search; by default there is none."""
        return nullcontext()

    @property
    def measures(self) -> bool:
        """Whether it compiles and times schedules, so that nothing else should run beside it; by default it does not."""
        return False

    def check_files(self) -> None:  # noqa: B027 - most agents have none
        """Read the files of weights and policies that a search begins with; by default there are none.

        Raises:
            InvalidParameter, FormatError: one is missing, or is none.
        """

    @property
    def name(self) -> str:
        """Name of the algorithm, without its parameters."""
        return type(self).__name__


def checked_result(kind: type[Result], found: object, method: str) -> Result:
    """Return what a method of an agent, which may be somebody's own, has found, if it is what the method promises.

    Raises:
        InvalidParameter: it is something else.
    """
    if not isinstance(found, kind):
        raise InvalidParameter(
            f"{method} returned {shown(found)}; let it return the {kind.__name__} of the best that it has found"
        )
    return found


def problem_of(problem_or_env: Any) -> SchedulingProblem:
    """Return the problem itself, or the one that an environment is in.

    Raises:
        InvalidParameter: the argument is neither.
    """
    if isinstance(problem_or_env, SchedulingProblem):
        return problem_or_env
    env = getattr(problem_or_env, "unwrapped", None)
    problem = getattr(env, "problem", None)
    if isinstance(problem, SchedulingProblem):
        return problem
    raise InvalidParameter(
        f"Cannot plan for a {type(problem_or_env if env is None else env).__name__}: give a SchedulingProblem, e.g. "
        "SchedulingProblem.from_pipeline(pipeline) or one of the problems of a vector, or a single environment that has "
        "one; for another search space, such as env.unwrapped.tree of SyntheticTree-v0, call solve"
    )
