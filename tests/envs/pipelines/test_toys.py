"""The toy problems: what they compute, and the record of their optima."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from halidegym.envs import pipelines
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.native._core import FormatError
from halidegym.native.weights import builtin_weights, weights_hash
from pipeline_runs import run

Array = NDArray[np.float32]


def _stencils(a: Array) -> Array:
    for _ in range(3):
        a = a[:-2] + a[1:-1] + a[2:]
    return a


def _rows(a: Array) -> Array:
    return a[:, :-2] + a[:, 1:-1] + a[:, 2:]


def _columns(a: Array) -> Array:
    return a[:-2] + a[1:-1] + a[2:]


def _diamond(a: Array) -> Array:
    root = np.sqrt(a)
    return (root[:-1, :-1] + root[:-1, 1:]) / (root[:-1, :-1] + root[1:, :-1])


# Shape of the input, rows first, and what NumPy makes of it.
EXPECTED: dict[str, tuple[tuple[int, ...], Callable[[Array], Array]]] = {
    "toy_pointwise": ((16, 64, 64), lambda a: (2 * a) ** 2),
    "toy_stencils": ((1030,), _stencils),
    "toy_blur": ((34, 34), lambda a: _columns(_rows(a))),
    "toy_stencil_chain": ((68, 66), lambda a: _columns(_columns(_rows(a)))),
    "toy_scan": ((64, 64), lambda a: np.cumsum(a, axis=0) / a.sum(axis=0)),
    "toy_diamond": ((17, 33), _diamond),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_they_equal_numpy(name: str) -> None:
    shape, compute = EXPECTED[name]
    image = np.random.default_rng(0).uniform(0.5, 1, shape).astype(np.float32)
    expected = compute(image)
    result = run(pipelines.build(name), np.zeros_like(expected), input=image)
    np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_the_matrix_product_equals_numpy() -> None:
    a, b = np.random.default_rng(0).uniform(-1, 1, (2, 32, 32)).astype(np.float32)
    result = run(pipelines.build("toy_mat_mul"), np.zeros_like(a), A=a, B=b)
    np.testing.assert_allclose(result, np.maximum(a @ b, 0), atol=1e-5)


def test_the_histogram_equals_numpy() -> None:
    image = np.random.default_rng(0).integers(0, 256, (256, 256)).astype(np.uint8)
    result = run(pipelines.build("toy_histogram"), np.zeros(256, np.float32), input=image)
    np.testing.assert_allclose(result, np.bincount(image.ravel(), minlength=256) / 65536)


def test_they_are_a_suite_with_optima() -> None:
    assert pipelines.names("toy-v1") == list(toys.BUILDERS) == list(toys.read_optima())


@pytest.mark.parametrize("name", toys.BUILDERS)
def test_the_record_belongs_to_the_problem(name: str) -> None:
    problem, optimum = toys.problem(name), toys.optimum(name)
    assert (problem.name, problem.target, problem.parallelism) == (name, toys.TARGET, toys.PARALLELISM)
    assert optimum.problem_hash == problem.hash
    assert optimum.weights_hash == weights_hash(builtin_weights())
    assert 100 <= optimum.num_schedules <= 1_000_000
    state = Rules().space(problem).initial_state()
    for action in optimum.actions:
        state = state.apply(action)
    assert state.is_complete
    assert state.cost() == optimum.cost
    loop_nest = re.sub(r"\$\d+", "", Schedule.from_actions(problem, Rules(), optimum.actions).loop_nest())
    assert tuple(loop_nest.splitlines()) == optimum.loop_nest


def test_unknown_names_are_rejected() -> None:
    for function in (toys.problem, toys.optimum):
        with pytest.raises(ValueError, match="no toy 'harris': use one of toy_pointwise, "):
            function("harris")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"optima": {"a": {"cost": 1}}}', '{"optima": [1]}'])
def test_a_damaged_record_is_rejected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "optima.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"optima\.json holds no optima .*optima --write"):
        toys.read_optima(path)
