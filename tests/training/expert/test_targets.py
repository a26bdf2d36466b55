"""What a tree search makes of the decisions on its way, as targets."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from halidegym.agents import PolicyGuidedMCTS
from halidegym.agents.learned.policies import load_policy
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native._core import InvalidParameter, MctsResult, Space
from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.expert.improve import improve, tree_targets
from halidegym.training.expert.settings import ImproverSettings
from halidegym.training.imitation.examples import replay

EVALUATIONS = 400


@functools.cache
def space() -> Space:
    return Rules().space(load_problem("harris", parallelism=16))


@functools.cache
def found() -> MctsResult:
    return PolicyGuidedMCTS().search_tree(space(), evaluations=EVALUATIONS)


def test_telling_of_roots_changes_nothing_that_is_found() -> None:
    solved = PolicyGuidedMCTS().solve(space(), evaluations=EVALUATIONS)
    assert [(s.cost, tuple(s.actions)) for s in found().solutions] == [(c.cost, c.actions) for c in solved.candidates]


def test_each_root_tells_the_best_cost_below_the_decisions_tried() -> None:
    state, depth = space().initial_state(), 0
    last = found().pass_solutions[-1]
    assert len(found().roots) == len(found().pass_solutions) > 5
    for root, decided in zip(found().roots, found().pass_solutions, strict=True):
        for action in last.actions[depth : root.depth]:
            state = state.apply(action)
        depth = root.depth
        assert len(set(root.actions)) == len(root.actions) and max(root.actions) < len(state.expand()) > 1
        assert min(root.costs) >= decided.cost > 0
        if last.actions[depth] in root.actions and min(root.costs) == decided.cost:
            assert root.costs[root.actions.index(last.actions[depth])] == decided.cost


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_shares_fall_with_the_best_cost_below(temperature: float) -> None:
    last = found().pass_solutions[-1]
    targets = tree_targets(last, found().roots, temperature)
    assert len(targets) == len(last.actions)
    assert [depth for depth, shares in enumerate(targets) if shares] == [root.depth for root in found().roots]
    for root in found().roots:
        shares, costs = dict(targets[root.depth]), dict(zip(root.actions, root.costs, strict=True))
        assert sum(shares.values()) == pytest.approx(1) and min(shares.values()) >= 0.01
        taken = shares[last.actions[root.depth]]
        for action, share in shares.items():
            if action != last.actions[root.depth]:
                assert share / taken == pytest.approx((costs[action] / last.cost) ** (-1 / temperature))
    assert any(len(shares) > 1 for shares in targets)


@pytest.mark.parametrize("count", [2, 100, 101, 1000])
@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_many_decisions_that_are_as_good_as_each_other_share_what_is_learned(count: int, spread: float) -> None:
    costs, taken = np.linspace(1 + spread, 1, count), count - 1
    last = SimpleNamespace(cost=1.0, actions=[taken])
    root = SimpleNamespace(actions=list(range(count)), costs=costs.tolist(), depth=0)
    (targets,) = tree_targets(last, [root], 1.0)  # type: ignore[arg-type, list-item]
    shares = dict(targets)
    assert list(shares) == sorted(shares) and sum(shares.values()) == pytest.approx(1)
    assert max(shares.values()) == shares[taken] and min(shares.values()) >= 0.01 - 1e-9
    assert len(shares) >= min(count, 95)  # of a hundred, each has a hundredth


def test_a_gumbel_root_has_nothing_to_tell() -> None:
    with pytest.raises(InvalidParameter, match="last candidate alone"):
        PolicyGuidedMCTS(root="gumbel").search_tree(space(), evaluations=10)


def test_examples_of_such_a_plan_show_all_that_has_a_share(tmp_path: Path) -> None:
    settings = ImproverSettings(evaluations=EVALUATIONS, free_schedules=16, shortlist=4)
    problem = TaughtProblem("harris", space().problem.to_bytes(), 2.0, 1.0, (TaughtPlan(1e9, (), "greedy", 0.0),))
    policy = tmp_path / "policy.npz"
    load_policy("default").save(policy)
    hard, soft = (improve(problem, policy, settings, 0, temperature) for temperature in (None, 0.1))
    assert (hard.cost, hard.actions, hard.targets) == (soft.cost, soft.actions, ())
    taught = TaughtProblem("harris", problem.problem, 2.0, 1.0, (soft,))
    examples = replay([taught], candidates=4, loops=8, seed=0)
    shown = examples.states[0].replayed
    choices = [depth for depth, shares in enumerate(soft.targets) if shares]
    depths = np.rint(shown["decided"] * len(soft.actions)).astype(int).tolist()
    for row, depth in enumerate(depths):
        first, end = shown["offsets"][row : row + 2]
        shares = shown["targets"][first:end]
        told = [share for _, share in soft.targets[depth]] or [1.0]
        assert shares[shares > 0] == pytest.approx(told)
        if depth not in choices:
            assert shares.argmax() == shown["taken"][row]
        assert end - first >= min(4, shown["num_legal"][row])


def test_of_decisions_without_a_share_some_are_shown_however_many_have_one() -> None:
    last = found().pass_solutions[-1]
    plan = TaughtPlan(last.cost, tuple(last.actions), "policy", 1.0, tree_targets(last, found().roots, 1.0))
    problem = TaughtProblem("harris", space().problem.to_bytes(), last.cost, last.cost, (plan,))
    examples = replay([problem], candidates=2, loops=8, seed=0)
    told = [len(targets) for targets in plan.targets if targets]
    assert max(told) > 2
    for state, with_share in zip(examples.states, told, strict=True):
        shown = int(np.diff(state.replayed["offsets"])[state.row])
        assert shown > with_share or shown == state.replayed["num_legal"][state.row]
