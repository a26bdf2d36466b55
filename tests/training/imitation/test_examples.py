"""Plans replayed into examples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.data.teacher import TeacherSettings, teach
from halidegym.training.imitation.examples import replay

TEACHER = TeacherSettings(
    beam_size=4, beam_evaluations=500, tree_evaluations=500, greedy_evaluations=500, within=0.2, plans=3, weight=0.3, seed=0
)  # fmt: skip


def taught() -> list[TaughtProblem]:
    found = [teach(f"random-train-v1/{n}", TEACHER, "x86-64-linux-avx-avx2-f16c-fma-sse41", 16) for n in (2, 5, 7)]
    return [problem for problem in found if isinstance(problem, TaughtProblem)]


def test_states_are_those_of_the_plans() -> None:
    problems = taught()
    assert len(problems) == 3
    done = list[str]()
    examples = replay(problems, candidates=16, loops=8, seed=0, on_problem=done.append)
    assert sorted(done) == sorted(problem.name for problem in problems)
    position = 0
    for index, problem in enumerate(problems):
        space = problem.space()
        assert len(examples.problems[index]["stage_features"]) == space.problem.num_stages
        for plan in problem.plans:
            state, last_cost = space.initial_state(), 0.0
            for depth, action in enumerate(plan.actions):
                legal = len(state.expand())
                if legal > 1:
                    example = examples.states[position]
                    assert example.problem == index
                    assert example.replayed["num_legal"][example.row] == legal
                    assert examples.relative_costs[position] == pytest.approx(last_cost / problem.greedy_cost)
                    assert examples.weights[position] == np.float32(plan.weight)
                    assert examples.values[position] == pytest.approx(reachable(problem, plan, depth), abs=1e-6)
                    position += 1
                state = state.apply(action)
                if legal > 1:
                    last_cost = state.cost()
    assert position == len(examples)


def reachable(problem: TaughtProblem, plan: TaughtPlan, depth: int) -> float:
    through = [other.cost for other in problem.plans if other.actions[:depth] == plan.actions[:depth]]
    return math.log(min(through) / problem.greedy_cost)


def test_replays_are_equal_for_equal_seeds_and_any_number_of_threads() -> None:
    problems = taught()
    one, two = (replay(problems, candidates=4, loops=8, seed=3, threads=threads) for threads in (1, 2))
    for ours, theirs in zip(one.states, two.states, strict=True):
        assert ours.row == theirs.row
        assert np.array_equal(ours.replayed["decisions"], theirs.replayed["decisions"])


def test_of_no_plans_there_are_no_examples() -> None:
    assert len(replay([], candidates=4, loops=8, seed=0)) == 0
