"""`_core.problem_rows` and `_core.replay_rows`: each column against what it says, computed here from the problem's parts."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from halidegym.envs.pipelines.generated import name_of
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from replays_for_tests import KINDS, load, plan_of, random_actions

PIPELINES = ["harris", "conv_layer", "bilateral_grid", "iir_blur", name_of("train", 0), "hist", "several_updates"]


def replay(name: str, **options: Any) -> dict[str, np.ndarray]:
    return _core.replay_rows(Rules().space(load(name)), plan_of(name).actions, **options)


def log2_1p(count: float) -> float:
    return float(np.log2(1 + count))


def root_loops(problem: SchedulingProblem, space: _core.Space) -> dict[tuple[int, int], int]:
    """Trip counts at the root by stage id and loop, except of those that are vectorized inside."""
    state = space.initial_state()
    extents: dict[tuple[int, int], int] = {}
    while not state.is_complete:
        expansion = state.expand()
        choices = [k for k in range(len(expansion)) if expansion.describe(k).get("level") == "root"]
        state = expansion.child(choices[0] if choices else len(expansion) - 1)
        for level in state.nest.children:
            stage = next(node.first_stage for node in problem.nodes if node.name == level.func) + level.stage
            vectorized = {child.vectorized_loop for child in level.children}
            for loop, size in enumerate(level.sizes):
                if loop not in vectorized:
                    extents.setdefault((stage, loop), size.count)
    return extents


def affine(low: _core.EdgeBound, high: _core.EdgeBound) -> bool:
    return low.kind == high.kind == "affine" and (low.loop, low.coefficient) == (high.loop, high.coefficient)


@pytest.mark.parametrize("name", PIPELINES)
def test_stages(name: str) -> None:
    problem = load(name)
    space = Rules().space(problem)
    rows = _core.problem_rows(space)["stage_features"]
    assert rows.shape == (len(problem.stages), 24)
    assert rows.dtype == np.float32
    for stage, row in zip(problem.stages, rows, strict=True):
        node = problem.nodes[stage.node]
        extents = np.exp2(row[: min(7, len(stage.loops))].astype(float)) - 1
        assert (extents >= 1 - 1e-6).all()
        assert not row[len(stage.loops) : 7].any()
        if len(stage.loops) <= 7:
            np.testing.assert_allclose(row[7], np.log2(1 + extents.prod()), rtol=1e-5)
        if node.is_output and stage.index == 0 and not node.is_wrapper:
            region = [span.extent for span in node.estimated_region]
            np.testing.assert_allclose(row[: len(region)], np.log2(1 + np.array(region)), rtol=1e-6)
            np.testing.assert_allclose(row[9], log2_1p(math.prod(region)), rtol=1e-6)
        expected = [
            node.bytes_per_point,
            stage.vector_size,
            len(node.outgoing),
            len(stage.incoming),
            problem.parallelism,
        ]
        np.testing.assert_allclose(row[[8, 10, 11, 12, 13]], np.log2(1 + np.array(expected)), rtol=1e-6)
        reductions = sum(loop.rvar for loop in stage.loops)
        flags = [node.is_input, node.is_output, node.is_pointwise, node.is_boundary_condition]
        others = [len(stage.loops), node.dimensions, reductions, *flags, stage.index > 0, stage.reads_image]
        assert row[14:23].tolist() == [float(value) for value in others]
        np.testing.assert_allclose(row[23], node.id / len(problem.nodes), rtol=1e-6)
    assert rows[:, 17:23].any(axis=0).sum() >= 2


def test_extents_are_those_of_the_whole_run() -> None:
    """conv_layer's reduction has more loops than its output, and all Funcs can be at the root."""
    problem = load("conv_layer")
    space = Rules().space(problem)
    rows = _core.problem_rows(space)["stage_features"]
    extents = root_loops(problem, space)
    assert len(extents) >= 9
    for (stage, loop), extent in extents.items():
        np.testing.assert_allclose(rows[stage, loop], log2_1p(extent), rtol=1e-6)


