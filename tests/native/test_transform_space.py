"""Plans of transforms as a space to search: its sizes, its states, its costs."""

from __future__ import annotations

import contextlib
import itertools
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from halidegym.agents import MB2FBS, MCTS, TAG, UCT, BeamSearch, ExhaustiveSearch, Greedy, RandomSearch
from halidegym.native._core import InvalidParameter, OutOfResources, TransformSpace, TransformState

# By size: problems, most steps of a plan, and for "basic" and "lanes" pairs, plans, words, walks; as counted by a program of
# its own, and rounded to two digits.
COUNTS = {
    16: (25, 10, (51, 43, 458, 1.9e3), (80, 672, 2.7e3, 3.7e4)),
    64: (91, 16, (211, 683, 2.2e4, 2.0e6), (341, 5.6e4, 3.9e5, 2.8e8)),
    256: (244, 22, (603, 1.1e4, 1.1e6, 4.5e9), (984, 4.7e6, 5.8e7, 4.5e12)),
    360: (696, 16, (1565, 1.3e4, 7.6e5, 1.1e8), (2322, 2.4e6, 1.9e7, 1.9e10)),
    1000: (311, 16, (672, 4.4e3, 2.5e5, 3.6e7), (1057, 1.1e6, 8.0e6, 8.9e9)),
    1024: (524, 28, (1344, 1.7e5, 5.4e7, 1.7e13), (2191, 4.0e8, 8.4e9, 1.2e17)),
    4096: (959, 34, (2510, 2.8e6, 2.6e9, 1.0e17), (4077, 3.3e10, 1.2e12, 5.3e21)),
    16384: (1561, 40, (4130, 4.5e7, 1.3e11, 8.5e20), (6681, 2.8e12, 1.8e14, 3.2e26)),
    65536: (2331, 46, (6206, 7.1e8, 6.3e12, 9.5e24), (10005, 2.3e14, 2.7e16, 2.6e31)),
}


def all_states(space: TransformSpace) -> set[TransformState]:
    found, open_states = {space.root()}, [space.root()]
    while open_states:
        state = open_states.pop()
        for decision in space.decisions(state):
            child = space.apply(state, decision)
            if child not in found:
                found.add(child)
                open_states.append(child)
    return found


def leaves(space: TransformSpace, state: TransformState) -> int:
    if state.is_complete:
        return 1
    return sum(leaves(space, space.apply(state, decision)) for decision in space.decisions(state))


def random_plan(space: TransformSpace, rng: random.Random) -> Iterator[TransformState]:
    """The states of a random walk, the root included."""
    state = space.root()
    yield state
    while not state.is_complete:
        state = space.apply(state, rng.choice(space.decisions(state)))
        yield state


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("rules", ["basic", "lanes"])
def test_counts(n: int, rules: Any) -> None:
    problems, depth, *counts = COUNTS[n]
    pairs, *sizes = counts[rules == "lanes"]
    space = TransformSpace(n, space=rules)
    assert (space.num_problems, space.max_depth(), space.num_pairs) == (problems, depth, pairs)
    found = [space.count_plans(), space.count_words(), space.count_walks()]
    assert [f"{count:.1e}" for count in found] == [f"{size:.1e}" for size in sizes]


def test_counts_of_the_wide_space() -> None:
    assert (TransformSpace(64, space="wide").num_pairs, TransformSpace(64, space="wide").count_plans()) == (
        5372,
        284_163_594,
    )
    assert [
        (space.num_pairs, f"{space.count_plans():.1e}", space.max_choices)
        for space in (TransformSpace(n, space="wide") for n in (1024, 4096))
    ] == [(115_999, "2.1e+16", 24), (369_822, "1.9e+20", 28)]
    assert (TransformSpace(65536, space="wide").count_plans() or 0) > 2**64


@pytest.mark.parametrize("rules", ["basic", "lanes"])
def test_counts_are_those_of_enumeration(rules: Any) -> None:
    space = TransformSpace(16, space=rules)
    states = all_states(space)
    assert len(states) == space.count_words()
    complete = [state for state in states if state.is_complete]
    assert len(complete) == len({state.text for state in complete}) == space.count_plans()
    if rules == "basic":
        assert leaves(space, space.root()) == space.count_walks()


def test_at_most_so_many_steps_apply() -> None:
    assert [TransformSpace(65536, space=rules).max_choices for rules in ("basic", "lanes")] == [13, 14]


def test_each_space_is_within_the_next() -> None:
    rng = random.Random(0)
    for narrow, wide in [("basic", "lanes"), ("lanes", "wide")]:
        outer = TransformSpace(360, space=wide)  # type: ignore[arg-type]
        for _ in range(50):
            *_, plan = random_plan(TransformSpace(360, space=narrow), rng)  # type: ignore[arg-type]
            assert outer.state(plan.text).text == plan.text


