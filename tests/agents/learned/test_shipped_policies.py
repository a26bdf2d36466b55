"""The policies that come with the package."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import geometric_mean

import pytest

from halidegym.agents import learned
from halidegym.agents.agent import Agent
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.policies import load_policy, shipped_policies
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.pipelines import generated, names
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem

POLICIES = shipped_policies()


def test_there_is_a_default() -> None:
    assert "default" in POLICIES


@pytest.mark.parametrize("name", POLICIES)
def test_it_is_small_and_learned_from_no_test_pipeline(name: str) -> None:
    path = Path(learned.__file__).parent / "shipped" / f"{name}.npz"
    assert path.stat().st_size < 2_000_000
    story = json.dumps(dict(load_policy(name).training))
    assert "recipe" in story
    tests = {pipeline for pipeline in names() if not pipeline.startswith("toy")} | {"random-test"}
    assert not [test for test in tests if f'"{test}' in story]


def test_it_schedules_pipelines_that_it_has_not_seen_better_than_greedy_search() -> None:
    drawn, improved = PolicyAgent.load("default", samples=32, shortlist=8), GuidedReplay()
    ratios: dict[str, list[float]] = {"drawn": [], "improved": []}
    for number in (0, 1):
        name = generated.name_of("validation", number)
        problem = load_problem(name, target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=16)
        greedy = cost_of(Greedy(), problem)
        ratios["drawn"].append(cost_of(drawn, problem) / greedy)
        ratios["improved"].append(cost_of(improved, problem) / greedy)
    assert all(geometric_mean(found) < 0.9 for found in ratios.values()), ratios


@pytest.mark.parametrize(("shortlist", "most"), [(0, 2.0), (16, 1.1)])
def test_the_favourites_are_of_use_after_one_draw(shortlist: int, most: float) -> None:
    agent = PolicyAgent.load("default", samples=1, temperature=0, shortlist=shortlist)
    ratios = list[float]()
    for number in range(102, 114):
        name = generated.name_of("validation", number)
        problem = load_problem(
            name, target="x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", parallelism=16
        )
        ratios.append(cost_of(agent, problem) / cost_of(Greedy(), problem))
    assert geometric_mean(ratios) < most, ratios


def cost_of(agent: Agent, problem: SchedulingProblem) -> float:
    cost = agent.plan(problem).cost
    assert cost is not None
    return cost
