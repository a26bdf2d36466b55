"""The best schedules of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from halidegym.agents import Greedy, Rules
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.proposals import Proposal, distinct, neighbours, proposal_of
from halidegym.envs.pipelines import toys
from halidegym.envs.schedules.schedule import Schedule
from halidegym.evaluation.output import best_schedules as module
from halidegym.evaluation.output.best_schedules import best_schedules


def test_neighbours_are_rated_by_the_weights_of_the_search() -> None:
    weights = example_weights()
    problem = toys.problem("toy_blur")
    plan = Greedy(weights=weights).plan(problem)
    begin = proposal_of("plan", Rules().space(problem, weights), plan.actions)
    around = [begin, *islice(distinct(problem, neighbours(begin, 0)), 64)]
    costs = {Schedule.from_state(problem, near.state).directives: near.state.cost() for near in around}
    best = best_schedules(plan, 4, weights)
    assert [one.cost for one in best] == [costs[one.schedule.directives] for one in best]
    assert [one.cost for one in best] == sorted(one.cost for one in best)


def test_neighbours_that_nearly_all_come_again_are_not_drawn_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, drawn = toys.problem("toy_stencils"), 0

    def hardly_any(begin: Proposal, seed: int) -> Iterator[Proposal]:
        nonlocal drawn
        for new in islice(distinct(problem, neighbours(begin, seed)), 20):
            for _ in range(99):
                drawn += 1
                yield new

    monkeypatch.setattr(module, "neighbours", hardly_any)
    assert len(best_schedules(Greedy().plan(problem), 4)) == 4
    assert drawn <= 4 * 16 * 4