def test_all_orders_of_a_plan_meet_in_one_state() -> None:
    space = TransformSpace(1024, order="any")
    plan = "split 16 inplace (split 4 along (codelet 4) (codelet 4)) (codelet 4)"
    rng = random.Random(0)
    words: dict[str, TransformState] = {}
    for _ in range(200):
        state = space.root()
        while not state.is_complete:
            wanted = [d for d in space.decisions(state) if is_part_of(space.apply(state, d).text, plan)]
            state = space.apply(state, rng.choice(wanted))
            met = words.setdefault(state.text, state)
            assert met == state
            assert hash(met) == hash(state)
            assert space.depth(met) == space.depth(state)
            assert space.cost(met) == space.cost(state)
            assert space.steps(met) == space.steps(state)
        assert state.text == plan
    assert len(words) == 1 + 2 * 5 - 1  # the root alone, and with each of five words of A, with and without B


def is_part_of(text: str, plan: str) -> bool:
    """Whether a partial plan can become a plan."""
    start, *rest = text.split("?")
    if not plan.startswith(start):
        return False
    at = len(start)
    for piece in rest:
        level = 0
        while level >= 0 and at < len(plan):
            level += {"(": 1, ")": -1}.get(plan[at], 0)
            at += level >= 0
        if not plan[at:].startswith(piece):
            return False
        at += len(piece)
    return at == len(plan)


def test_equal_states_have_equal_hashes_children_and_costs() -> None:
    space, rng = TransformSpace(256, order="any"), random.Random(1)
    for _ in range(100):
        for state in random_plan(space, rng):
            again = space.state(state.text)
            assert again == state
            assert hash(again) == hash(state)
            assert [space.hash(again, depth) for depth in range(5)] == [space.hash(state, depth) for depth in range(5)]
            assert space.cost(again) == space.cost(state)
            assert space.steps(again) == space.steps(state)
            assert pickle.loads(pickle.dumps(state)) == state


def test_hashes_look_as_deep_as_they_are_asked_to() -> None:
    space = TransformSpace(1024)
    deep, other = (
        space.state(f"split 16 inplace (split 4 along (codelet 4) (codelet {lanes})) (codelet 4)")
        if lanes
        else space.root()
        for lanes in (4, 0)
    )
    partial = space.state("split 16 inplace (split 4 along (codelet 4) (?)) (codelet 4)")
    assert space.hash(deep, 0) == space.hash(partial, 0) != space.hash(other, 0)
    assert space.hash(deep, 1) == space.hash(partial, 1)
    assert space.hash(deep, 2) != space.hash(partial, 2)


def test_the_first_order_offers_the_first_open_problem() -> None:
    state = "split 16 inplace (split 4 along (?) (codelet 4)) (?)"
    first, any_order = (TransformSpace(1024, order=order) for order in ("first", "any"))
    own, all_of_them = first.steps(first.state(state)), any_order.steps(any_order.state(state))
    assert own == [step for step in all_of_them if step[0] == 0]
    assert {number for number, _ in all_of_them} == {0, 1}


@pytest.mark.parametrize("context", [0.0, 1.0])
def test_decisions_of_the_fallback_inherit_the_cost(context: float) -> None:
    space, rng = TransformSpace(360, context=context), random.Random(2)
    inherited = 0
    for _ in range(50):
        states = list(random_plan(space, rng))
        assert all(state.plan == space.state(state.plan).text for state in states)
        for state in states[:-1]:
            assert space.cost(state) == space.cost(space.state(state.plan))
            for decision in space.decisions(state):
                if space.inherits_cost(state, decision):
                    inherited += 1
                    assert space.cost(space.apply(state, decision)) == space.cost(state)
    assert inherited > 50


@pytest.mark.parametrize("context", [0.0, 0.5, 3.0])
@pytest.mark.parametrize(("n", "rules"), [(16, "basic"), (16, "lanes"), (32, "basic"), (32, "lanes"), (64, "basic")])
def test_the_optimum_is_that_of_exhaustive_search(n: int, rules: Any, context: float) -> None:
    space = TransformSpace(n, space=rules, context=context, order="first")
    found = ExhaustiveSearch().solve(space)
    cost, actions = space.optimum()
    assert found.evaluations == space.count_plans()
    assert found.cost == cost
    state = space.root()
    for action in actions:
        state = space.apply(state, action)
    assert state.is_complete
    assert space.cost(state) == cost


def test_the_context_makes_the_best_parts_a_bad_whole() -> None:
    for n in (64, 1024, 4096):
        additive = TransformSpace(n)
        assert additive.root().model_cost == additive.optimum()[0]
    disturbed = TransformSpace(64, context=1.0)
    assert disturbed.root().model_cost > 1.1 * disturbed.optimum()[0]


