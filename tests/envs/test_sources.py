"""What an environment's `pipeline` may be, with the estimates and the options that go with it."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import halide as hl
import numpy as np
import pytest

from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.native._core import InvalidParameter, MissingEstimate
from oracle.builder_problem import SSE_AVX2

SETTING = {"target": SSE_AVX2, "parallelism": 4}
ESTIMATES = {"scaled": [(0, 640), (0, 480)], "image": [(0, 640), (0, 480)], "gain": 1.5}


def scaled(rows: int = 1) -> hl.Func:
    """Has no estimates."""
    x, y = hl.Var("x"), hl.Var("y")
    inside = hl.BoundaryConditions.repeat_edge(hl.ImageParam(hl.UInt(8), 2, "image"))
    func, gain = hl.Func("scaled"), hl.Param(hl.Float(32), "gain")
    func[x, y] = hl.select(gain > 1, hl.f32(inside[x, y]) + inside[x, y + rows], gain)
    return func


def problem_of(**arguments: object) -> SchedulingProblem:
    problem: SchedulingProblem = gym.make("HalideSchedule-v0", **SETTING, **arguments).unwrapped.problem
    return problem


def test_a_target_of_halide_s_own_class_is_taken_beside_every_source() -> None:
    problem = SchedulingProblem.from_pipeline(scaled, estimates=ESTIMATES, **SETTING)
    assert load_problem(scaled, target=hl.Target(SSE_AVX2), parallelism=4, estimates=ESTIMATES).hash == problem.hash
    assert load_problem(problem, target=hl.Target(SSE_AVX2)) is problem
    with pytest.raises(InvalidParameter, match="was made for target"):
        load_problem(problem, target=hl.Target("x86-64-linux"))
    with pytest.raises(InvalidParameter, match="'5' is no Halide target"):
        load_problem(problem, target=5)  # type: ignore[arg-type]


def test_an_environment_takes_estimates(tmp_path: Path) -> None:
    path = tmp_path / "scaled.hlpipe"
    hl.serialize_pipeline(hl.Pipeline(scaled()), str(path))
    expected = SchedulingProblem.from_pipeline(scaled, estimates=ESTIMATES, **SETTING)
    for source in (scaled, hl.Pipeline(scaled()), str(path)):
        assert problem_of(pipeline=source, estimates=ESTIMATES).hash == expected.hash
    larger = {**ESTIMATES, "scaled": [(0, 1280), (0, 960)]}
    assert problem_of(pipeline=scaled, estimates=larger).hash != expected.hash
    of_registered = problem_of(pipeline="bilateral_grid", estimates={"r_sigma": 0.2})
    assert of_registered.hash != problem_of(pipeline="bilateral_grid").hash


@pytest.mark.parametrize("name", ["scaled", "image"])
def test_a_missing_estimate_is_named_with_what_supplies_it(name: str) -> None:
    estimates = {key: value for key, value in ESTIMATES.items() if key != name}
    with pytest.raises(MissingEstimate, match=rf"'{name}.*estimates=.*--estimate {name}=MIN,EXTENT,MIN,EXTENT"):
        problem_of(pipeline=scaled, estimates=estimates)


def test_an_environment_takes_options() -> None:
    small = SchedulingProblem.from_pipeline(pipelines.build("harris", size=(160, 128)), **SETTING)
    assert problem_of(pipeline="harris", pipeline_options={"size": (160, 128)}).hash == small.hash
    assert problem_of(pipeline=["harris"], pipeline_options={"size": (160, 128)}).hash == small.hash
    three = SchedulingProblem.from_pipeline(scaled(rows=3), estimates=ESTIMATES, **SETTING)
    assert problem_of(pipeline=scaled, pipeline_options={"rows": 3}, estimates=ESTIMATES).hash == three.hash


def sloped(falling=True, steep: bool = False) -> hl.Func:
    x, ramp = hl.Var("x"), hl.Func("ramp")
    ramp[x] = (2 * x if steep else x) * (2.0 if falling is True else 1)
    ramp.set_estimates([(0, 64)])
    return ramp


def test_true_and_false_as_on_the_command_line_are_truths_where_these_are_wanted() -> None:
    for name in ("falling", "steep"):
        for text, truth in (("true", True), ("false", False)):
            problem = load_problem(sloped, pipeline_options={name: text})
            assert problem.name == f"sloped({name}={truth})"
            assert problem.hash == load_problem(sloped, pipeline_options={name: truth}).hash
        with pytest.raises(InvalidParameter, match=f"pipeline_options of sloped: {name}='maybe'; give true or false"):
            load_problem(sloped, pipeline_options={name: "maybe"})


def test_what_has_no_signature_builds_no_pipeline() -> None:
    with pytest.raises(
        InvalidParameter, match=r"pipeline=<class 'int'>: .*; give a function that returns a halide.Func"
    ):
        load_problem(int)


def test_other_options_are_another_name() -> None:
    assert load_problem("harris", pipeline_options={"size": (160, 128)}).name == "harris(size=(160, 128))"
    assert load_problem(scaled, pipeline_options={"rows": 3}, estimates=ESTIMATES).name == "scaled(rows=3)"
    assert load_problem(scaled, estimates=ESTIMATES).name == "scaled"


def test_what_is_built_already_takes_no_options() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines.build("mat_mul", size=64), **SETTING)
    built = hl.Pipeline(scaled())
    for source in (problem, built, scaled()):
        with pytest.raises(InvalidParameter, match=r"pipeline_options=\{'size': 64\}: .* is built already"):
            problem_of(pipeline=source, pipeline_options={"size": 64})
    with pytest.raises(InvalidParameter, match=r"estimates=.*is built already"):
        problem_of(pipeline=problem, estimates={"A": [(0, 64), (0, 64)]})
    for arguments in ({"estimates": ESTIMATES}, {"pipeline_options": {"size": 64}}):
        with pytest.raises(InvalidParameter, match="Generated pipelines take neither"):
            problem_of(pipeline="random", **arguments)


def test_unknown_options_are_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidParameter, match=r"bgu: .*'width'.*these options: size, downsampling"):
        problem_of(pipeline="bgu", pipeline_options={"width": 64})
    with pytest.raises(InvalidParameter, match=r"scaled: .*'columns'.*these options: rows"):
        problem_of(pipeline=scaled, pipeline_options={"columns": 3}, estimates=ESTIMATES)


def test_a_suite_stands_for_its_pipelines() -> None:
    env = gym.make("HalideSchedule-v0", pipeline="toy-v1", **SETTING).unwrapped
    assert [problem.name for problem in env.problems] == pipelines.names("toy-v1")
    env = gym.make("HalideSchedule-v0", pipeline=["hist", "toy-v1"], **SETTING).unwrapped
    assert [problem.name for problem in env.problems] == ["hist", *pipelines.names("toy-v1")]


def test_pipelines_may_be_an_array_of_names() -> None:
    env = gym.make("HalideSchedule-v0", pipeline=np.array(["toy_blur", "hist"]), **SETTING).unwrapped
    assert [problem.name for problem in env.problems] == ["toy_blur", "hist"]


@pytest.mark.parametrize(
    ("sources", "suite"),
    [
        (["harris", "random"], "random-train-v1"),
        (("random-test-v2", scaled()), "random-test-v2"),
        (np.array(["random-train-v2/3", "random-train-v2"]), "random-train-v2"),
    ],
)
def test_a_suite_of_generated_pipelines_is_no_element_of_a_sequence_of_others(sources: object, suite: str) -> None:
    with pytest.raises(InvalidParameter, match=f'{suite} stands for .*alone, or names such as "{suite}/0"'):
        problem_of(pipeline=sources)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("blur.py", r"is Python source\. Name the function in it"),
        ("blur.cpp", r"is C\+\+ source\. Build its generator"),
        ("blur.json", r"is JSON, as plans are, and no pipeline\. .* --plan .*blur\.json"),
    ],
)
def test_a_file_that_is_no_pipeline_is_told_by_its_ending(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / file).write_text("{}")
    with pytest.raises(InvalidParameter, match=said):
        load_problem(tmp_path / file)
