"""Decisions in numbers say what they say in words."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import Decision, Expansion, InvalidParameter
from oracle.builder_problem import SSE_AVX2


def expansions(pipeline: str, walks: int) -> Iterator[Expansion]:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL[pipeline](), target=SSE_AVX2, parallelism=2)
    rng, space = random.Random(0), Rules().space(problem)
    for _ in range(walks):
        state = space.initial_state()
        while not state.is_complete and (expansion := state.expand()):
            yield expansion
            state = expansion.child(rng.randrange(len(expansion)))


@pytest.mark.parametrize("pipeline", ["stencil3", "mm", "several_updates"])
def test_codes_and_sizes_are_what_the_words_say(pipeline: str) -> None:
    kinds, levels = set[str](), dict[int, str]()
    for expansion in expansions(pipeline, walks=4):
        codes, sizes = expansion.sizes()
        assert codes.shape == (len(expansion), 4) and sizes.shape[:2] == (len(expansion), 3)
        for index, ((kind, level, depth, vector_dim), tuples) in enumerate(zip(codes.tolist(), sizes, strict=True)):
            words = expansion.describe(index)
            kinds.add(words["kind"])
            assert Decision.KINDS[kind] == words["kind"]
            assert levels.setdefault(level, words.get("level", "")) == words.get("level", "")
            assert (depth, vector_dim) == (words.get("depth", -2), words.get("vector_dim", -2))
            for row, key in zip(tuples, ("outer_tile", "inner_tile", "tasks"), strict=True):
                told = words.get(key, ())
                assert tuple(row[: len(told)]) == told and not row[len(told) :].any()
        if len(expansion):
            assert sizes.shape[2] == max(np.count_nonzero(sizes, axis=2).max(), 0)
    assert len(levels) == len(set(levels.values())) > 1 and levels[-2] == "" and levels.get(-1) == "root"
    assert {"compute_at_tile", "parallelize"} <= kinds


def test_a_decision_is_found_by_its_value() -> None:
    first, second, *_ = expansions("stencil3", walks=1)
    assert [first.index_of(first.decision(index)) for index in range(len(first))] == list(range(len(first)))
    parallelize = next(e for e in expansions("stencil3", walks=1) if e.describe(0)["kind"] == "parallelize")
    with pytest.raises(InvalidParameter, match="is not legal here"):
        first.index_of(parallelize.decision(0))
    assert second.index_of(second.decision(0)) == 0
