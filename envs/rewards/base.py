"""What all rewards of schedules have in common: their forms, their baselines, and what a dead end counts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, get_args

from halidegym.envs.problems.fingerprint import Fingerprint
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import InvalidParameter, State
from halidegym.native.checks import is_number, shown

RewardForm = Literal["speedup", "log_speedup", "inverse_time"]
"""How a time becomes a reward: `baseline / time`, its natural logarithm, or `1 / time`."""

DEAD_END_SPEEDUP = 1e-6
"""What an episode counts that ended without a complete schedule: a millionth of the speed of the baseline."""


class ScheduledPlan(Protocol):
    """What a reward needs of a plan to take it as its baseline."""

    @property
    def cost(self) -> float | None:
        """Of the cost model; None if unknown."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What the cost depends on."""

    @property
    def schedule(self) -> Schedule | ReferenceSchedule:
        """The schedule itself."""


Baseline = Literal["greedy"] | float | ScheduledPlan
"""The greedy schedule of each problem, a time in the reward's unit, or a plan for the environment's only problem."""


def reward_of(time: float, baseline: float, form: RewardForm) -> float:
    """The reward for a schedule that takes `time`, where the baseline takes `baseline`, in the same unit."""
    match form:
        case "speedup":
            return baseline / time
        case "log_speedup":
            return math.log(baseline / time)
        case "inverse_time":
            return 1 / time


def cost_here(plan: ScheduledPlan, problem: PreparedProblem) -> float | None:
    """The cost of a plan by the cost model that the problem is scheduled with; None if it is by another one, or unknown."""
    return plan.cost if plan.fingerprint.weights_hash == problem.fingerprint.weights_hash else None


def check_form(form: str) -> None:
    """Check the form of a reward.

    Raises:
        InvalidParameter: there is no such form.
    """
    if form not in get_args(RewardForm):
        raise InvalidParameter(f"form={form!r} is no form of a reward: use one of {', '.join(get_args(RewardForm))}")


class Rating(NamedTuple):
    """What the end of an episode is worth, and what there is to tell about it."""

    reward: float
    info: dict[str, Any]


class Reward(ABC):
    """What the end of an episode is worth; on the way there, all rewards are 0.

    Subclasses say how long a schedule takes. An environment has one reward, and planners can use the same object.

    Args:
        form: "speedup": baseline / time; "log_speedup": its natural logarithm; "inverse_time": 1 / time, in which the
            baseline plays no part. A dead end counts as `DEAD_END_SPEEDUP` times the speed of the baseline.
        baseline: "greedy": for each problem, the schedule that greedy search with the cost model finds; a positive
            number: a time; a `Plan`: its schedule.

    Raises:
        InvalidParameter: the form is unknown, or the baseline is none of the above.
    """

    # Of subclasses that do not call __init__, too.
    form: RewardForm = "log_speedup"
    baseline: Baseline = "greedy"

    def __init__(self, form: RewardForm = "log_speedup", baseline: Baseline = "greedy") -> None:
        check_form(form)
        if is_number(baseline):
            baseline = float(baseline)
            if not (math.isfinite(baseline) and baseline > 0):
                raise InvalidParameter(f"baseline={baseline} is no time: give a positive number")
        elif not hasattr(baseline, "schedule") and not (isinstance(baseline, str) and baseline == "greedy"):
            raise InvalidParameter(f'baseline={shown(baseline)} is unknown: use "greedy", a number, or a plan')
        self.form = form
        self.baseline = baseline

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"{type(self).__name__}(form={self.form!r}, baseline={self.baseline!r})"

    @abstractmethod
    def baseline_time(self, problem: PreparedProblem) -> float:
        """How long the baseline of a problem takes.

        Raises:
            InvalidParameter: the baseline is a plan for another problem.
            SearchExhausted: greedy search finds no schedule within the problem's limits.
        """

    @abstractmethod
    def rate_schedule(self, problem: PreparedProblem, state: State, cost: float) -> Rating:
        """Rate the complete schedule of a state, whose cost is known."""

    def prepare(self, problem: PreparedProblem) -> None:
        """Make sure, at the beginning of an episode, that its end can be rated.

        Raises:
            InvalidParameter: the baseline is a plan for another problem.
            SearchExhausted: it is the greedy schedule, and greedy search finds none within the problem's limits.
        """
        if self.baseline == "greedy":
            _ = problem.greedy_cost  # searched for, if nobody has asked for it yet
        else:
            self.baseline_plan(problem)

    def rate(self, problem: PreparedProblem, state: State, cost: float | None = None) -> Rating:
        """Rate a state in which an episode can end: a complete schedule, or a dead end.

        Args:
            problem: that the state is about.
            state: the state.
            cost: of a complete schedule, if it is known already.

        Raises:
            InvalidParameter: decisions can still be made.
            Error: see `baseline_time`.
        """
        if cost is not None or state.is_complete:
            rating = self.rate_schedule(problem, state, state.cost() if cost is None else cost)
            # A dict needs no question to an abstract class, which takes 4 % of a short episode.
            is_rating = (
                isinstance(rating, Rating) and is_number(rating.reward) and isinstance(rating.info, (dict, Mapping))
            )
            if not is_rating or math.isnan(rating.reward):
                raise InvalidParameter(
                    f"{type(self).__name__}.rate_schedule returned {shown(rating)}: return a Rating(reward, info) of a "
                    "number, which NaN is not, and a mapping"
                )
            return rating
        if len(state.expand()) > 0:
            raise InvalidParameter(
                f"the schedule of {problem.problem.name!r} is not complete: decisions are still to be made; rate the end of "
                "an episode"
            )
        baseline = self.baseline_time(problem) if self.form == "inverse_time" else 1.0
        return Rating(reward_of(baseline / DEAD_END_SPEEDUP, baseline, self.form), {})

    def rate_all(
        self, problems: Sequence[PreparedProblem], states: Sequence[State], costs: Sequence[float | None]
    ) -> tuple[list[float], list[dict[str, Any]]]:
        """Rate the ends of several episodes, one after another: `reward` and `info` of each.

        Raises:
            Error: see `baseline_time`.
        """
        ratings = [self.rate(*end) for end in zip(problems, states, costs, strict=True)]
        return [rating.reward for rating in ratings], [rating.info for rating in ratings]

    def baseline_plan(self, problem: PreparedProblem) -> ScheduledPlan | None:
        """The schedule that is the baseline of a problem; None if the baseline is a time.

        Raises:
            InvalidParameter: the baseline is a plan for another problem.
            SearchExhausted: greedy search finds no schedule within the problem's limits.
        """
        if isinstance(self.baseline, str):
            return _GreedyPlan(problem)
        if isinstance(self.baseline, int | float):
            return None
        if self.baseline.schedule.problem != problem.problem:
            raise InvalidParameter(
                f"The baseline is a plan for {self.baseline.schedule.problem!r}, but the environment schedules "
                f'{problem.problem!r}: use baseline="greedy" for several problems'
            )
        return self.baseline

    def close(self) -> None:  # noqa: B027
        """Free what the reward holds; done by the environment's `close`."""


class _GreedyPlan:
    """The greedy schedule of a problem; made at the end of each episode, so it holds no copies."""

    __slots__ = ("_problem", "cost", "fingerprint")

    def __init__(self, problem: PreparedProblem) -> None:
        self._problem = problem
        self.cost = problem.greedy_cost
        self.fingerprint = problem.fingerprint

    @property
    def schedule(self) -> Schedule:
        return Schedule.from_state(self._problem.problem, self._problem.greedy.state)
