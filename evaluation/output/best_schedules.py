"""The best schedules of a plan, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from halidegym.agents.plan import Plan
from halidegym.agents.proposals import distinct, neighbours, proposal_of
from halidegym.agents.tuner.plan import Finalist, TunedPlan
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.measurements import milliseconds
from halidegym.native._core import Weights

# Neighbours for each schedule that a search lacks, and how often one is drawn for each of these: many come again.
_NEIGHBOURS, _DRAWS = 16, 4


@dataclass(frozen=True)
class Best:
    """One of the best schedules.

    Attributes:
        schedule: the schedule.
        words: what there is to say of it.
        cost: by the cost model, for the schedule's own number of cores.
    """

    schedule: Schedule
    words: str
    cost: float


def best_schedules(plan: Plan, count: int, weights: Weights | None = None) -> list[Best]:
    """The best schedules, best first, up to `count` different ones.

    Most searches end with few. Where they are too few, the cheapest of some neighbours join, which differ from the plan's
    schedule by a decision and what follows from it.

    Args:
        plan: what the search found.
        count: how many.
        weights: of the cost model that the search went by; None for the built-in ones.
    """
    if isinstance(plan, TunedPlan):
        timed = (Best(finalist.schedule, run_time_words(plan, finalist), finalist.cost) for finalist in plan.finalists)
        return list(islice(_different(timed), count))
    found = list(islice(_different(_candidates(plan)), count))
    if len(found) < count:
        found = sorted([*found, *_neighbours(plan, _NEIGHBOURS * count, weights)], key=lambda best: best.cost)
    return list(islice(_different(found), count))


def fails(plan: TunedPlan) -> bool:
    """Whether its schedule is known not to run, or to compute something else, as all do that were timed."""
    return plan.baseline_time is not None and math.isnan(plan.speedup)


def run_time_words(plan: TunedPlan, finalist: Finalist) -> str:
    """How long a schedule took, and the baseline beside it."""
    if plan.baseline_time is None:
        return "nothing was timed; this is what Adams2019's search found"
    if fails(plan) and plan.measurements == 0:
        return (
            "there was time for nothing but what Adams2019's search found, which this is, and it does not run, or computes "
            "something else than the pipeline; give it longer"
        )
    if fails(plan):
        return (
            "none of the schedules that were timed runs and computes what the pipeline does; this is what Adams2019's "
            "search found, and it does not, either"
        )
    interval = f"[{finalist.low:.2f}, {finalist.high:.2f}]"
    times = f"{milliseconds(finalist.run_time)} ms against {milliseconds(plan.baseline_time)} ms"
    return f"{times}, {finalist.speedup:.2f} {interval} times as fast as {plan.baseline}"


def _by_cost(schedule: Schedule, cost: float) -> Best:
    return Best(schedule, f"cost {cost:.6g}", cost)


def _candidates(plan: Plan) -> Iterator[Best]:
    for candidate in plan.candidates:
        yield _by_cost(plan.schedule_of(candidate), candidate.cost)


def _neighbours(plan: Plan, count: int, weights: Weights | None) -> Iterator[Best]:
    problem = plan.schedule.problem
    begin = proposal_of("plan", plan.rules.space(problem, weights), plan.actions)
    drawn = islice(neighbours(begin, plan.seed), _DRAWS * count)
    for proposal in islice(distinct(problem, drawn), count):
        yield _by_cost(Schedule.from_state(problem, proposal.state), proposal.state.cost())


def _different(schedules: Iterable[Best]) -> Iterator[Best]:
    """Without those whose decisions lead to the same program as better ones'."""
    seen = set()
    for best in schedules:
        if best.schedule.directives not in seen:
            seen.add(best.schedule.directives)
            yield best
