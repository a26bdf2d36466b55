"""The policies that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halidegym.agents import learned
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.policies import load_policy, shipped_policies
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.pipelines import generated, names
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


@pytest.mark.parametrize("number", [2, 5])
def test_it_schedules_pipelines_that_it_has_not_seen_better_than_greedy_search(number: int) -> None:
    name = generated.name_of("validation", number)
    problem = load_problem(name, target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=16)
    greedy = Greedy().plan(problem)
    drawn = PolicyAgent.load("default", samples=32, shortlist=8).plan(problem)
    improved = GuidedReplay().plan(problem)
    assert greedy.cost is not None and drawn.cost is not None and improved.cost is not None
    assert drawn.cost <= 1.2 * greedy.cost and improved.cost <= 1.05 * greedy.cost
