"""The passes of a beam search, recorded."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from halidegym.agents.agent import Agent
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mcts import MCTS
from halidegym.envs.sources import load_problem
from halidegym.evaluation.viewing.beam_data import beam_data
from halidegym.evaluation.viewing.beam_record import Pass, beam_passes

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"


def recorded(plan: Plan) -> list[Pass]:
    return list(beam_passes(plan, plan.rules.space(plan.schedule.problem)))  # type: ignore[arg-type, union-attr]


def planned(agent: Agent, pipeline: str = "harris", **budget: int) -> Plan:
    return agent.plan(load_problem(pipeline, target=TARGET, parallelism=8), seed=3, **budget)


@pytest.mark.parametrize(
    ("agent", "pipeline"),
    [
        (BeamSearch(beam_size=8), "harris"),
        (BeamSearch(beam_size=4, passes=2, random_dropout=60), "unsharp"),
        (BeamSearch(beam_size=4, passes=3, threads=2), "toy_diamond"),
        (Greedy(), "harris"),
    ],
    ids=["beam", "dropout", "threads", "greedy"],
)
def test_the_record_is_that_of_the_search(agent: Agent, pipeline: str) -> None:
    plan = planned(agent, pipeline)
    passes = recorded(plan)
    width = getattr(agent, "beam_size", 1)
    assert len(passes) == len(plan.pass_costs)
    expansions = 0
    for one, result in zip(passes, plan.pass_candidates, strict=True):
        assert one.result is not None
        assert tuple(visit.action for visit in reversed(one.result.line[:-1])) == result.actions
        assert one.result.cost == result.cost
        parents = {one.levels[0].kept[0].origin}
        for depth, level in enumerate(one.levels, start=1):
            assert 1 <= len(level.kept) <= width
            assert {visit.origin for visit in level.kept} <= parents
            assert all(visit.depth == depth and visit.cost == visit.origin.costs[visit.action] for visit in level.kept)
            parents = set(level.kept)
        expansions += 1 + sum(len(level.kept) for level in one.levels[:-1])
    assert expansions == plan.expansions


def test_a_first_pass_keeps_the_cheapest_but_for_those_passed_over() -> None:
    first, *_ = recorded(planned(BeamSearch(beam_size=8)))
    passed_over = 0
    for before, level in zip(first.levels, first.levels[1:-1], strict=False):
        dearest = max(visit.cost for visit in level.kept)
        kept = {(visit.origin, visit.action) for visit in level.kept}
        cheaper = {(p, int(a)) for p in before.kept for a in np.flatnonzero(p.costs < dearest)} - kept
        assert all(p.expansion.describe(0)["kind"] == "pass" or (p, a) in level.came_up for p, a in cheaper)
        passed_over += len(cheaper)
    assert passed_over > 0


def test_a_search_that_was_stopped_is_recorded_as_far_as_it_went() -> None:
    plan = planned(BeamSearch(beam_size=8), evaluations=20_000)
    assert plan.ended_by == "budget"
    passes = recorded(plan)
    assert len(passes) == len(plan.pass_costs) + 1
    assert passes[-1].result is None
    data = beam_data(passes, plan.pass_costs)
    assert data["passes"][-1]["cost"] is None and data["passes"][-1]["levels"][-1]["best"] == -1


def test_what_another_search_would_find_is_no_record() -> None:
    assert recorded(planned(MCTS.preset("mcts_0.5s"), "toy_diamond")) == []
    plan = planned(BeamSearch(beam_size=4), "toy_diamond")
    assert len(recorded(plan)) == 5
    for agent in ("BeamSearch(beam_size=3)", "BeamSearch(beam_size=0)", "BeamSearch(beam_size=2**9)", "no agent"):
        assert recorded(dataclasses.replace(plan, agent=agent)) == []


def test_levels_are_told_as_they_were() -> None:
    plan = planned(BeamSearch(beam_size=8))
    passes = recorded(plan)
    data = beam_data(passes, plan.pass_costs)
    for one, told in zip(passes, data["passes"], strict=True):
        line = {visit.depth: visit for visit in one.result.line} if one.result else {}
        before: list[list[object]] = []
        for level in told["levels"]:
            recorded_level = one.levels[level["step"] - 1]
            visits = recorded_level.kept
            assert len(level["kept"]) == len(visits)
            assert visits[level["best"]] is line[level["step"]]
            parents = one.levels[level["step"] - 2].kept if level["step"] > 1 else [visits[0].origin]
            assert level["rated"] == sum(len(parent.expansion) for parent in parents)
            for (parent, family, action, cost, _), visit in zip(level["kept"], visits, strict=True):
                assert (action, cost) == (visit.action, pytest.approx(visit.cost, rel=1e-5))
                assert -1 <= parent < len(before)
                count, left = level["families"][family]
                assert count == len(visit.origin.expansion)
                assert action not in {entry[0] for entry in left}
            before = level["kept"]
        assert told["cost"] == pytest.approx(one.result.cost if one.result else 0, rel=1e-5)