@pytest.mark.parametrize("name", PIPELINES)
def test_edges(name: str) -> None:
    problem = load(name)
    rows = _core.problem_rows(Rules().space(problem))
    last = {node.id: node.first_stage + node.num_stages - 1 for node in problem.nodes}
    joins = [[stage.id - 1, stage.id] for stage in problem.stages if stage.index > 0]
    assert rows["edges"].tolist() == [[last[e.producer], e.consumer_stage] for e in problem.edges] + joins
    assert rows["edges"].dtype == np.int32
    features = rows["edge_features"]
    assert features.shape == (len(rows["edges"]), 8)
    assert (features[len(problem.edges) :] == [0, 0, 0, 0, 0, 0, 0, 1]).all()
    for edge, row in zip(problem.edges, features, strict=False):
        ends = list(zip(edge.bounds[::2], edge.bounds[1::2], strict=True))
        constant = [(low, high) for low, high in ends if low.kind == high.kind == "constant"]
        moving = [(low, high) for low, high in ends if affine(low, high)]
        points = math.prod([max(1, high.constant - low.constant + 1) for low, high in constant + moving])
        expected = [
            log2_1p(edge.calls),
            log2_1p(points),
            sum(np.log2(abs(low.coefficient)) for low, _ in moving),
            len(ends) - len(constant) - len(moving),
            len(constant),
            log2_1p(len(edge.jacobians)),
            1,
            0,
        ]
        np.testing.assert_allclose(row, expected, rtol=1e-6)


def test_a_stencil_is_told_by_its_edge() -> None:
    """by reads bx at three rows, and bx reads its producer at three columns."""
    problem = load("blur")
    rows = _core.problem_rows(Rules().space(problem))["edge_features"]
    stencils = [row for edge, row in zip(problem.edges, rows, strict=False) if edge.calls == 3]
    assert len(stencils) == 2
    for row in stencils:
        np.testing.assert_allclose(row[:5], [2, 2, 0, 0, 0])


@pytest.mark.parametrize("name", ["harris", "conv_layer", "hist"])
def test_replayed_states(name: str) -> None:
    problem, actions = load(name), plan_of(name).actions
    rows = replay(name, candidates=5)
    state, met = Rules().space(problem).initial_state(), 0
    for action in actions:
        expansion = state.expand()
        if len(expansion) > 1:
            func = next(node for node in problem.nodes if node.name == state.next_func)
            assert rows["deciding"][met].tolist() == [func.first_stage, func.num_stages]
            assert rows["phase"][met] == ["place", "parallelize"].index(state.next_phase)
            assert rows["decided"][met] == np.float32(state.num_decisions_made / state.num_decisions)
            assert rows["num_legal"][met] == len(expansion)
            begin, end = rows["offsets"][met : met + 2]
            assert end - begin == min(5, len(expansion))
            check_decision(
                rows["decisions"][begin + rows["taken"][met]], expansion.describe(action), problem.parallelism
            )
            met += 1
        state = expansion.child(action)
    assert state.is_complete
    assert met == len(rows["phase"]) == len(rows["offsets"]) - 1
    assert rows["places"].shape == (met, len(problem.stages))


def check_decision(row: np.ndarray, about: dict[str, Any], cores: int, loops: int = 8) -> None:
    assert np.flatnonzero(row[:9]).tolist() == [KINDS.index(about["kind"])]
    assert row[9] == about.get("depth", 0)
    assert row[10] == about.get("vector_dim", -1) + 1
    is_task = about["kind"] == "parallelize"
    outer, inner = about.get("tasks" if is_task else "outer_tile", ()), about.get("inner_tile", ())
    for part, trips in ((1, outer), (2, inner)):
        expected = np.zeros(loops, np.float32)
        expected[: len(trips)] = np.log2(1 + np.array(trips[:loops]))
        np.testing.assert_allclose(row[11 + part * loops : 11 + (part + 1) * loops], expected, rtol=1e-6)
    sums = row[11 + 3 * loops : 18 + 3 * loops]
    np.testing.assert_allclose(sums[1], log2_1p(math.prod(outer)) if outer else 0, rtol=1e-6)
    np.testing.assert_allclose(sums[2], log2_1p(math.prod(inner)) if inner else 0, rtol=1e-6)
    assert sums[3] == bool(inner)
    rounds = math.prod(outer) / cores
    np.testing.assert_allclose(sums[5:], [np.log2(rounds), np.ceil(rounds) - rounds] if is_task else [0, 0], atol=1e-6)
    if outer and not is_task:  # of ceil(size / outer) inside
        sizes = np.rint(np.exp2(row[11 : 11 + len(outer)].astype(float)) - 1)
        np.testing.assert_allclose(sums[0], np.log2(1 + sizes.prod()), rtol=1e-5)
        np.testing.assert_allclose(sums[4], np.log2(1 + np.ceil(sizes / outer).prod()), rtol=1e-5)


