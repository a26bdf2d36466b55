"""Dynamic programming over the problems of a transform: how FFTW plans."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget, EndedBy
from halidegym.agents.interrupts import interruptible
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import AnySpace, SpaceSolution
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.timers import Timer
from halidegym.native._core import InvalidParameter, TransformProblem, TransformSpace, TransformState
from halidegym.native.checks import check_at_least, check_positive, check_present, shown


class WaysTimer(Protocol):
    """What times ways to do one problem, such as a `TransformTimer`."""

    def race_ways(
        self, problem: TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float, seed: int = 0
    ) -> list[list[float]]:
        """Microseconds of sub-plans of one problem in each round; on record, those of one seed."""


@dataclass(frozen=True)
class DynamicProgramming(Agent):
    """Dynamic programming, as FFTW's planner does it (Frigo and Johnson 2005, "The design and implementation of FFTW3").

    Plans all problems from the smallest up: of each, every step is tried with the best sub-plans found for what it leaves,
    and is timed alone. That takes a measurement for each pair of a problem and a step, however many plans there are; and it
    is exact if a sub-plan takes as long in any plan as it takes alone. Many rounds are *careful*; one round with few runs is
    *quick*, and finds another plan each time.

    A `TransformTimer` with a database records what is timed, under the seed of the search: so another seed measures anew,
    and a `TransformReplay` in the timer's place repeats a search bit for bit.

    Only for `TransformSpace`s. `evaluations` of its solution counts the ways that were timed; one that was the only way to
    do its problem is none.

    Attributes:
        rounds: samples of each way; the ways of a problem take turns, and the least counts, as disturbances only add.
        samples_s: seconds that a sample runs.
        radix_limit: largest radix of a split that is tried; where a problem has no other step, all are.
        timer: what times ways: a `TransformTimer` or a `TransformReplay`; None for the model of the space.
    """

    rounds: int = 5
    samples_s: float = 1e-4
    radix_limit: int = 64
    timer: WaysTimer | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_at_least(1, **check_present(rounds=self.rounds))
        check_at_least(2, **check_present(radix_limit=self.radix_limit))
        check_positive(**check_present(samples_s=self.samples_s))
        if self.timer is not None and not callable(getattr(self.timer, "race_ways", None)):
            raise InvalidParameter(
                f"timer={shown(self.timer)} times no ways; give a TransformTimer or a TransformReplay"
            )

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        """Refuse: schedules have no problems that are met again.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter(f"{self.name} plans transforms only: call solve with a TransformSpace")

    def search_space(
        self,
        space: AnySpace,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        measure: Callable[[Any], float] | None = None,
    ) -> SpaceSolution:
        """Do what `solve` does; see `Agent.search_space`.

        Budgets, Ctrl-C and the callback end it with what is best by the model for the rest.
        """
        if not isinstance(space, TransformSpace):
            raise InvalidParameter(
                f"{self.name} needs a TransformSpace, not a {type(space).__name__}: other spaces have no problems that are "
                "met again; take BeamSearch() or TAG()"
            )
        start = time.perf_counter()
        ways: list[str] = []
        evaluations = expansions = 0
        ended_by: EndedBy = "finished"
        with interruptible(on_progress) as go_on:
            for index in range(space.num_problems):
                spent = {"evaluations": evaluations, "expansions": expansions, "measurements": evaluations}
                if ended_by == "finished" and not go_on(0, index, evaluations, expansions, math.inf):
                    ended_by = "interrupt"
                elif ended_by == "finished" and budget.is_used_up(seconds=time.perf_counter() - start, **spent):
                    ended_by = "budget"
                expansions += ended_by == "finished"
                candidates = self._candidates(space, index, ways)
                if len(candidates) == 1:
                    ways.append(candidates[0])
                    continue
                times = self._times(space, index, candidates, seed, by_model=ended_by != "finished")
                evaluations += len(candidates) if ended_by == "finished" else 0
                ways.append(candidates[times.index(min(times))])
        state = space.state(ways[-1])
        cost = space.cost(state)
        seconds = time.perf_counter() - start
        if cost is None:
            raise InvalidParameter(f"The space does not accept the plan {ways[-1]!r}")
        return SpaceSolution(
            agent=repr(self),
            seed=seed,
            cost=cost,
            state=state,
            candidates=(Candidate(cost=cost, actions=actions_to(space, state)),),
            pass_costs=(),
            evaluations=evaluations,
            distinct_evaluations=evaluations,
            expansions=expansions,
            forwards=0,
            seconds=seconds,
            history=(Improvement(seconds, evaluations, expansions, cost),),
            ended_by=ended_by,
        )

    def _candidates(self, space: TransformSpace, index: int, ways: Sequence[str]) -> list[str]:
        """The steps of a problem with the best sub-plans of what they leave; never none."""
        choices = list(space.choices(index))
        within = [(step, subs) for step, subs in choices if not self._is_beyond(step)]
        return [" ".join([step, *(f"({ways[sub]})" for sub in subs)]) for step, subs in within or choices]

    def _is_beyond(self, step: str) -> bool:
        kind, parameter, *_ = step.split()
        return kind == "split" and int(parameter) > self.radix_limit

    def _times(
        self, space: TransformSpace, index: int, candidates: Sequence[str], seed: int, by_model: bool
    ) -> list[float]:
        if self.timer is None or by_model:
            return [space.model_cost_of(index, candidate) for candidate in candidates]
        turns = self.timer.race_ways(
            space.problem(index), candidates, rounds=self.rounds, sample_s=self.samples_s, seed=seed
        )
        return [min(samples) for samples in turns]


def actions_to(space: TransformSpace, state: TransformState) -> tuple[int, ...]:
    """The decisions that lead to a plan, the first open problem first: per step, the index of the one taken among all."""
    actions, words = [], state.text.replace("(", "").replace(")", "").split()
    steps = []
    while words:
        count = 3 if words[0] == "split" else 2
        steps.append(" ".join(words[:count]))
        words = words[count:]
    at = space.root()
    for step in steps:
        action = space.steps(at).index((0, step))
        actions.append(action)
        at = space.apply(at, action)
    return tuple(actions)
