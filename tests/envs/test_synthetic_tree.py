"""SyntheticTree-v0, and the trees themselves against their definition (docs/specification/papers.md, section 2)."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import halidegym  # noqa: F401
from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.synthetic_tree import SyntheticTreeEnv
from halidegym.native._core import InvalidParameter, SyntheticTree


def nodes_at(tree: SyntheticTree, depth: int) -> list[float]:
    """Costs of the nodes alone."""
    level = [tree.root()]
    for _ in range(depth):
        level = [tree.apply(node, decision) for node in level for decision in tree.decisions(node)]
    return [node.cost for node in level]


def leaf_costs(tree: SyntheticTree) -> dict[tuple[int, ...], float]:
    costs = {}
    for path in itertools.product(range(tree.branching), repeat=tree.max_depth()):
        node, total = tree.root(), 0.0
        for decision in path:
            node = tree.apply(node, decision)
            total += node.cost
        costs[path] = total
        assert tree.cost(node) == node.path_cost == total
    return costs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("delta", [0, 0.5, 1, 10])
def test_optimum_is_the_least_of_all_leaves(delta: float, seed: int) -> None:
    tree = SyntheticTree(branching=3, depth=5, delta=delta, seed=seed)
    costs = leaf_costs(tree)
    cost, actions = tree.optimum()
    assert cost == min(costs.values()) == costs[tuple(actions)]


@pytest.mark.parametrize(("depth", "low", "high"), [(0, 0, 0), (1, 0, 1), (3, 0, 3), (6, 0, 6), (7, 7 + 10, 7 + 100)])
def test_costs_are_uniform(depth: int, low: float, high: float) -> None:
    costs = np.array(nodes_at(SyntheticTree(branching=5, depth=7, delta=10, seed=1), depth))
    assert len(set(costs)) == len(costs)
    assert np.all((low <= costs) & ((costs < high) | (high == 0)))
    if depth > 1:  # Kolmogorov and Smirnov's statistic, at 0.1 %
        uniform = np.sort((costs - low) / (high - low))
        gap = np.abs(uniform - (np.arange(len(costs)) + 0.5) / len(costs)).max()
        assert gap < 1.95 / math.sqrt(len(costs))


@pytest.mark.parametrize("other", [{"seed": 1}, {"branching": 3}, {"depth": 7}, {"delta": 99.0}])
def test_nodes_of_another_tree_are_refused(other: dict[str, Any]) -> None:
    tree, node = SyntheticTree(), SyntheticTree(**other).root()
    for method in (tree.is_complete, tree.depth, tree.decisions, tree.cost, lambda node: tree.apply(node, 0)):
        with pytest.raises(InvalidParameter, match="another tree"):
            method(node)
    assert tree.depth(pickle.loads(pickle.dumps(SyntheticTree().root()))) == 0


def test_small_deltas_swap_the_bounds() -> None:
    costs = nodes_at(SyntheticTree(branching=4, depth=4, delta=0.5, seed=1), 4)
    assert min(costs) >= 4.25
    assert max(costs) < 4.5
    assert set(nodes_at(SyntheticTree(branching=4, depth=4, delta=0, seed=1), 4)) == {4}


def test_seeds_make_trees() -> None:
    optima = [SyntheticTree(seed=seed).optimum() for seed in (1, 1, 2)]
    assert optima[0] == optima[1] != optima[2]


def test_beams_expand_as_many_nodes_as_in_the_paper() -> None:
    """Gao et al. 2022, Table 5: beam 256 expands 1109 of the default tree."""
    assert BeamSearch(beam_size=256, passes=1).solve(SyntheticTree()).expansions == 1109


@pytest.mark.parametrize("arguments", [{"branching": 0}, {"depth": 0}, {"delta": -1}, {"delta": math.inf}])
def test_parameters_are_checked(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(arguments))):
        SyntheticTree(**arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=next(iter(arguments))):
        gym.make("SyntheticTree-v0", **arguments)


@pytest.mark.parametrize(
    "arguments", [{"branching": 2.0}, {"depth": "8"}, {"delta": "x"}, {"delta": 1e30}, {"tree_seed": -1}]
)
def test_arguments_of_other_kinds_or_sizes_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=f"{next(iter(arguments))}=.* is out of range"):
        SyntheticTreeEnv(**arguments)


def test_children_beyond_the_last() -> None:
    tree = SyntheticTree(branching=2, depth=1)
    with pytest.raises(InvalidParameter, match="decision 2"):
        tree.apply(tree.root(), 2)
    with pytest.raises(InvalidParameter, match="0 children"):
        tree.apply(tree.apply(tree.root(), 0), 0)


@pytest.mark.parametrize("arguments", [{}, {"branching": 2, "depth": 3, "delta": 0.5}, {"render_mode": "ansi"}])
def test_gymnasium_checks(arguments: dict[str, object]) -> None:
    check_env(gym.make("SyntheticTree-v0", **arguments).unwrapped, skip_render_check=False)


def test_an_episode_along_the_optimum() -> None:
    env = SyntheticTreeEnv(tree_seed=3, render_mode="ansi")
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    observation, _ = env.reset()
    cost, actions = SyntheticTree(seed=3).optimum()
    for action in actions:
        node_cost = observation[2 + action]
        before = observation[1]
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation[1] == pytest.approx(before + node_cost)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info == {"cost": cost, "optimum": cost}
    assert f"path cost {cost:.6g}" in (env.render() or "")
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_the_reward_is_the_accuracy() -> None:
    env = SyntheticTreeEnv(branching=2, depth=3, delta=2, tree_seed=1)
    for path, cost in leaf_costs(env.tree).items():
        env.reset()
        rewards = [env.step(action)[1] for action in path]
        assert rewards[:-1] == [0, 0]
        assert rewards[-1] == env.tree.optimum()[0] / cost <= 1


def test_each_reset_draws_a_tree() -> None:
    env = SyntheticTreeEnv()
    seeds = [env.reset(seed=seed)[0].tolist() and env.tree.seed for seed in (1, None, 1, None)]
    assert seeds[:2] == seeds[2:]
    assert seeds[0] != seeds[1]


@pytest.mark.parametrize(
    "given", [{"seed": -1}, {"seed": 2**64}, {"seed": 1.5}, {"branching": "4"}, {"delta": None}], ids=str
)
def test_arguments_that_are_none_are_named(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=f"^{next(iter(given))}=.* is out of range; give "):
        SyntheticTree(**given)