def test_all_decisions_are_described() -> None:
    """Of states of random episodes, so that all kinds occur."""
    space = Rules().space(load("harris"))
    seen = set()
    for seed in range(6):
        draw, actions = random.Random(seed), random_actions(space, seed)
        rows = _core.replay_rows(space, actions, candidates=10**6)
        assert (np.diff(rows["offsets"]) == rows["num_legal"]).all()
        state, met = space.initial_state(), 0
        for action in actions:
            expansion = state.expand()
            if len(expansion) > 1:
                assert rows["taken"][met] == action
                begin = rows["offsets"][met]
                for k in draw.sample(range(len(expansion)), min(40, len(expansion))):
                    about = expansion.describe(k)
                    seen.add(about["kind"])
                    check_decision(rows["decisions"][begin + k], about, 16)
                    stage = rows["decision_stage"][begin + k]
                    assert ("root" if stage < 0 else space.problem.stages[stage].name) == about.get("level", "root")
                met += 1
            state = expansion.child(action)
    assert seen >= set(KINDS) - {"pass", "store_at_level_split"}


def test_places_follow_the_decisions() -> None:
    problem = load("harris")
    space, seen = Rules().space(problem), set()
    for seed in range(4):
        actions = random_actions(space, seed)
        rows = _core.replay_rows(space, actions, candidates=1)
        state, met = space.initial_state(), 0
        told: dict[str, str] = {}
        for action in actions:
            expansion, about = state.expand(), state.expand().describe(action)
            if len(expansion) > 1:
                for stage in problem.stages:
                    place = ["undecided", "inlined", "root", "within"][rows["places"][met, stage.id]]
                    assert place == told.get(problem.nodes[stage.node].name, "undecided")
                    seen.add(place)
                met += 1
            if about["kind"] == "inline":
                told[about["func"]] = "inlined"
            elif about["kind"] not in ("pass", "parallelize"):
                at_root = (about["kind"], about["level"]) == ("compute_at_level", "root")
                told[about["func"]] = "root" if at_root else "within"
            state = expansion.child(action)
    assert seen == {"undecided", "inlined", "root", "within"}


