"""What a policy is judged by, against the same made of the agents' own schedules."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest

from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.training.episodes.judge import JudgedProblem
from halidegym.training.imitation.settings import RolloutSettings
from halidegym.training.validation import SCORE, roll_out, roll_out_blind
from policies_for_tests import untrained_policy

GREEDY, BEAM = (2.0, 5.0), (1.0, 0.5)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_policy(tmp_path_factory.mktemp("policy"), seed=0)


@pytest.fixture(scope="module")
def problems() -> list[JudgedProblem]:
    spaces = [Rules().space(load_problem(name, parallelism=4)) for name in ("toy_blur", "toy_scan")]
    return [JudgedProblem(*costs) for costs in zip(spaces, GREEDY, BEAM, strict=True)]


def logs_of(agent: PolicyAgent, problems: list[JudgedProblem], others: tuple[float, ...]) -> float:
    """The mean logarithm of the ratios to these costs."""
    costs = [agent.solve(problem.space()).cost for problem in problems]
    return statistics.fmean(math.log(cost / other) for cost, other in zip(costs, others, strict=True))


def test_figures_are_geometric_means_of_ratios(policy: Path, problems: list[JudgedProblem]) -> None:
    found = dict(roll_out(policy, problems, RolloutSettings(problems=2, samples=3, shortlist=2)))
    ways = {
        "blind_argmax": PolicyAgent(policy=policy, samples=1, temperature=0),
        "shortlist_argmax": PolicyAgent(policy=policy, samples=1, temperature=0, shortlist=2),
        "blind_best": PolicyAgent(policy=policy, samples=3),
        "shortlist_best": PolicyAgent(policy=policy, samples=3, shortlist=2),
    }
    for name, agent in ways.items():
        for other, costs in (("greedy", GREEDY), ("beam", BEAM)):
            expected = math.exp(logs_of(agent, problems, costs))
            assert found.pop(f"rollouts/{name}_of_{other}") == pytest.approx(expected), name
    best = [logs_of(ways[name], problems, GREEDY) for name in ("blind_best", "shortlist_best")]
    assert found == {SCORE: pytest.approx(statistics.fmean(best))}


def test_blind_policies_are_chosen_by_their_favourites_too(policy: Path, problems: list[JudgedProblem]) -> None:
    found = roll_out_blind(policy, problems, samples=3, temperature=0.5)
    ways = PolicyAgent(policy=policy, samples=1, temperature=0), PolicyAgent(policy=policy, samples=3, temperature=0.5)
    assert found[SCORE] == pytest.approx(statistics.fmean(logs_of(agent, problems, GREEDY) for agent in ways))
