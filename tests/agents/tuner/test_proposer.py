"""What a tuning run considers measuring, where hardly anything can be drawn, and where drawing takes long."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.agents import Autotune
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.proposals import Proposal, beam_winners, careless_descents, proposal_of
from halidegym.agents.reference.groups import Placement
from halidegym.agents.tuner import moves, proposer
from halidegym.agents.tuner.proposer import Proposer
from halidegym.agents.tuner.trials import Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import SearchExhausted, Space, Weights
from oracle.builder_problem import SSE_AVX2
from timers_for_tests import MadeUpTimes


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=SSE_AVX2, parallelism=2)


@pytest.fixture
def descents(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Space], Proposal]], None]:
    """Puts a way to draw schedules in the place of all descents."""

    def put(draw: Callable[[Space], Proposal]) -> None:
        def endless(space: Space, _seed: int) -> Iterator[Proposal]:
            while True:
                try:
                    yield draw(space)
                except SearchExhausted:
                    return

        monkeypatch.setattr(proposer, "careless_descents", endless)
        monkeypatch.setattr(proposer, "styled_descent", lambda space, _rng: draw(space))
        monkeypatch.setattr(moves, "bold_descent", lambda space, _rate, _rng: draw(space))

    return put


def dead_end(_space: Space) -> Proposal:
    raise SearchExhausted("There is no decision left")


def test_where_all_descents_end_in_dead_ends_what_beams_find_is_proposed(
    blur: SchedulingProblem, descents: Callable[[Any], None]
) -> None:
    descents(dead_end)
    trials, source = Trials(), Proposer([Rules().space(blur)], 0, guide=example_weights())
    assert {proposal.kind for proposal in source.first(trials, 24)} == {"beam", "greedy"}
    assert source.more(trials, 8) == []


def test_dead_ends_do_not_keep_the_other_descents_from_being_proposed(
    blur: SchedulingProblem, descents: Callable[[Any], None]
) -> None:
    good = {cores: careless_descents(Rules().space(blur.with_parallelism(cores))) for cores in (2, 4)}
    attempts = itertools.count()

    def mostly_dead(space: Space) -> Proposal:
        return dead_end(space) if next(attempts) % 4 else next(good[space.problem.parallelism])

    descents(mostly_dead)
    spaces = [Rules().space(blur.with_parallelism(cores)) for cores in (2, 4)]
    proposed = Proposer(spaces, 0, guide=example_weights()).first(Trials(), 24)
    assert 8 <= len(proposed) <= 24
    assert len({proposal.state.dump() for proposal in proposed}) == len(proposed)


def test_groups_come_first_and_come_again(blur: SchedulingProblem) -> None:
    ids = {node.name.split("$")[0]: node.id for node in blur.nodes}
    in_rows = {
        ids["by"]: Placement(vector_dim=0, task_sizes={1: 64}),
        ids["bx"]: Placement(consumer=ids["by"], vector_dim=0),
    }
    asked: list[None] = []

    def groups() -> dict[int, Placement]:
        asked.append(None)
        return in_rows

    trials, source = Trials(), Proposer([Rules().space(blur)], 0, guide=example_weights(), groups=groups)
    assert not asked, "before they are needed"
    kinds = [proposal.kind for proposal in source.first(trials, 24)]
    assert kinds[0] == "grouped" and "grouped" in kinds[8:] and "beam" in kinds and "careless" in kinds
    source.more(trials, 8)
    assert len(asked) == 1


def test_beams_and_descents_go_by_either_model(blur: SchedulingProblem, descents: Callable[[Any], None]) -> None:
    space, guide = Rules().space(blur), example_weights()
    asked: set[Weights] = set()

    def noting(in_space: Space) -> Proposal:
        asked.add(in_space.weights)
        return next(careless_descents(in_space, len(asked)))

    descents(noting)
    favourites = [next(beam_winners(each, widths=(32,))) for each in (space, Rules().space(blur, guide))]
    assert favourites[0].state.dump() != favourites[1].state.dump()
    for second, models in ((space.weights, 1), (guide, 2)):
        asked.clear()
        first = Proposer([space], 0, guide=second).first(Trials(), 12)
        found = {proposal.state.dump(): proposal.cost for proposal in first if proposal.kind == "beam"}
        assert len(found) == len(asked) == models
        for favourite in favourites[:models]:
            known = proposal_of("again", space, favourite.actions)
            assert found[favourite.state.dump()] == known.cost, "of the model that plans name"


@pytest.mark.parametrize("sizes", [{"first": 600}, {"first": 2, "proposals": 600}])
@pytest.mark.parametrize("kind", ["good", "dead ends"])
def test_drawing_ends_with_the_seconds(
    kind: str, sizes: dict[str, int], blur: SchedulingProblem, descents: Callable[[Any], None]
) -> None:
    """And what there is no time to compile any more is not measured, as it would be said to have failed."""
    good = {cores: careless_descents(Rules().space(blur.with_parallelism(cores))) for cores in (2, 4)}

    def slow(space: Space) -> Proposal:
        time.sleep(0.1)
        return next(good[space.problem.parallelism]) if kind == "good" else dead_end(space)

    descents(slow)
    begin = time.perf_counter()
    timer = MadeUpTimes(lambda _schedule: 1e-3)
    plan = Autotune(parallelisms=(2, 4), **sizes).plan(blur, seconds=1, timer=timer)
    assert time.perf_counter() - begin < 10
    assert plan.ended_by == "budget"
    assert plan.measurements is not None and plan.measurements <= min(2, sizes["first"])
