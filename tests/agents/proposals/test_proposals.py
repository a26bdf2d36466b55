"""Proposals: complete, repeatable, different, and of the kinds that they say."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable

import halide as hl
import pytest

import pipelines_for_tests
from halidegym.agents import proposals
from halidegym.agents.proposals import Proposal
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.keys import schedule_key
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import InvalidParameter, Space


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("harris"), parallelism=2)


@pytest.fixture(scope="module")
def space(problem: SchedulingProblem) -> Space:
    return Rules().space(problem)


@pytest.fixture(scope="module")
def single() -> SchedulingProblem:
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x
    f.set_estimates([(0, 256)])
    return SchedulingProblem.from_pipeline(f, parallelism=2)


def some(drawn: Iterable[Proposal], count: int = 8) -> list[Proposal]:
    return list(itertools.islice(drawn, count))


def base(space: Space) -> Proposal:
    return next(proposals.beam_winners(space, widths=(8,)))


STREAMS: dict[str, Callable[[Space, int], Iterable[Proposal]]] = {
    "random": proposals.random_walks,
    "careless": proposals.careless_descents,
    "dropout": proposals.dropout_descents,
    "neighbour": lambda space, seed: proposals.neighbours(base(space), seed),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_are_repeatable_and_lead_where_their_actions_do(space: Space, kind: str) -> None:
    first, again, other = (some(STREAMS[kind](space, seed)) for seed in (3, 3, 4))
    assert [drawn.actions for drawn in first] == [drawn.actions for drawn in again]
    assert [drawn.actions for drawn in first] != [drawn.actions for drawn in other]
    for drawn in first:
        assert drawn.kind == kind
        assert drawn.state.is_complete
        assert drawn.parallelism == 2
        assert proposals.proposal_of(kind, space, drawn.actions).cost == drawn.cost == drawn.state.cost()


def test_a_proposal_of_illegal_decisions_is_refused(space: Space) -> None:
    with pytest.raises(InvalidParameter):
        proposals.proposal_of("own", space, [10**6])


def test_careless_descents_cost_less_than_random_walks(space: Space) -> None:
    careless, random = (some(draw(space, 0), 12) for draw in (proposals.careless_descents, proposals.random_walks))
    assert statistics.median(drawn.cost for drawn in careless) < min(drawn.cost for drawn in random)


def test_a_descent_that_is_never_careless_is_the_greedy_one(space: Space) -> None:
    (careful,) = some(proposals.careless_descents(space, rates=(0,)), 1)
    (greedy,) = some(proposals.beam_winners(space, widths=(1,)), 1)
    assert (careful.actions, greedy.kind) == (greedy.actions, "greedy")


def test_wider_beams_win_first(space: Space) -> None:
    drawn = list(proposals.beam_winners(space))
    assert [proposal.kind for proposal in drawn[:3]] == ["greedy", "beam", "beam"]
    assert drawn[2].cost < drawn[0].cost


def test_neighbours_change_one_decision_and_keep_what_they_can(space: Space) -> None:
    original = base(space)
    decisions = original.state.decisions_made
    for neighbour in some(proposals.neighbours(original), 20):
        changed = [mine != its for mine, its in zip(neighbour.state.decisions_made, decisions, strict=True)]
        assert any(changed)
        assert neighbour.actions[: changed.index(True)] == original.actions[: changed.index(True)]
    # Most decisions stay as they were.
    assert sum(changed) < len(changed) / 2


def test_decisions_about_tasks_are_changed_too(space: Space) -> None:
    original = base(space)
    phases, state = [], space.initial_state()
    for action in original.actions:
        phases.append(state.next_phase)
        state = state.apply(action)
    decisions = original.state.decisions_made
    changed = [
        phases[[mine != its for mine, its in zip(neighbour.state.decisions_made, decisions, strict=True)].index(True)]
        for neighbour in some(proposals.neighbours(original), 40)
    ]
    assert 8 < changed.count("parallelize") < 32


def test_distinct_schedules_end_where_a_problem_has_no_more(single: SchedulingProblem) -> None:
    drawn = list(proposals.distinct(single, proposals.random_walks(Rules().space(single))))
    keys = [schedule_key(single, Schedule.from_state(single, proposal.state)) for proposal in drawn]
    assert 1 < len(set(keys)) == len(keys)


def test_the_only_schedule_has_no_neighbours() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=1)
    space = Rules(memory_limit=0).space(problem)
    for original in some(proposals.random_walks(space), 1):
        assert all(neighbour.actions != original.actions for neighbour in some(proposals.neighbours(original)))


def test_streams_take_turns_until_all_have_ended(space: Space) -> None:
    a, b = some(proposals.careless_descents(space), 3), some(proposals.random_walks(space), 1)
    assert [proposal.kind for proposal in proposals.in_turn(a, b)] == ["careless", "random", "careless", "careless"]


@pytest.mark.parametrize(
    ("proposed", "message"),
    [
        (
            lambda space: proposals.dropout_descents(space, dropouts=()),
            r"dropouts=\(\) leaves nothing to search with; give",
        ),
        (
            lambda space: proposals.dropout_descents(space, dropouts=(101,)),
            "each of dropouts=101 is out of range; give",
        ),
        (lambda space: proposals.careless_descents(space, rates=()), r"rates=\(\) leaves nothing to draw from; give"),
        (lambda space: proposals.careless_descents(space, rates=(0.5, 2)), "each of rates=2 is out of range; give"),
    ],
)
def test_descents_with_no_choice_are_refused(
    proposed: Callable[[Space], Iterable[Proposal]], message: str, space: Space
) -> None:
    """Without an end, as without a dropout, no search would ever begin."""
    with pytest.raises(InvalidParameter, match=message):
        next(iter(proposed(space)))