@pytest.mark.parametrize(
    "agent",
    [
        TAG(),
        TAG(merge=False),
        UCT(),
        UCT(merge=True),
        MCTS(),
        RandomSearch(),
        BeamSearch(beam_size=256),
        MB2FBS(),
        Greedy(),
    ],
    ids=repr,
)
def test_planners_find_the_optimum(agent: Any) -> None:
    space = TransformSpace(64, order="any", context=1.0)
    found = agent.solve(space, evaluations=20_000)
    assert found.cost == space.optimum()[0]
    state = space.root()
    for action in found.actions:
        state = space.apply(state, action)
    assert state == found.state


def test_another_cost_is_asked_once_a_plan() -> None:
    asked: list[str] = []

    def cost(plan: str) -> float:
        asked.append(plan)
        return float(len(plan))

    space = TransformSpace(16, order="first", cost=cost)
    found = ExhaustiveSearch().solve(space)
    assert found.cost == len("codelet 1")
    ExhaustiveSearch().solve(space)
    assert sorted(asked) == sorted({state.text for state in all_states(TransformSpace(16)) if state.is_complete})
    with pytest.raises(InvalidParameter, match="model's costs only"):
        space.optimum()


def test_what_a_cost_raises_arrives() -> None:
    def cost(plan: str) -> float:
        raise RuntimeError(plan)

    with pytest.raises(RuntimeError, match="codelet 1"):
        RandomSearch().solve(TransformSpace(2, cost=cost), evaluations=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TransformSpace(True), "n=True is out of range"),
        (lambda: TransformSpace(16.0), "n=16.0 is out of range"),  # type: ignore[arg-type]
        (lambda: TransformSpace(1), "from 2 to 65536"),
        (lambda: TransformSpace(131072), "from 2 to 65536"),
        (lambda: TransformSpace(22), "prime factor 11.*nearest sizes are 21 or 24"),
        (lambda: TransformSpace(16, space="huge"), "space='huge' is unknown; give one of basic, lanes, wide"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16, order="last"), "order='last' is unknown; give one of first, any"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16, lanes=(1, 3)), "lanes must be some of 1, 2 and 4"),
        (lambda: TransformSpace(16, lanes=(2, 4)), "with 1 among them"),
        (lambda: TransformSpace(16, lanes=4), "lanes=4"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16, lanes="1"), "lanes='1'; give some of "),  # type: ignore[arg-type]
        (lambda: TransformSpace(16, context="x"), "context='x' is out of range; give a number"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16, context=-1), "context is -1"),
        (lambda: TransformSpace(16, context=float("nan")), "context is"),
        (lambda: TransformSpace(16, cost=3), "cost=3"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16).state("codelet 2"), "position 0.*does not apply.*split 2 inplace"),
        (lambda: TransformSpace(16).state("split 4 inplace (codelet 4) (loop 1 (codelet 1))"), "no step of this space"),
        (lambda: TransformSpace(16).state("split 4 sideways"), "position 8"),
        (lambda: TransformSpace(16).state("split 4 inplace (codelet 4) (codelet 4) x"), "position 40.*complete here"),
        (lambda: TransformSpace(16).state("split 4 inplace (codelet 4"), "position 26.*'\\)'"),
        (lambda: TransformSpace(16).state("split 99999999 inplace"), "number up to 65535"),
        (lambda: TransformSpace(16).apply(TransformSpace(16).root(), 99), "decision 99"),
        (lambda: TransformSpace(16).state(5), "text=5 is out of range; give a text"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16).problem(None), "problem=None is out of range"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16).choices(1.5), "problem=1.5 is out of range"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16).model_cost_of(0, 5), "sub_plan=5 is out of range; give a text"),  # type: ignore[arg-type]
        (lambda: TransformSpace(16).apply(TransformSpace(16).root(), "1"), "decision='1' is out of range"),  # type: ignore[arg-type]
    ],
)
def test_bad_input(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_a_space_that_is_too_wide_is_refused() -> None:
    with pytest.raises(OutOfResources, match="more than 1000000 problems"):
        TransformSpace(60480, space="wide")


def test_texts_are_read_as_they_are_printed() -> None:
    rng = random.Random(3)
    space = TransformSpace(360, space="wide", order="any")
    for _ in range(100):
        *_, plan = random_plan(space, rng)
        assert space.state(plan.text).text == plan.text
        damaged = list(plan.text)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.choice("()? abcdelopst0123456789")
        with contextlib.suppress(InvalidParameter):
            assert space.state("".join(damaged)).text


def test_fewer_lanes_are_a_smaller_space() -> None:
    plans = [TransformSpace(64, space="lanes", lanes=lanes).count_plans() for lanes in ((1,), (1, 2), (1, 2, 4))]
    assert plans == sorted(plans, key=int)  # type: ignore[arg-type]
    *_, plan = random_plan(TransformSpace(64, lanes=(1,)), random.Random(0))
    assert all(part[0] == "1" for part in plan.text.split("codelet ")[1:])
    assert all(a.num_pairs < b.num_pairs for a, b in itertools.pairwise(TransformSpace(n) for n in (16, 64, 256)))
