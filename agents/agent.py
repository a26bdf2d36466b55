"""The interface that planners and learned policies share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from halidegym.agents.plan import Plan
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import INT64_MAX, check_at_least, check_number


class Agent(ABC):
    """Finds schedules for problems.

    Every agent is anytime: it keeps the best schedule so far, and returns it when a budget is used up or Ctrl-C is pressed.
    Equal seeds give equal plans, unless seconds or measured run times decide. An agent is a small immutable description of
    what to do, so it can be printed, compared, pickled and used for many problems.
    """

    @abstractmethod
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
        """Search for a good schedule.

        Budgets end the search early; None sets no limit. They are looked at between expansions, so a search may go over by
        what one expansion takes, and it always goes on until there is one complete schedule to return.

        Args:
            problem_or_env: a `SchedulingProblem`, or an environment that has one.
            seconds: wall-clock time to use.
            evaluations: how often the cost model may be asked
                (docs/specification/search-and-cost-model.md, section 1.5).
            expansions: how many states may be expanded, i.e. have all their children enumerated.
            measurements: how many schedules may be compiled and timed; agents that never measure ignore it.
            seed: of the random numbers, from 0 to 2^32 - 1.
            progress: show a progress bar on the error stream.

        Raises:
            InvalidParameter: a budget is not positive, the seed is out of range, or there is no problem.
            SearchExhausted: the problem has no legal schedule, or the agent's limits leave none.
        """

    @property
    def name(self) -> str:
        """Name of the algorithm, without its parameters."""
        return type(self).__name__


class SearchLimits(TypedDict):
    """What the searches in C++ take of a `Budget`; None sets no limit."""

    max_seconds: float | None
    max_evaluations: int | None
    max_expansions: int | None


@dataclass(frozen=True)
class Budget:
    """When a search must end; the arguments of `Agent.plan`, checked."""

    seconds: float | None = None
    evaluations: int | None = None
    expansions: int | None = None
    measurements: int | None = None

    def __post_init__(self) -> None:
        check_number(seconds=self.seconds)
        counts = {"evaluations": self.evaluations, "expansions": self.expansions, "measurements": self.measurements}
        check_at_least(0, INT64_MAX, **counts)
        for name, value in vars(self).items():
            if value == 0:
                raise InvalidParameter(
                    f"The budget {name}={value} allows nothing; give a positive number, or None for no limit"
                )

    @property
    def is_unlimited(self) -> bool:
        """Whether neither time nor counts of the search are limited."""
        return self.seconds is None and self.evaluations is None and self.expansions is None

    @property
    def limits(self) -> SearchLimits:
        """The arguments by which a search in C++ is limited."""
        return {
            "max_seconds": self.seconds,
            "max_evaluations": self.evaluations,
            "max_expansions": self.expansions,
        }

    def or_evaluations(self, count: int) -> Budget:
        """Return this budget if it limits the search, else one of so many evaluations."""
        return replace(self, evaluations=count) if self.is_unlimited else self


def problem_of(problem_or_env: Any) -> SchedulingProblem:
    """Return the problem itself, or the one that an environment is in.

    Raises:
        InvalidParameter: the argument is neither.
    """
    if isinstance(problem_or_env, SchedulingProblem):
        return problem_or_env
    problem = getattr(getattr(problem_or_env, "unwrapped", None), "problem", None)
    if isinstance(problem, SchedulingProblem):
        return problem
    raise InvalidParameter(
        f"Cannot plan for a {type(problem_or_env).__name__}: give a SchedulingProblem, e.g. "
        "SchedulingProblem.from_pipeline(pipeline), or an environment that has been reset; for another search space, "
        "call solve"
    )
