"""What decisions say that they make needed of a Func, against the features of their children, and by hand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from replays_for_tests import KINDS, load, plan_of, random_actions

# Where they begin in a row that shows eight loops.
FIRST = 18 + 3 * 8
# Places among the schedule features.
NUM_REALIZATIONS, POINTS_PER_REALIZATION, POINTS_PER_PRODUCTION, POINTS_TOTAL, POINTS_MINIMUM = 0, 2, 3, 4, 5
BYTES_AT_REALIZATION = 11


@pytest.mark.parametrize("name", ["harris", "unsharp", "bilateral_grid", "iir_blur"])
def test_demands_are_what_the_features_of_the_children_say(name: str) -> None:
    """Without a look at the children: their features are the oracle alone."""
    space, seen = Rules().space(load(name)), set[str]()
    for seed in range(3):
        draw, actions = random.Random(seed), random_actions(space, seed)
        rows = _core.replay_rows(space, actions, candidates=10**6)
        state, met = space.initial_state(), 0
        for action in actions:
            expansion = state.expand()
            if len(expansion) > 1:
                first, begin = rows["deciding"][met][0], rows["offsets"][met]
                for k in draw.sample(range(len(expansion)), min(25, len(expansion))):
                    stages, table = expansion.child_features(k)
                    check_demands(
                        rows["decisions"][begin + k][FIRST:],
                        expansion.describe(k),
                        table[stages.tolist().index(first)],
                    )
                    seen.add(expansion.describe(k)["kind"])
                met += 1
            state = expansion.child(action)
    assert seen >= {"compute_at_level", "compute_at_tile", "parallelize"}


def check_demands(row: np.ndarray, about: dict[str, Any], features: np.ndarray) -> None:
    extents, along_vectors, sizes, redundancy, inside = row[:4], row[4], row[5:8], row[8], row[9:]
    if about["kind"] == "parallelize":
        assert not row.any()
        return
    if about["kind"] == "inline":
        assert not extents.any() and not along_vectors and not inside.any()
        assert sizes[1] == 1  # log2(1 + 1)
        return
    told = features[[NUM_REALIZATIONS, POINTS_PER_REALIZATION, BYTES_AT_REALIZATION]]
    np.testing.assert_allclose(sizes, np.log2(1 + told), rtol=1e-6)
    np.testing.assert_allclose(redundancy, np.log2(features[POINTS_TOTAL] / features[POINTS_MINIMUM]), atol=1e-5)
    np.testing.assert_allclose(np.prod(np.exp2(extents[extents > 0].astype(float)) - 1), told[1], rtol=1e-4)
    assert along_vectors == extents[about["vector_dim"]]
    points, redundancy_inside = inside
    if about["kind"] == "compute_at_level":
        assert points == sizes[1] and redundancy_inside == redundancy
    if about["kind"] == "store_at_tile":
        # The inner half computes whole vectors.
        assert np.exp2(points) - 1 <= features[POINTS_PER_PRODUCTION] * (1 + 1e-5)


def test_inlining_demands_a_point_at_each_call() -> None:
    """Of the horizontal blur, which the vertical one calls three times for each of 2048 x 2048 points, two rows more."""
    rows = _core.replay_rows(Rules().space(load("blur")), plan_of("blur").actions, candidates=10**6)
    inlined = rows["decisions"][rows["decisions"][:, KINDS.index("inline")] == 1][0, FIRST:]
    calls, points = 3 * 2048 * 2048, 2048 * 2050
    expected = [0] * 5 + [np.log2(1 + calls), 1, np.log2(1 + 4), np.log2(calls / points), 0, 0]
    np.testing.assert_allclose(inlined, expected, rtol=1e-6)
