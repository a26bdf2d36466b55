"""Plans of transforms on NumPy arrays, and what they refuse."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from halidegym.envs.processes.python import python_path
from halidegym.envs.transform.plan import TransformPlan
from halidegym.native import _core
from halidegym.native._core import InvalidParameter

SMALL = "split 4 inplace (codelet 1) (codelet 1)"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (2, "codelet 1"),
        (7, "codelet 1"),
        (64, "codelet 1"),
        (64, SMALL),
        (
            360,
            "split 8 inplace (split 5 across (split 3 along (loop 1 (codelet 1)) (codelet 1)) (codelet 1)) (codelet 1)",
        ),
        (256, "split 16 rows (loop 4 (codelet 1)) (split 4 scratch (codelet 1) (codelet 1))"),
        (256, "split 4 columns (split 8 scratch (codelet 1) (loop 1 (codelet 1))) (codelet 1)"),
    ],
)
def test_a_plan_computes_what_numpy_does(n: int, text: str) -> None:
    plan = TransformPlan(n, text)
    assert plan.check(seed=3) <= 2e-15
    x = np.random.default_rng(0).standard_normal(2 * n).view(np.complex128)
    given, out = x.copy(), np.full(n, np.nan, np.complex128)
    assert plan(x, out=out) is out
    np.testing.assert_array_equal(x, given)
    np.testing.assert_array_equal(out, plan(x))


_SIZES = [24, 256, 1000]
_ALL_SIZES = [64, 256, 360, 1000, 1024, 2401, 4096, 16384, 65536]


@pytest.mark.parametrize("rules", ["basic", "lanes", "wide"])
@pytest.mark.parametrize(
    ("n", "count"),
    [*((n, 50) for n in _SIZES), *(pytest.param(n, 500, marks=pytest.mark.slow) for n in _ALL_SIZES)],
)
def test_random_plans_of_each_space_compute_what_numpy_does(n: int, count: int, rules: str) -> None:
    space = _core.TransformSpace(n, space=rules, lanes=_core.available_lanes())  # type: ignore[arg-type]
    random = np.random.default_rng(n)
    for _ in range(count):
        state = space.root()
        while not space.is_complete(state):
            state = space.apply(state, int(random.choice(space.decisions(state))))
        assert TransformPlan(n, state.text).check() <= 2e-15


def test_plans_are_values() -> None:
    plan = TransformPlan(64, "  split 4   inplace (codelet 1)(codelet 1) ")
    assert plan.text == SMALL
    same = TransformPlan(np.int64(64), SMALL)  # type: ignore[arg-type]
    assert plan == same and hash(plan) == hash(same)
    assert plan != TransformPlan(64, "codelet 1")
    assert pickle.loads(pickle.dumps(plan)) == plan == copy.deepcopy(plan)
    assert plan.flops == 5 * 64 * 6


def test_a_plan_tells_its_problems() -> None:
    plan = TransformPlan(64, "split 4 inplace (loop 1 (codelet 1)) (codelet 1)")
    uses = plan.problems()
    assert [(use.step, use.problem.n, use.problem.columns, use.runs, use.level) for use in uses] == [
        ("split 4 inplace", 64, 1, 1, 0),
        ("loop 1", 16, 4, 1, 1),
        ("codelet 1", 16, 1, 4, 2),
        ("codelet 1", 4, 16, 1, 1),
    ]
    assert plan.describe().splitlines()[2] == "    codelet 1: n=16 is=4 os=1 v=1, 4 times"


def test_a_measurement_has_a_sample_a_round() -> None:
    timing = TransformPlan(64, SMALL).measure()
    assert timing.outcome == "ok" and len(timing.samples_s) == 7
    assert 1e-8 < timing.min_s < 1e-4


@pytest.mark.parametrize(
    ("n", "text", "message"),
    [
        (True, SMALL, "integer"),
        (64.0, SMALL, "integer"),
        ("64", SMALL, "integer"),
        (1, "codelet 1", "at least 2"),
        (131072, "codelet 1", "at most 65536"),
        (1100, "codelet 1", "prime factor 11.*1080 or 1120"),
        (64, None, "text"),
        (64, "", "position"),
        (64, "codelet 3", "codelet 3"),
        (64, "split 4 inplace (codelet 1)", "position"),
        (64, "split 5 inplace (codelet 1) (codelet 1)", "does not apply.*n=64"),
        (64, "split 4 across (codelet 1) (codelet 1)", "does not apply"),
        (64, "codelet 1 codelet 1", "position"),
    ],
)
def test_impossible_plans_are_refused(n: object, text: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        TransformPlan(n, text)  # type: ignore[arg-type]


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    buffer = np.zeros(96, np.complex128)
    return buffer[:64], buffer[32:]


def read_only() -> np.ndarray:
    array = np.zeros(64, np.complex128)
    array.flags.writeable = False
    return array


NUMBERS = np.zeros(64, np.complex128)


@pytest.mark.parametrize(
    ("x", "out", "message"),
    [
        ([0j] * 64, None, "x is no array, but a list"),
        (np.zeros(64), None, "float64"),
        (np.zeros(64, np.complex64), None, "complex64"),
        (np.zeros(63, np.complex128), None, "shape"),
        (np.zeros((1, 64), np.complex128), None, "shape"),
        (np.zeros(128, np.complex128)[::2], None, "contiguous"),
        (np.zeros(64, np.dtype(np.complex128).newbyteorder()), None, "complex128|elements"),
        (NUMBERS, np.zeros(65, np.complex128), "out has the shape"),
        (NUMBERS, NUMBERS, "overlaps"),
        (*overlapping(), "overlaps"),
        (NUMBERS, read_only(), "read-only"),
    ],
)
def test_arrays_of_other_kinds_are_refused(x: object, out: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        TransformPlan(64, SMALL)(x, out=out)  # type: ignore[arg-type]


def run_with_lanes(lanes: str, code: str) -> str:
    environment = {**os.environ, "HALIDEGYM_LANES": lanes, **python_path()}
    finished = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    return finished.stdout + finished.stderr


WITHOUT_VECTORS = """
import gymnasium, numpy
import halidegym
from halidegym.envs.transform.plan import TransformPlan
from halidegym.native import _core

print(_core.available_lanes())
print(TransformPlan(64, _core.TransformSpace(64, lanes=_core.available_lanes()).root().plan).check() <= 2e-15)
env = gymnasium.make("TransformPlanHardware-v0", n=16)
env.reset(seed=0)
*_, info = env.step(env.unwrapped.actions.index("codelet 1"))
env.close()
print(info["outcome"], info["plan"], [action for action in env.unwrapped.actions if action.startswith("codelet")])
TransformPlan(64, "split 4 inplace (codelet 4) (codelet 4)")(numpy.zeros(64, numpy.complex128))
"""


def test_machines_without_vectors_say_so_and_do_the_rest() -> None:
    *_, lanes, right, episode, refused = (
        line for line in run_with_lanes("1", WITHOUT_VECTORS).splitlines() if not line.startswith(("Traceback", " "))
    )
    assert (lanes, right, episode) == ("[1]", "True", "ok codelet 1 ['codelet 1']")
    assert (
        "codelet 4: this machine has no instructions for 4 complex numbers at once; use codelets of up to 1" in refused
    )
    wrong = run_with_lanes("3", "from halidegym.native._core import available_lanes; available_lanes()")
    assert "InvalidParameter: HALIDEGYM_LANES=3" in wrong
    assert "give 1, 2 or 4, or unset it" in wrong
