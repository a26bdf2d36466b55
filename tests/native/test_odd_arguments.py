"""What the core is given by mistake is refused, and never read out of bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import halide as hl
import pytest

from halidegym.agents.learned.policies import load_network
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core

c: Any = _core  # whose types forbid what is tried here


def space(name: str = "toy_blur") -> Any:
    return Rules().space(toys.problem(name))


@pytest.mark.parametrize(
    "call",
    [
        lambda: c.problem_rows(None),
        lambda: c.replay_rows(None, [0]),
        lambda: c.random_rollouts(None, 1),
        lambda: c.evaluated_states(None),
        lambda: c.rollout_speed(None),
        lambda: c.estimate_num_schedules(None),
        lambda: c.ObservationShape.of(None),
        lambda: c.Space(None, space().weights),
        lambda: c.Policy(None, space()),
        lambda: c.Policy(load_network("default"), None),
        lambda: c.GuidedSpace(None, None),
        lambda: c.TreeShare(None, c.MctsOptions(), 0, 1),
    ],
)
def test_none_is_no_space(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="incompatible"):
        call()


class Done:
    """A space whose root leaves nothing to decide."""

    def root(self) -> tuple[()]:
        return ()

    def is_complete(self, _: object) -> bool:
        return True

    def depth(self, _: object) -> int:
        return 0

    def max_depth(self) -> int:
        return 1

    def decisions(self, _: object) -> list[int]:
        return []

    def apply(self, state: object, _: int) -> object:
        return state

    def cost(self, _: object) -> float:
        return 1.0

    def hash(self, _: object, __: int) -> int:
        return 0


@pytest.mark.parametrize("search", [c.beam_search, c.mb2fbs])
def test_a_root_that_is_complete_has_nothing_to_search(search: Callable[..., object]) -> None:
    with pytest.raises(_core.InvalidParameter, match="begin with something to decide"):
        search(Done())


class Words:
    """Words of four letters, of which a subclass breaks a promise."""

    def root(self) -> str:
        return ""

    def is_complete(self, word: str) -> bool:
        return len(word) == 4

    def depth(self, word: str) -> int:
        return len(word)

    def max_depth(self) -> int:
        return 8

    def decisions(self, _: str) -> list[Any]:
        return list("abc")

    def apply(self, word: str, letter: Any) -> str:
        return word + str(letter)

    def cost(self, word: str) -> float:
        return 1.0 + sum(map(ord, word)) % 7


class Letter:
    """One that equals nothing but itself."""

    def __init__(self, letter: str) -> None:
        self.letter = letter

    def __str__(self) -> str:
        return self.letter


class NewLetters(Words):
    def decisions(self, _: str) -> list[Any]:
        return [Letter(letter) for letter in "abc"]


class LosesLetters(Words):
    """All of them but one, as soon as a beam has found something."""

    found = False

    def is_complete(self, word: str) -> bool:
        self.found |= len(word) == 4
        return len(word) == 4

    def decisions(self, _: str) -> list[Any]:
        return ["a"] if self.found else ["a", "b"]

    def cost(self, word: str) -> float:
        return 1.0 + word.count("a")


class GoesOn(Words):
    """A word that was complete is not, when it is asked for the tenth time."""

    asked = 0

    def is_complete(self, word: str) -> bool:
        self.asked += len(word) == 4
        return len(word) == 8 or (len(word) == 4 and self.asked < 10)

    def decisions(self, word: str) -> list[Any]:
        return ["a"] if word else ["a", "b"]

    def cost(self, word: str) -> float:
        return 1.0 + len(word)


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (NewLetters(), {"winner": "average"}, "equals none of its decisions.*need an __eq__"),
        (LosesLetters(), {"first_beam": 2}, "has fewer decisions; let decisions"),
        (GoesOn(), {}, "not complete, but was.*is_complete"),
    ],
)
def test_a_space_that_breaks_its_promises_is_found_out(words: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=message):
        c.mcts(words, c.MctsOptions(iterations=20, trees=2, **options))


def test_reports_of_more_trees_than_there_are_are_refused() -> None:
    others = c.TreeShare(space(), c.MctsOptions(trees=300, iterations=3), 0, 1)
    with pytest.raises(_core.InvalidParameter, match="tree of a report=2 is out of range; it must be from 0 to 1"):
        c.mcts(space(), c.MctsOptions(trees=2, iterations=3), trees=lambda order, _: others.search(order))


def test_tree_search_begins_with_a_complete_state_though_all_cost_infinitely_much() -> None:
    endless = c.TransformSpace(64, cost=lambda _: float("inf"))
    found = c.mcts(endless, c.MctsOptions(iterations=5))
    assert all(solution.state.is_complete for solution in found.solutions)
    with pytest.raises(_core.InvalidParameter, match=r"cost\(plan\) is NaN for 'codelet 1'"):
        c.beam_search(c.TransformSpace(8, space="lanes", lanes=[1], cost=lambda _: float("nan")))


def test_states_of_another_transform_are_refused() -> None:
    small, large = (c.TransformSpace(n, order="first") for n in (64, 4096))
    foreign = small.root()
    for call in (large.steps, large.decisions, large.cost, lambda s: large.apply(s, 0), lambda s: large.hash(s, 1)):
        with pytest.raises(_core.InvalidParameter, match="a plan of 64 elements in another space"):
            call(foreign)
    assert large.steps(c.TransformSpace(4096, order="first").root()), "of an equal space"
    view = c.TransformView([large])
    for call in (view.look, lambda s: view.look_at_all([large.root(), s]), lambda s: view.step(s, 0)):
        with pytest.raises(_core.InvalidParameter, match="in none of the spaces that are looked at"):
            call(foreign)
    with pytest.raises(_core.InvalidParameter, match="has none to look at"):
        c.TransformView([])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"loops": 1_431_655_760}, "room for 1431655760 loops"),
        ({"decisions": 102_261_127}, "would have 4294967334 numbers|would have .* numbers"),
        ({"stages": 15_339_169}, "would have 4294967320 numbers"),
        ({"stages": -5}, "make each size at least 1"),
    ],
)
def test_observations_beyond_all_sizes_are_refused(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=message):
        c.ObservationShape(**{"stages": 10, "edges": 30, "loops": 8, "decisions": 64, **sizes})


def test_a_policy_is_of_one_problem() -> None:
    one, other = space("toy_stencils"), space("toy_stencil_chain")
    policy = c.Policy(load_network("default"), one)
    with pytest.raises(_core.InvalidParameter, match="made for another problem"):
        c.GuidedSpace(other, policy)
    with pytest.raises(_core.InvalidParameter, match="made for another problem"):
        c.GuidedSpace(one, [policy, c.Policy(load_network("default"), other)])
    for none in ([], [policy, None]):
        with pytest.raises(_core.InvalidParameter, match="give at least one"):
            c.GuidedSpace(one, none)
    c.GuidedSpace(space("toy_stencils"), policy)


@pytest.mark.parametrize("evaluations", [-1, 2**62 + 1, 2**63 - 1])
def test_evaluations_that_no_episode_can_have_are_refused(evaluations: int) -> None:
    blur = space()
    environment = c.Environment(c.ObservationShape.of(blur))
    with pytest.raises(_core.InvalidParameter, match=f"evaluations={evaluations} is out of range"):
        environment.start(blur.initial_state(), 1.0, evaluations)
    environment.start(blur.initial_state(), 1.0, 2**62)
    environment.step(0)
    assert environment.evaluations > 2**62


def directives_of(of: Any) -> list[Any]:
    state = of.initial_state()
    while not state.is_complete:
        _, state = state.random_decision(seed=state.num_decisions_made)
    return list(state.directives())


def changed(directives: Any, change: Callable[[list[Any]], None]) -> Any:
    """Directives with changed members, as they would come out of a pickle."""
    members = list(directives.__getstate__())
    change(members)
    result = c.StageDirectives.__new__(c.StageDirectives)
    result.__setstate__(tuple(members))
    return result


def with_call(call: tuple[Any, ...]) -> Callable[[list[Any]], None]:
    return lambda members: members.__setitem__(slice(1, 3), ((), (call,)))


@pytest.mark.parametrize("write", [c.schedule_source, c.cpp_statements, c.python_source])
def test_directives_of_another_problem_are_refused(write: Callable[..., object]) -> None:
    one, other = space("toy_stencils"), space("toy_blur")
    assert write(one.problem, directives_of(one))
    with pytest.raises(
        _core.InvalidParameter, match=r"not of 'toy_stencils': .*Give those of one of its own schedules"
    ):
        write(one.problem, directives_of(other))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda members: members.__setitem__(0, -1), "there is no stage -1"),
        (lambda members: members.__setitem__(0, 99), "there is no stage 99"),
        (lambda members: members.__setitem__(1, ((9, 0),)), "has no loop 9"),
        (lambda members: members.__setitem__(1, ((0, 2**30),)), "is not split 1073741824 times"),
        (with_call((1, ((0, 0),), [], 2, 0, -1, None)), "lacks a loop"),
        (with_call((2, ((-1, 0),), [], 0, 0, -1, None)), "has no loop -1"),
        (with_call((9, (), [7], 0, 0, -1, None)), "has no argument 7"),
        (with_call((4, (), [], 0, 0, 99, None)), "there is no stage 99"),
        (with_call((4, (), [], 0, 0, 0, (5, 0))), "has no loop 5"),
    ],
)
def test_directives_that_fit_no_stage_are_refused(change: Callable[[list[Any]], None], message: str) -> None:
    problem = toys.problem("toy_blur")
    directives = [changed(directives_of(space())[0], change)]
    pipeline = problem.pipeline()
    for use in (
        lambda: c.schedule_source(problem.native, directives),
        lambda: c.cpp_statements(problem.native, directives),
        lambda: c.python_source(problem.native, directives),
        lambda: c.apply_schedule(problem.native, directives, pipeline, pipeline),
    ):
        with pytest.raises(_core.InvalidParameter, match=message):
            use()


@pytest.mark.parametrize(
    "call", [(10, (), [], 0, 0, -1, None), (0, (), [], 0, 3, -1, None), (257, (), [], 0, 0, -1, None)]
)
def test_calls_of_no_kind_come_out_of_no_pickle(call: tuple[Any, ...]) -> None:
    with pytest.raises(_core.FormatError, match="no pickled StageDirectives"):
        changed(directives_of(space())[0], with_call(call))


def test_a_schedule_is_applied_to_no_empty_pipeline() -> None:
    problem = toys.problem("toy_blur")
    directives, own, other = directives_of(space()), problem.pipeline(), toys.problem("toy_stencil_chain").pipeline()
    for original, pipeline in ((own, hl.Pipeline()), (hl.Pipeline(), own), (hl.Pipeline(), hl.Pipeline())):
        with pytest.raises(
            _core.InvalidParameter, match=r"not the pipeline that the schedule was made for.*has no outputs"
        ):
            c.apply_schedule(problem.native, directives, original, pipeline)
    with pytest.raises(_core.InvalidParameter, match=r"not the pipeline that the schedule was made for.*has no Func"):
        c.apply_schedule(problem.native, directives, other, other)
