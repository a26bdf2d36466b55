"""Tuning a library of Fourier transforms by TAG and by dynamic programming, the experiment of de Mesmay et al. (2009).

The paper's library is not published, and no table of its results is available: compare its claims, not digits. They are
that TAG finds plans like those of dynamic programming with a tenth of the measurements, sometimes plans up to 10 % faster,
and at any time the best so far.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from halidegym.agents.agent import Agent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.envs.transform.plan_task import SpaceName
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.evaluation.arguments.transform import order_of
from halidegym.native._core import TransformProblem, TransformSpace

SIZES = (256, 1024, 4096, 16384, 360, 1000)
CAREFUL, QUICK = "DP, careful", "DP, quick"
SHARES = (0.9, 0.95, 0.99)

AGENTS: Mapping[str, Agent] = {
    "random": RandomSearch(),
    "UCT, tree": UCT(),
    "UCT, graph": UCT(merge=True),
    "TAG, tree": TAG(merge=False),
    "TAG, graph": TAG(),
    "beam": BeamSearch(),
}
WITHOUT_SEEDS = (CAREFUL, "beam")


class Costs(Protocol):
    """What the searches are told of plans: a `TransformTimer` or a `TransformReplay`."""

    def cost(self, plan: str) -> float:
        """Microseconds."""


class AllCosts(Costs, Protocol):
    """What dynamic programming is told besides, by the same."""

    def race_ways(
        self, problem: TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float, seed: int = 0
    ) -> list[list[float]]:
        """Microseconds of ways to do one problem, in each round."""


@dataclass(frozen=True)
class Improvement:
    """A plan that was better than all before it in a search.

    Attributes:
        measurements: plans that the search had measured until then, each counted once.
        executed_s: seconds that these measurements ran plans.
        cost: microseconds.
        plan: its text.
    """

    measurements: int
    executed_s: float
    cost: float
    plan: str


@dataclass(frozen=True)
class Search:
    """A search for plans of one size.

    Attributes:
        n: the size.
        agent: its name in `AGENTS`, or `CAREFUL` or `QUICK`.
        seed: of the search.
        measurements: that it took in all.
        executed_s: likewise.
        improvements: in order. Dynamic programming has one, as it has no plan before its end.
    """

    n: int
    agent: str
    seed: int
    measurements: int
    executed_s: float
    improvements: tuple[Improvement, ...]

    def best_after(self, measurements: int) -> Improvement | None:
        """The best plan after so many measurements."""
        done = [improvement for improvement in self.improvements if improvement.measurements <= measurements]
        return done[-1] if done else None


class _Enough(Exception):  # noqa: N818
    """A search has measured what it may."""


class _Watched:
    """Costs, and the improvements of one search that asks for them."""

    def __init__(self, costs: Costs, limit: int) -> None:
        self.improvements: list[Improvement] = []
        self.measurements = 0
        self.executed_s = 0.0
        self._costs = costs
        self._limit = limit

    def cost(self, plan: str) -> float:
        if self.measurements == self._limit:
            raise _Enough
        cost = self._costs.cost(plan)
        self.measurements += 1
        self.executed_s += seconds_of_measurement(cost)
        if not self.improvements or cost < self.improvements[-1].cost:
            self.improvements.append(Improvement(self.measurements, self.executed_s, cost, plan))
        return cost


def search(
    n: int, space: SpaceName, agent: str, seed: int, measurements: int, costs: Costs, lanes: Sequence[int]
) -> Search:
    """Search with one of `AGENTS` until so many different plans were measured, or it comes to its end.

    The space asks for the cost of a plan once, so that what a search counts are different plans. A search that goes on
    meeting the same ones is ended after ten times as many.
    """
    watched = _Watched(costs, measurements)
    order = order_of(AGENTS[agent])
    searched = TransformSpace(n, space=space, order=order, lanes=lanes, cost=watched.cost)
    with contextlib.suppress(_Enough):
        AGENTS[agent].solve(searched, evaluations=10 * measurements, seed=seed)
    return Search(n, agent, seed, watched.measurements, watched.executed_s, tuple(watched.improvements))


def seconds_of_measurement(cost: float) -> float:
    """Seconds that a measurement runs plans: the samples of the plan and of its reference."""
    settings = TransformTimingSettings()
    return 2 * settings.turns * max(settings.sample_s, cost * 1e-6)


def plan_by_dp(n: int, space: SpaceName, name: str, seed: int, costs: AllCosts, lanes: Sequence[int]) -> Search:
    """Plan by dynamic programming, careful or quick."""
    agent = DynamicProgramming(rounds=15 if name == CAREFUL else 1, samples_s=5e-5, timer=costs)
    searched = TransformSpace(n, space=space, order="first", lanes=lanes, cost=costs.cost)
    found = agent.solve(searched, seed=seed)
    executed_s = found.evaluations * agent.rounds * agent.samples_s
    last = Improvement(found.evaluations, executed_s, found.cost, found.state.text)
    return Search(n, name, seed, found.evaluations, executed_s, (last,))


def all_searches(
    n: int,
    space: SpaceName,
    measurements: int,
    seeds: int,
    costs: AllCosts,
    lanes: Sequence[int],
    on_search: Callable[[str], object],
) -> list[Search]:
    """Every search of a size, which is named before it begins: `num_searches` in all."""
    found = []
    for name in (CAREFUL, QUICK, *AGENTS):
        for seed in range(1 if name in WITHOUT_SEEDS else seeds):
            on_search(name)
            is_dp = name in (CAREFUL, QUICK)
            found.append(
                plan_by_dp(n, space, name, seed, costs, lanes)
                if is_dp
                else search(n, space, name, seed, measurements, costs, lanes)
            )
    return found


def num_searches(seeds: int) -> int:
    """How many there are of a size."""
    return sum(1 if name in WITHOUT_SEEDS else seeds for name in (CAREFUL, QUICK, *AGENTS))


@dataclass(frozen=True)
class Row:
    """What the searches of an agent came to.

    Attributes:
        n: the size.
        agent: its name.
        measurements: after so many, or at the end for dynamic programming.
        speed: of the plan, relative to careful dynamic programming's: median over the seeds, by the race of all.
        worst: least over the seeds.
        best: largest.
        executed_s: seconds that plans ran for until this one had been measured, median.
    """

    n: int
    agent: str
    measurements: int
    speed: float
    worst: float
    best: float
    executed_s: float


@dataclass(frozen=True)
class Reached:
    """How many measurements an agent needs to a share of the best known speed.

    Attributes:
        n: the size.
        agent: its name.
        share: of the best speed.
        measurements: median over the seeds, the upper one of an even number; -1 if half of them did not get there.
        seeds: how many did.
    """

    n: int
    agent: str
    share: float
    measurements: int
    seeds: int


def rows(searches: Sequence[Search], budgets: Sequence[int], race: Mapping[str, float]) -> list[Row]:
    """The table of one size, given the cost of all final plans in one race."""
    reference = next(found.improvements[-1] for found in searches if found.agent == CAREFUL)
    table = []
    for agent in dict.fromkeys(found.agent for found in searches):
        own = [found for found in searches if found.agent == agent]
        is_dp = agent in (CAREFUL, QUICK)
        for budget in (max(found.measurements for found in own),) if is_dp else budgets:
            best = [improvement for found in own if (improvement := found.best_after(budget))]
            speeds = [race[reference.plan] / race[improvement.plan] for improvement in best]
            executed = statistics.median(improvement.executed_s for improvement in best)
            table.append(Row(own[0].n, agent, budget, statistics.median(speeds), min(speeds), max(speeds), executed))
    return table


def reached(searches: Sequence[Search], race: Mapping[str, float]) -> list[Reached]:
    """Measurements until shares of the best speed that any search of the size found, by the race where it knows a plan."""
    least = min(race[plan] for plan in finalists(searches, ()))
    table = []
    for agent in dict.fromkeys(found.agent for found in searches):
        own = [found for found in searches if found.agent == agent]
        for share in SHARES:
            counts = sorted(count for found in own if (count := _first(found, least / share, race)) is not None)
            middle = counts[len(own) // 2] if len(counts) > len(own) // 2 else -1
            table.append(Reached(own[0].n, agent, share, middle, len(counts)))
    return table


def _first(found: Search, cost: float, race: Mapping[str, float]) -> int | None:
    hits = (i.measurements for i in found.improvements if race.get(i.plan, i.cost) <= cost)
    return next(hits, None)


def finalists(searches: Iterable[Search], budgets: Iterable[int]) -> list[str]:
    """The plans that enter the race: the best of each search after each budget, and at its end."""
    budgets = tuple(budgets)
    plans = {found.improvements[-1].plan: None for found in searches}
    for found in searches:
        for budget in budgets:
            best = found.best_after(budget)
            if best is not None:
                plans[best.plan] = None
    return list(plans)
