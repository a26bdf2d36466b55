"""The beam that a policy corrects."""

from __future__ import annotations

import pytest

from halidegym.agents import BeamSearch, PolicyBeam
from halidegym.agents.learned.corrected_space import CorrectedSpace
from halidegym.agents.learned.policies import load_network
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import InvalidParameter, Policy, SyntheticTree


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return toys.problem("toy_stencils")


def test_without_weight_it_is_the_beam_by_cost(problem: SchedulingProblem) -> None:
    ours = PolicyBeam(beam_size=4, weight=0).plan(problem)
    theirs = BeamSearch(beam_size=4, passes=1).plan(problem)
    assert (ours.actions, ours.cost, ours.forwards) == (theirs.actions, theirs.cost, 0)


@pytest.mark.parametrize("weight", [0.05, 5.0])
def test_a_plan_is_legal_and_has_the_cost_of_its_schedule(problem: SchedulingProblem, weight: float) -> None:
    agent = PolicyBeam(beam_size=4, weight=weight)
    plan = agent.plan(problem)
    state = Rules().space(problem).initial_state()
    for action in plan.actions:
        state = state.apply(action)
    assert state.is_complete and state.cost() == plan.cost
    assert plan.forwards > 0
    assert plan.actions == agent.plan(problem).actions


def test_the_correction_is_a_power_of_the_probability(problem: SchedulingProblem) -> None:
    space = Rules().space(problem)
    policy = Policy(load_network("default"), space)
    plain, corrected = CorrectedSpace(space, policy, 0.0), CorrectedSpace(space, policy, 0.5)
    at, other = plain.root(), corrected.root()
    while len(plain.decisions(at)) == 1:
        at, other = plain.apply(at, 0), corrected.apply(other, 0)
    shares = [
        (plain.apply(at, i).rank / corrected.apply(other, i).rank) ** 2 for i in plain.decisions(at)
    ]  # probabilities
    assert sum(shares) == pytest.approx(1, rel=1e-4)
    assert corrected.forwards == 1


def test_a_budget_ends_it(problem: SchedulingProblem) -> None:
    plan = PolicyBeam(beam_size=4).plan(problem, evaluations=20)
    assert plan.ended_by == "budget"


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="weight"):
        PolicyBeam(weight=-1)
    with pytest.raises(InvalidParameter, match="beam_size"):
        PolicyBeam(beam_size=0)
    with pytest.raises(InvalidParameter, match="no policy 'nonsense'"):
        PolicyBeam.load("nonsense")
    with pytest.raises(InvalidParameter, match="schedules pipelines only"):
        PolicyBeam().solve(SyntheticTree(branching=2, depth=3))
