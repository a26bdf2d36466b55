"""Estimates of `SchedulingProblem.from_pipeline`: those that it is given, and those that a pipeline sets."""

from __future__ import annotations

import halide as hl
import numpy as np
import pytest

import analysis_pipelines
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core

x = hl.Var("x")


@pytest.mark.parametrize(
    ("name", "estimate", "message"),
    [
        ("r_sigmal", 0.1, "no parameter or output 'r_sigmal'.*'input', 'r_sigma', 'bilateral_grid'\\."),
        ("r_sigma", [(0, 1)], "one number"),
        ("r_sigma", float("nan"), "a finite one"),
        ("r_sigma", 10**400, "a finite one"),
        ("input", 3, "2 pairs"),
        ("input", [(0, 10)], "2 pairs"),
        ("input", [(0, 10), (0, 0)], "at least 1"),
        ("input", [(0, 10), (0, 63.9)], "pairs of integers"),
        ("input", [(0, 10), (0, float("inf"))], "pairs of integers"),
        ("input", [(0, 10), (0, True)], "pairs of integers"),
        ("input", [(0, 10), (False, 10)], "pairs of integers"),
        ("input", [(0, 10), (0, 2**40)], "beyond 32 bits"),
        ("input", [(0, 10), (2**31 - 64, 65)], "beyond 32 bits"),
        ("bilateral_grid", [(-(2**40), 10), (0, 10)], "beyond 32 bits"),
    ],
)
def test_invalid_estimates(name: str, estimate: object, message: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=message):
        SchedulingProblem.from_pipeline(pipelines.build("bilateral_grid"), estimates={name: estimate})  # type: ignore[dict-item]


def test_numbers_of_numpy_are_estimates() -> None:
    plain, of_numpy = (
        SchedulingProblem.from_pipeline(
            pipelines.build("bilateral_grid"), estimates={"r_sigma": s, "input": [(0, n)] * 2}
        )
        for s, n in ((0.5, 64), (np.float32(0.5), np.int64(64)))
    )
    assert plain == of_numpy


@pytest.mark.parametrize("estimate", [1.5, 2**31, -(2**31) - 1])
def test_estimates_must_fit_the_type(estimate: float) -> None:
    with pytest.raises(_core.InvalidParameter, match="integer from"):
        SchedulingProblem.from_pipeline(analysis_pipelines.parameters(), estimates={"p": estimate})


@pytest.mark.parametrize(("beyond", "said"), [(0.09, r"0\.09"), (0.71, r"0\.71"), (1e300, r"1e\+300")])
def test_estimates_keep_to_the_limits_of_a_parameter(beyond: float, said: str) -> None:
    """Compiled code refuses to run on others. Limits are as precise as the parameter: 0.1 keeps to one of 0.1."""
    f, scale = hl.Func("f"), hl.Param(hl.Float(32), "scale")
    f[x] = x * scale
    f.set_estimates([(0, 8)])
    SchedulingProblem.from_pipeline(f, estimates={"scale": beyond})
    scale.set_range(hl.f32(0.1), hl.f32(0.7))
    for limit in (0.1, 0.7):
        SchedulingProblem.from_pipeline(f, estimates={"scale": limit})
    with pytest.raises(_core.InvalidParameter, match=rf"{said} does not fit .* at least 0\.1\d* and at most 0\.6"):
        SchedulingProblem.from_pipeline(f, estimates={"scale": beyond})


def test_estimates_that_a_pipeline_sets_keep_to_the_limits_of_a_parameter() -> None:
    f, shift = hl.Func("f"), hl.Param(hl.Int(32), "shift")
    shift.set_range(0, 10)
    shift.set_estimate(20)
    f[x] = x + shift
    f.set_estimates([(0, 8)])
    with pytest.raises(_core.InvalidParameter, match=r"set_estimate: 20 does not fit .* at least 0 and at most 10"):
        SchedulingProblem.from_pipeline(f)
    SchedulingProblem.from_pipeline(f, estimates={"shift": 10})
