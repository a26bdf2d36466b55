"""Generators of Halide in Python, as pipelines."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import halide as hl
import pytest
from click.testing import CliRunner

from halidegym.envs.problems.halide_generators import generated_pipeline
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.evaluation.cli import main
from halidegym.native import _core
from oracle.builder_problem import SSE_AVX2

SOURCE = '''
import halide as hl

x, y = hl.Var("x"), hl.Var("y")


@hl.generator(name="shifted")
class Shifted:
    """Adds an image and itself, moved to the left."""

    radius = hl.GeneratorParam(1)
    doubled = hl.GeneratorParam(False)
    image = hl.InputBuffer(None, 2)
    gain = hl.InputScalar(hl.Float(32))
    result = hl.OutputBuffer(hl.Float(32), 2)

    def generate(self):
        g, total = self, hl.Func("total")
        total[x, y] = hl.f32(g.image[x, y]) + g.image[x + int(g.radius), y]
        g.result[x, y] = g.gain * (total[x, y] + (total[x, y] if g.doubled else 0))
        if g.using_autoscheduler():
            g.image.set_estimates([(0, 66), (0, 48)])
            g.gain.set_estimate(2.0)
            g.result.set_estimates([(0, 64), (0, 48)])
        else:
            total.compute_root()
'''


@pytest.fixture(scope="module")
def shifted() -> type[hl.Generator]:
    names: dict[str, object] = {"__name__": "shifted_for_tests"}
    exec(
        SOURCE.replace("InputBuffer(None", "InputBuffer(hl.UInt(8)").replace('"shifted"', '"shifted_for_tests"'), names
    )
    generator = names["Shifted"]
    assert isinstance(generator, type)
    return generator


def test_a_generator_is_a_pipeline(shifted: type[hl.Generator]) -> None:
    problem = SchedulingProblem.from_pipeline(shifted, target=SSE_AVX2, parallelism=4)
    assert problem.name == "Shifted"
    assert [node.is_input for node in problem.nodes] == [False, False, True]
    assert problem.undersized_inputs() == []
    env = gym.make("HalideSchedule-v0", pipeline=shifted, target=SSE_AVX2, parallelism=4)
    assert env.unwrapped.problem == problem  # type: ignore[attr-defined]


def test_its_parameters_are_options(shifted: type[hl.Generator]) -> None:
    wide = load_problem(shifted, target=SSE_AVX2, pipeline_options={"radius": 3, "doubled": "true"})
    assert wide.name == "Shifted(radius=3, doubled='true')"
    assert wide.undersized_inputs() == [
        "The pipeline reads 0 to 66 of dimension 0 of the input 'image', whose estimate provides 0 to 65."
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 3}, "Shifted has no parameter 'size'; it has these: radius, doubled"),
        ({"radius": "wide"}, "radius of the generator Shifted is 'wide'; give one of the kind of its default, 1"),
        ({"radius": 2.5}, "radius of the generator Shifted is 2.5; give one of the kind of its default, 1"),
        ({"image.dim": 2.5}, "image.dim of the generator Shifted is 2.5; give a number of dimensions"),
        ({"image.dim": "two"}, "image.dim of the generator Shifted is 'two'"),
        ({"doubled": "yes"}, "doubled of the generator Shifted is 'yes'"),
    ],
)
def test_bad_parameters(shifted: type[hl.Generator], options: dict[str, object], message: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=message):
        load_problem(shifted, pipeline_options=options)


def test_a_generator_that_fails_says_so(shifted: type[hl.Generator]) -> None:
    with pytest.raises(_core.UnsupportedPipeline, match=r"The generator Shifted builds no pipeline: .*image"):
        generated_pipeline(shifted, SSE_AVX2, {"image.type": "uint8"})
    with pytest.raises(_core.InvalidParameter, match="no Halide target"):
        generated_pipeline(shifted, "nonsense")


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "gen.py").write_text(SOURCE)
    command = ["schedule", f"{tmp_path}/gen.py:Shifted", "--agent", "greedy"]
    untyped = CliRunner().invoke(main, command)
    assert untyped.exit_code == 2
    assert "No type has been specified for image" in " ".join(untyped.stderr.split())
    found = CliRunner().invoke(main, [*command, "--option", "image.type=uint8", "--option", "radius=2"])
    assert found.exit_code == 0, found.output
    assert found.stderr.startswith("Shifted(image.type='uint8', radius=2): cost ")
    assert "get_func(" in found.stdout
    misspelt = CliRunner().invoke(main, ["schedule", f"{tmp_path}/gen.py:Shift"])
    assert "has no function Shift; it has Shifted" in misspelt.stderr


class _Undecorated(hl.Generator):  # type: ignore[misc]
    image = hl.InputBuffer(hl.UInt(8), 1)

    def generate(self) -> None:
        raise NotImplementedError


def test_a_generator_that_nothing_decorates_says_so() -> None:
    with pytest.raises(
        _core.InvalidParameter, match=r"class _Undecorated is no registered generator.*@halide.generator"
    ):
        generated_pipeline(_Undecorated, "host")


def test_a_generator_without_generate_says_so() -> None:
    unfinished = hl.generator(name="unfinished")(type("Unfinished", (), {}))
    with pytest.raises(_core.InvalidParameter, match="generator Unfinished has no generate"):
        generated_pipeline(unfinished, "host")
