"""What the extension shows of itself; that the stub says the same is checked by `make lint`."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from halidegym.native.weights import builtin_weights, weights_hash


def described() -> Iterator[tuple[str, Any]]:
    for name, value in vars(_core).items():
        if inspect.isclass(value):
            for attribute, member in vars(value).items():
                yield f"{name}.{attribute}", member.fget if isinstance(member, property) else member
        else:
            yield name, value


def signatures() -> dict[str, list[str]]:
    """The lines in which pybind11 describes functions, methods and properties."""
    texts = {name: getattr(value, "__doc__", None) or "" for name, value in described()}
    return {name: [line for line in text.splitlines() if " -> " in line] for name, text in texts.items()}


def test_functions_name_python_types() -> None:
    """Of a type that is not bound, or not yet, there is only the name in C++; a value of it cannot be returned."""
    lines = signatures()
    assert lines["State.nest"][0].endswith("-> halidegym.native._core.LoopNest")
    assert [line for of_one in lines.values() for line in of_one if "::" in line] == []


def test_the_nest_of_a_state_is_what_it_prints() -> None:
    state = Rules().space(toys.problem("toy_blur")).initial_state()
    while not state.is_complete:
        state = state.random_decision(seed=state.num_decisions_made)[1]
        assert isinstance(state.nest, _core.LoopNest)
        assert str(state.nest) == state.dump()
        assert state.nest == _core.LoopNest.parse(state.dump())


def test_values_say_what_they_are_and_not_where_they_lie() -> None:
    space = Rules(memory_limit=1 << 20).space(toys.problem("toy_blur"))
    state = space.initial_state()
    assert repr(space) == "Space('toy_blur', subtiling=True, memory_limit=1048576, max_recompute=8.0)"
    assert repr(state) == f"State('toy_blur', 0 of {state.num_decisions} decisions made)"
    assert repr(state.expand()) == f"Expansion({len(state.expand())} decisions)"
    weights = builtin_weights()
    assert repr(weights) == f"Weights({weights_hash(weights)[:12]})"
    shape = _core.ObservationShape(stages=3, edges=2, loops=4, decisions=16)
    assert repr(shape) == "ObservationShape(stages=3, edges=2, loops=4, decisions=16, child_features=False)"
    found = _core.random_search(space, _core.RandomSearchOptions(), max_evaluations=1).solutions[0]
    assert repr(found) == f"Solution(cost={found.cost}, state={found.state!r})"
    tree = _core.SyntheticTree(branching=2, depth=3, delta=1.5, seed=4)
    assert repr(tree) == "SyntheticTree(branching=2, depth=3, delta=1.5, seed=4)"
    assert repr(tree.root()) == "SyntheticNode(depth=0, cost=0.0, path_cost=0.0)"
    transforms = _core.TransformSpace(16, space="wide", order="first", lanes=(1, 2), context=0.5)
    assert repr(transforms) == "TransformSpace(16, space='wide', order='first', lanes=(1, 2), context=0.5)"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_all_protocols_pickle_what_can_be_pickled_and_refuse_the_rest(protocol: int) -> None:
    space = Rules().space(toys.problem("toy_blur"))
    shape = _core.ObservationShape(stages=3, edges=2, loops=4, decisions=16)
    for value in (space.initial_state(), builtin_weights(), shape, _core.SyntheticTree(branching=2, depth=3)):
        assert repr(pickle.loads(pickle.dumps(value, protocol))) == repr(value)
    with pytest.raises(TypeError, match=r"cannot pickle '.*Expansion' object"):
        pickle.dumps(space.initial_state().expand(), protocol)
