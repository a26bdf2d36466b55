"""The reference autoschedulers behind the `Agent` interface."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import pipelines_for_tests
from halidegym.agents.plan import Plan
from halidegym.agents.reference import Adams2019, AutoschedulerFailed, Li2018, Mullapudi2016, Reference
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.one_off import time_schedule
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.weights import builtin_weights, weights_hash
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=16)


def test_the_plan_of_adams2019(problem: SchedulingProblem) -> None:
    plan = Adams2019(beam_size=4, log_level=1).plan(problem)
    assert plan.result.pass_costs_text == ("0.0387609",) * 5
    assert plan.pass_costs == (0.0387609,) * 5
    assert plan.evaluations == 1381
    assert plan.cost == plan.result.cost
    assert plan.seconds == plan.result.seconds
    assert plan.fingerprint.weights_hash == weights_hash(builtin_weights())
    assert plan.fingerprint.problem_hash == problem.hash
    assert plan.actions == ()
    assert plan.schedule.cpp() == plan.result.schedule_source
    assert "beam_size=4" in plan.agent
    assert pickle.loads(pickle.dumps(plan)).schedule.cpp() == plan.schedule.cpp()


def test_the_seed_is_that_of_the_random_descent(problem: SchedulingProblem) -> None:
    agent = Adams2019(beam_size=1, random_dropout=1)
    costs = {seed: agent.plan(problem, seed=seed).cost for seed in range(4)}
    assert len(set(costs.values())) > 1
    assert agent.plan(problem, seed=3).cost == costs[3]
    fixed = Adams2019(beam_size=1, random_dropout=1, random_dropout_seed=3)
    assert fixed.plan(problem, seed=0).cost == costs[3]


@pytest.mark.parametrize("agent", [Adams2019(beam_size=1), Mullapudi2016(), Li2018()], ids=lambda agent: agent.name)
def test_the_schedule_can_be_compiled_and_timed(agent: Reference, problem: SchedulingProblem) -> None:
    plan = agent.plan(problem)
    assert (plan.cost is None) == (plan.fingerprint.weights_hash is None) == (agent.name != "Adams2019")
    timing = time_schedule(problem, plan.schedule)
    assert timing.outcome == "ok", timing.error
    assert 0 < timing.median_s < 10


def test_a_plan_can_be_written(problem: SchedulingProblem, tmp_path: Path) -> None:
    plan = Adams2019(beam_size=1).plan(problem)
    plan.save(tmp_path / "plan.json")
    document = json.loads((tmp_path / "plan.json").read_text())
    assert document["cost"] == plan.cost
    assert document["schedule"]["cpp"] == plan.schedule.cpp()
    assert document["schedule"]["loop_nest"] == plan.loop_nest
    assert plan.loop_nest.startswith("realize: out")
    with pytest.raises(FormatError):
        Plan.load(tmp_path / "plan.json", problem)


def test_budgets(problem: SchedulingProblem) -> None:
    with pytest.raises(AutoschedulerFailed, match=r"did not finish within 0\.01 s"):
        Adams2019().plan(problem, seconds=0.01)
    with pytest.raises(InvalidParameter, match="cannot stop after a number of evaluations"):
        Adams2019().plan(problem, evaluations=100)


def test_the_problem_stays_as_it_was(problem: SchedulingProblem) -> None:
    Li2018().plan(problem)
    assert Adams2019(beam_size=1).plan(problem).evaluations == 104
