"""Several policies that draw schedules by lot."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from halidegym.agents import PolicyAgent
from halidegym.agents.learned.policies import load_network
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import GuidanceOptions, GuidedSpace, InvalidParameter, Policy, SgbsOptions, State, sgbs
from policies_for_tests import untrained_policy

pytest.importorskip("torch")


def test_each_draws_whole_schedules(policy: Path) -> None:
    """At a temperature of 0 each has one schedule only."""
    blur = toys.problem("toy_blur")
    several = (policy, "default")
    own = [PolicyAgent(policy=each, samples=1, temperature=0).plan(blur).actions for each in several]
    assert own[0] != own[1]
    agent = PolicyAgent(policy=several, samples=1, temperature=0)
    drawn = Counter(agent.plan(blur, seed=seed).actions for seed in range(200))
    assert set(drawn) == set(own)
    assert min(drawn.values()) >= 65  # five standard deviations below a half


def test_they_prefer_by_the_mean_of_their_probabilities(policy: Path, tmp_path: Path) -> None:
    """Where one step is left, a simulation-guided beam rates what is likeliest by it, and what one of them likes most."""
    space = Rules().space(toys.problem("toy_pointwise"))
    several = [Policy(load_network(path), space) for path in (policy, untrained_policy(tmp_path, seed=4))]
    state = space.initial_state()
    while len(state.expand()) == 1:
        state = state.expand().child(0)
    expansion = state.expand()
    costs = np.array([_completed(expansion.child(action)).cost() for action in range(len(expansion))])
    logits = np.array([each.blind_logits(expansion) for each in several], np.float64)
    shares = np.exp(logits - logits.max(1, keepdims=True))
    likeliest = np.argsort(-(shares / shares.sum(1, keepdims=True)).mean(0), kind="stable")
    favourites = costs[logits.argmax(1)]
    reached = []
    for children in range(1, len(expansion) + 1):
        options = SgbsOptions(beam_size=1, children=children, sampled=False, passes=1)
        cost = sgbs(GuidedSpace(space, several, GuidanceOptions(temperature=0)), options).solutions[0].cost
        assert cost in np.minimum(costs[likeliest[:children]].min(), favourites)
        reached.append(cost)
    assert len(set(reached)) > 4  # whatever is likeliest is not the cheapest


def _completed(state: State) -> State:
    while not state.is_complete:
        (only,) = range(len(state.expand()))
        state = state.expand().child(only)
    return state


def test_an_agent_of_several_is_a_value() -> None:
    agent = PolicyAgent(policy=["default", "seed-1"], samples=2)
    assert agent == PolicyAgent(policy=("default", "seed-1"), samples=2)
    assert "policy=('default', 'seed-1')" in repr(agent)
    assert hash(agent) == hash(dataclasses.replace(agent))


def test_a_policy_among_several_that_is_none_is_refused() -> None:
    for several, message in ([], "has none"), (["default", None], "None is no policy"), ([["default"]], "is no policy"):
        with pytest.raises(InvalidParameter, match=message):
            PolicyAgent(policy=several)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no policy 'nonsense'"):
        PolicyAgent.load(["default", "nonsense"])