@pytest.mark.parametrize("name", ["harris", "conv_layer"])
def test_children_are_those_of_the_expansion(name: str) -> None:
    space, reference = Rules().space(load(name)), 3.5
    rows = replay(name, child_features=True, reference_cost=reference, seed=3)
    everything = replay(name, child_features=True, candidates=10**6)
    assert rows["decision_features"].shape == (len(rows["costs"]), 43)
    met, state = 0, space.initial_state()
    for action in plan_of(name).actions:
        expansion = state.expand()
        if len(expansion) > 1:
            all_costs = expansion.costs()
            begin, end = rows["offsets"][met : met + 2]
            first, last = everything["offsets"][met : met + 2]
            assert everything["costs"][first:last].tobytes() == all_costs.tobytes()
            taken = begin + rows["taken"][met]
            assert rows["costs"][taken] == all_costs[action]
            costs, features = rows["costs"][begin:end], rows["decision_features"][begin:end]
            np.testing.assert_allclose(features[:, 0], np.log(costs / reference), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(features[:, 3], np.log(costs / costs.min()), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(np.exp(features[:, 1]) + np.exp(features[:, 2]), 1, rtol=1e-4)
            stages, table = expansion.child_features(action)
            func = rows["deciding"][met]
            own = (stages >= func[0]) & (stages < func.sum())
            np.testing.assert_allclose(features[taken - begin, 4:], np.log1p(table[own].sum(axis=0)), rtol=1e-6)
            met += 1
        state = expansion.child(action)


def test_the_parts_of_a_cost_are_those_of_the_stages() -> None:
    """The output is placed first, alone: all of the cost is its own. What an inlined Func costs is in its consumer's."""
    rows = replay("harris", child_features=True)
    first = slice(rows["offsets"][0], rows["offsets"][1])
    np.testing.assert_allclose(rows["decision_features"][first, 1], 0, atol=1e-6)
    np.testing.assert_allclose(rows["decision_features"][first, 2], -20)
    assert (rows["decision_features"][:, 1] < -1e-3).any()


def test_candidates_are_drawn_by_the_seed() -> None:
    full = replay("harris", candidates=10**6)
    drawn = [replay("harris", candidates=8, seed=seed) for seed in (0, 0, 1)]
    assert all((drawn[0][key] == drawn[1][key]).all() for key in drawn[0])
    assert not np.array_equal(drawn[0]["decisions"], drawn[2]["decisions"])
    for rows in drawn:
        for met, (begin, end) in enumerate(pairwise(rows["offsets"])):
            first, last = full["offsets"][met : met + 2]
            all_rows = [row.tobytes() for row in full["decisions"][first:last]]
            shown = [all_rows.index(row.tobytes()) for row in rows["decisions"][begin:end]]
            assert shown == sorted(set(shown)) == rows["indices"][begin:end].tolist()
            assert shown[rows["taken"][met]] == full["taken"][met]


def test_what_is_asked_for_is_shown_even_if_it_is_more_than_fits() -> None:
    full, depth_of = replay("harris", candidates=10**6), len(plan_of("harris").actions)
    depths = np.rint(full["decided"] * depth_of).astype(int).tolist()
    wanted: list[list[int]] = [[] for _ in range(depth_of)]
    for depth, legal in zip(depths, full["num_legal"], strict=True):
        wanted[depth] = list(range(0, legal, 3))
    for candidates in (2, 40):
        rows = replay("harris", candidates=candidates, shown=wanted)
        for met, (begin, end) in enumerate(pairwise(rows["offsets"])):
            indices = rows["indices"][begin:end].tolist()
            sure = set(wanted[depths[met]]) | {full["taken"][met]}
            assert sure <= set(indices) and indices[rows["taken"][met]] == full["taken"][met]
            assert len(indices) == max(len(sure), min(candidates, full["num_legal"][met]))


def test_candidates_are_equally_likely() -> None:
    rows = [replay("blur", candidates=4, seed=seed) for seed in range(2000)]
    full = replay("blur", candidates=10**6)
    count, taken = full["num_legal"][0], full["taken"][0]
    index = {row.tobytes(): k for k, row in enumerate(full["decisions"][:count])}
    hits = np.zeros(count)
    for drawn in rows:
        for row in drawn["decisions"][: drawn["offsets"][1]]:
            hits[index[row.tobytes()]] += 1
    assert hits[taken] == 2000
    share = np.delete(hits, taken) / 2000
    np.testing.assert_allclose(share, 3 / (count - 1), atol=5 * np.sqrt(3 / (count - 1) / 2000))


def test_fewer_loops_leave_the_products() -> None:
    few, many = replay("conv_layer", loops=2), replay("conv_layer", loops=8)
    assert few["decisions"].shape[1] == 29 + 3 * 2
    assert np.array_equal(few["decisions"][:, 11 + 3 * 2 :], many["decisions"][:, 11 + 3 * 8 :])
    for part in range(3):
        begin = 11 + part * 8
        kept = many["decisions"][:, begin : begin + 2]
        assert np.array_equal(few["decisions"][:, 11 + 2 * part : 13 + 2 * part], kept)
    assert many["decisions"][:, 11 + 2 : 11 + 8].any()


def test_a_partial_plan_and_an_empty_one() -> None:
    space = Rules().space(load("harris"))
    empty = _core.replay_rows(space, [], child_features=True)
    assert empty["decisions"].shape == (0, 29 + 3 * 8)
    assert empty["offsets"].tolist() == [0]
    assert empty["places"].shape == (0, len(load("harris").stages))
    actions = plan_of("harris").actions
    full, half = replay("harris"), _core.replay_rows(space, actions[: len(actions) // 2])
    met = len(half["phase"])
    assert 0 < met < len(full["phase"])
    assert np.array_equal(half["decisions"], full["decisions"][: full["offsets"][met]])


@pytest.mark.parametrize(
    ("actions", "options", "message"),
    [
        ([10**6], {}, r"action 0 is 1000000, but the state there has \d+ legal decisions"),
        ([-1], {}, "action 0 is -1"),
        (None, {}, "but the state there has 0 legal"),
        ([0], {"candidates": 0}, "candidates=0"),
        ([0], {"loops": 0}, "loops=0"),
        ([0], {"loops": 17}, "1 to 16 loops"),
        ([0], {"reference_cost": 0.0}, "reference_cost=0"),
        ([0], {"reference_cost": float("nan")}, "reference_cost=nan"),
        (None, {"shown": [[10**6]] * 10}, r"is 1000000, but the state there has \d+ legal decisions"),
    ],
)
def test_bad_input(actions: list[int] | None, options: dict[str, Any], message: str) -> None:
    space = Rules().space(load("blur"))
    with pytest.raises(_core.InvalidParameter, match=message):
        _core.replay_rows(space, [*plan_of("blur").actions, 0] if actions is None else actions, **options)
