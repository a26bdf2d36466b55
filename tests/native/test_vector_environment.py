"""`_core.VectorEnvironment`: its environments do what single ones do, in any number of threads."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from halidegym.envs.pipelines import toys
from halidegym.envs.pipelines.generated import name_of
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native import _core


def space(name: str) -> _core.Space:
    problem = load_problem(name, target=toys.TARGET, parallelism=16)
    assert isinstance(problem, SchedulingProblem)
    return Rules().space(problem)


def common_shape(spaces: list[_core.Space], decisions: int, *, child_features: bool = False) -> _core.ObservationShape:
    shapes = [_core.ObservationShape.of(space) for space in spaces]
    return _core.ObservationShape(
        stages=max(shape.stages for shape in shapes),
        edges=max(shape.edges for shape in shapes),
        loops=max(shape.loops for shape in shapes),
        decisions=decisions,
        child_features=child_features,
    )


def check_row(vector: _core.VectorEnvironment, index: int, single: _core.Environment) -> None:
    expected = single.observe()
    for key, array in vector.observation.items():
        assert array[index].tobytes() == expected[key].tobytes(), key
        assert array.dtype == expected[key].dtype
    assert vector.num_legal_decisions[index] == single.num_legal_decisions
    assert vector.evaluations[index] == single.evaluations
    assert vector.terminated[index] == (single.num_legal_decisions == 0)
    assert vector.state(index).decisions_made == single.state.decisions_made
    if single.state.is_complete:
        assert vector.cost[index] == single.end()[1] == single.state.cost()
    else:
        assert np.isnan(vector.cost[index])


@pytest.mark.parametrize(("threads", "child_features"), [(1, False), (2, True), (5, False)])
def test_equal_to_single_environments(threads: int, child_features: bool) -> None:
    """With different problems, references and starts, illegal actions, subsets of decisions, and only some stepping."""
    spaces = [space(name) for name in ("harris", "toy_blur", *(name_of("train", number) for number in range(3)))]
    states = [space.initial_state() for space in spaces for _ in range(3)]
    states.append(states[0].random_decision(0)[1].random_decision(1)[1])
    references = [0.5 + k % 2 for k in range(len(states))]
    shape = common_shape(spaces, decisions=40, child_features=child_features)
    singles = [_core.Environment(shape) for _ in states]
    vector = _core.VectorEnvironment(shape, num_envs=len(states), threads=threads)
    rng = np.random.default_rng(0)
    for episode in range(4):
        # Once more where they began, and then elsewhere: rows show other problems than before.
        if episode % 2 == 0:
            states = [states[k] for k in rng.permutation(len(states))]
            vector.start(states, references)
        else:
            vector.restart(np.ones(len(states), np.bool_))
        for single, state, reference in zip(singles, states, references, strict=True):
            single.start(state, reference)
        while not vector.terminated.all():
            for index, single in enumerate(singles):
                check_row(vector, index, single)
            chosen = ~vector.terminated & (rng.random(len(states)) < 0.7)
            actions = rng.integers(-5, 60, len(states))
            vector.step(actions, chosen)
            for single, action, is_chosen, is_illegal in zip(
                singles, actions.tolist(), chosen, vector.illegal_action, strict=True
            ):
                assert not is_chosen or single.step(action) != is_illegal
        for index, single in enumerate(singles):
            check_row(vector, index, single)


def test_many_episodes_of_a_toy_agree_in_any_number_of_threads() -> None:
    """Long enough for most positions to be looked up."""
    toy = space("toy_blur")
    shape = common_shape([toy], decisions=64)
    vectors = [_core.VectorEnvironment(shape, num_envs=64, threads=threads) for threads in (1, 4)]
    fresh = _core.Environment(shape)
    rng = np.random.default_rng(1)
    for vector in vectors:
        vector.start([toy.initial_state()] * 64)
    for _ in range(200):
        actions = (rng.random(64) * np.minimum(vectors[0].num_legal_decisions, 64)).astype(np.int64)
        for vector in vectors:
            vector.step(actions, np.ones(64, np.bool_))
        for key, array in vectors[0].observation.items():
            assert array.tobytes() == vectors[1].observation[key].tobytes(), key
        assert np.array_equal(vectors[0].cost, vectors[1].cost, equal_nan=True)
        fresh.start(vectors[0].state(0), evaluations=int(vectors[0].evaluations[0]) - 1)
        assert fresh.num_legal_decisions == vectors[0].num_legal_decisions[0]
        check_row(vectors[0], 0, fresh)
        terminated = vectors[0].terminated.copy()
        for vector in vectors:
            vector.restart(terminated)


@pytest.mark.parametrize("child_features", [False, True])
def test_copies_are_equal_and_stay_as_they_are(child_features: bool) -> None:
    """With rows that are over and rows that are not, of different problems, and memory that others had before."""
    spaces = [space("toy_diamond"), space("toy_blur")]
    shape = common_shape(spaces, decisions=64, child_features=child_features)
    count = 8
    vector = _core.VectorEnvironment(shape, num_envs=count, threads=2)
    singles = [_core.Environment(shape) for _ in range(count)]
    rng = np.random.default_rng(3)
    kept: list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]] = []
    assert not any(array.any() for array in vector.copy_observation().values())
    with pytest.raises(_core.InvalidParameter, match="reset"):
        vector.copy_rows(np.ones(count, np.bool_))
    for number in range(40):
        ended = vector.terminated.copy() if number else np.ones(count, np.bool_)
        drawn = [spaces[k].initial_state() for k in rng.integers(2, size=count)]
        vector.start([state if is_chosen else None for state, is_chosen in zip(drawn, ended, strict=True)])
        for single, state, is_chosen in zip(singles, drawn, ended, strict=True):
            if is_chosen:
                single.start(state)
        actions = rng.integers(0, 64, count)
        vector.step(actions, np.ones(count, np.bool_))
        for single, action in zip(singles, actions.tolist(), strict=True):
            single.step(action)
        chosen = vector.terminated | (rng.random(count) < 0.3)
        indices = np.flatnonzero(chosen).tolist()
        rows, batch = vector.copy_rows(chosen), vector.copy_observation()
        for arrays, index in (*zip(rows, indices, strict=True), *((None, index) for index in range(count))):
            expected = singles[index].observe()
            for key, value in expected.items():
                array = batch[key][index] if arrays is None else arrays[key]
                assert array.tobytes() == value.tobytes() and array.dtype == value.dtype, key
                assert array.flags.writeable
            if arrays is not None:
                assert list(arrays) == list(expected)
                kept.append((arrays, expected))
        for array in batch.values():
            array.fill(7)  # the caller's, who lets go of it
        if number % 3 == 0:
            is_kept = rng.random(len(kept)) < 0.5
            for (arrays, _), stays in zip(kept, is_kept, strict=True):
                if not stays:
                    for array in arrays.values():
                        array.fill(7)
            kept = [row for row, stays in zip(kept, is_kept, strict=True) if stays]
            del arrays, rows  # so that nobody has what is not kept
        information = vector.information()
        assert information["action_mask"].sum(axis=1).tolist() == vector.num_legal_decisions.clip(max=64).tolist()
        assert information["decisions_truncated"].tolist() == (vector.num_legal_decisions > 64).tolist()
        for key, array in vector.information(chosen).items():
            assert np.array_equal(array[chosen], information[key][chosen]) and not array[~chosen].any(), key
    for arrays, expected in kept:
        for key, value in expected.items():
            assert arrays[key].tobytes() == value.tobytes(), key
    with pytest.raises(_core.InvalidParameter, match="chosen has 3"):
        vector.copy_rows(np.ones(3, np.bool_))


def test_views_that_are_asked_for_late_show_the_same() -> None:
    toy = space("toy_diamond")
    vectors = [_core.VectorEnvironment(common_shape([toy], 64), num_envs=3) for _ in range(2)]
    early = vectors[0].observation
    for vector in vectors:
        vector.start([toy.initial_state(), toy.initial_state(), None])
        vector.step(np.array([3, 0, 0]), np.array([True, True, False]))
    for key, array in vectors[1].observation.items():
        assert array.tobytes() == early[key].tobytes(), key


def test_arrays_stay_and_are_read_only() -> None:
    toy = space("toy_blur")
    vector = _core.VectorEnvironment(common_shape([toy], 64), num_envs=2)
    observation, cost = vector.observation, vector.cost
    assert observation["decisions"].shape == (2, 64 * vector.shape.descriptor_size)
    assert np.isnan(cost).all()
    vector.start([toy.initial_state()] * 2)
    assert observation["action_mask"].any()
    with pytest.raises(ValueError, match="read-only"):
        cost[0] = 1
    del vector
    assert observation["stage_mask"].all()


def test_errors_name_the_environment() -> None:
    toy, harris = space("toy_blur"), space("harris")
    with pytest.raises(_core.InvalidParameter, match="num_envs=0"):
        _core.VectorEnvironment(common_shape([toy], 64), num_envs=0)
    with pytest.raises(_core.InvalidParameter, match="threads=0"):
        _core.VectorEnvironment(common_shape([toy], 64), num_envs=1, threads=0)
    vector = _core.VectorEnvironment(common_shape([toy], 64), num_envs=3, threads=2)
    everyone = np.ones(3, np.bool_)
    with pytest.raises(_core.InvalidParameter, match=r"environment 0: .*has not begun"):
        vector.step(np.zeros(3, np.int64), everyone)
    with pytest.raises(_core.InvalidParameter, match=r"environment 0: .*reset"):
        vector.restart(everyone)
    with pytest.raises(_core.InvalidParameter, match="environment 1: The problem of 'harris'"):
        vector.start([toy.initial_state(), harris.initial_state(), harris.initial_state()])
    vector.start([None, toy.initial_state(), toy.initial_state()])
    with pytest.raises(_core.InvalidParameter, match="states has 1 elements; give one for each of 3"):
        vector.start([None])
    with pytest.raises(_core.InvalidParameter, match="reference_costs has 2 elements; give one for each of 3"):
        vector.start([None] * 3, [1.0, 1.0])
    with pytest.raises(_core.InvalidParameter, match="environment 1: reference_cost=0"):
        vector.start([None, toy.initial_state(), None], [1.0, 0.0, 1.0])
    with pytest.raises(_core.InvalidParameter, match="actions has 2"):
        vector.step(np.zeros(2, np.int64), everyone)
    while not vector.terminated[2]:
        vector.step(np.zeros(3, np.int64), np.array([False, False, True]))
    before = vector.state(0).decisions_made
    with pytest.raises(_core.InvalidParameter, match="environment 2: no decision is left"):
        vector.step(np.zeros(3, np.int64), everyone)
    assert vector.state(0).decisions_made == before
    with pytest.raises(_core.InvalidParameter, match="no environment 3 of 3"):
        vector.state(3)


def test_flags_and_actions_may_lie_anywhere_and_be_any_byte() -> None:
    """As views of other numbers are; the sanitizer finds what reads them as they are."""
    harris = space("harris")
    vectors = [_core.VectorEnvironment(common_shape([harris], 64), num_envs=3) for _ in range(2)]
    actions = np.array([1, 2, 3])
    odd_actions = np.frombuffer(b"\0" + actions.tobytes(), dtype=np.int64, offset=1)
    odd_chosen = np.array([2, 0, 255], np.uint8).view(np.bool_)
    assert not odd_actions.flags.aligned
    for vector, taken, chosen in zip(
        vectors, (actions, odd_actions), (np.array([True, False, True]), odd_chosen), strict=True
    ):
        vector.start([harris.initial_state()] * 3)
        vector.restart(chosen)
        vector.step(taken, chosen)
    one, other = vectors
    assert one.evaluations.tolist() == other.evaluations.tolist()
    states = [[state.decisions_made for state in vector.states(odd_chosen)] for vector in vectors]
    assert states[0] == states[1] and len(states[0]) == 2
    told = [vector.information(odd_chosen) for vector in vectors]
    assert all(told[0][key].tolist() == told[1][key].tolist() for key in told[0])
    assert [len(vector.copy_rows(odd_chosen)) for vector in vectors] == [2, 2]


def test_calls_of_two_threads_are_refused() -> None:
    harris = space("harris")
    vector = _core.VectorEnvironment(common_shape([harris], 64), num_envs=32, threads=2)
    vector.start([harris.initial_state()] * 32)
    refused: list[str] = []
    start, patience = threading.Barrier(4), time.monotonic() + 30

    def play() -> None:
        start.wait()
        while not refused and time.monotonic() < patience:
            try:
                vector.restart(np.ones(32, np.bool_))
                vector.step(np.zeros(32, np.int64), np.ones(32, np.bool_))
            except _core.Error as error:
                refused.append(str(error))

    players = [threading.Thread(target=play) for _ in range(4)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    assert refused
    assert all("Another thread" in message for message in refused)


LEAVES = """
import os, sys, threading
import numpy as np
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native import _core

space = Rules().space(load_problem("harris", parallelism=16))
least = _core.ObservationShape.of(space)
shape = _core.ObservationShape(stages=least.stages, edges=least.edges, loops=least.loops, decisions=64)
vector = _core.VectorEnvironment(shape, num_envs=64, threads=3)
everyone = np.ones(64, np.bool_)

def play():
    while True:
        vector.start([space.initial_state()] * 64)
        while not vector.terminated.all():
            vector.step(np.zeros(64, np.int64), ~vector.terminated)

if sys.argv[1] == "exit":
    threading.Thread(target=play, daemon=True).start()
    threading.Event().wait(0.2)
else:
    vector.start([space.initial_state()] * 64)
    child = os.fork()
    vector.step(np.zeros(64, np.int64), everyone)
    del vector
    if child:
        assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("how", ["exit", "fork"])
def test_the_process_goes_on_or_ends_in_peace(how: str) -> None:
    """Exits while a thread steps; forks, which leaves the threads behind."""
    # From 3.12 on, Python warns of forks where there are threads.
    program = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", LEAVES, how]
    child = subprocess.run(program, capture_output=True, text=True, check=False, timeout=60)
    assert (child.returncode, child.stderr) == (0, "")
