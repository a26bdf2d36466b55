"""PIPELINE on the command line: what it may be, and the estimates and options that go with it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import halide as hl
import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.cli import main
from halidegym.native._core import InvalidParameter

PIPELINES = pipelines_for_tests.__file__


def halidegym(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


MISSING = """
import halide as hl

def build():
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    inside = hl.BoundaryConditions.repeat_edge(image)
    scaled = hl.Func("scaled")
    scaled[x, y] = hl.Param(hl.Float(32), "gain") * inside[x, y] + hl.select(hl.Param(hl.Int(32), "shift") > 3, 1, 0)
    return scaled
"""


TWINS = """
import halide as hl

def build():
    x, y, image = hl.Var("x"), hl.Var("y"), hl.ImageParam(hl.UInt(8), 2, "image")
    row, whole = hl.Func("twin"), hl.Func("twin")
    row[x] = image[x, 0] + image[x + 1, 0]
    whole[x, y] = image[x, y]
    return hl.Pipeline([row, whole])
"""


def test_outputs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "twins.py").write_text(TWINS)
    command = [sys.executable, "-c", "from halidegym.evaluation.cli import main; main()"]  # where no name is taken yet
    arguments = ["schedule", "twins.py:build", "--agent", "greedy"]

    def told(*options: str) -> str:
        return subprocess.run(
            [*command, *arguments, *options], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stderr

    line = told("--estimate-from", "image=64,32").splitlines()[0]
    assert line == "Proposed: --estimate image=0,64,0,32 --estimate twin=0,63 --estimate 'twin$1=0,64,0,32'"
    assert "Proposed" not in told(*shlex.split(line)[1:])


DOLLARS = """
import halide as hl

def build():
    x, image, gain = hl.Var("x"), hl.ImageParam(hl.Float(32), 1, "im$age"), hl.Param(hl.Float(32), "ga$in")
    f = hl.Func("out")
    f[x] = image[x] * gain
    return f
"""


def test_inputs_and_parameters_are_told_by_all_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "dollars.py").write_text(DOLLARS)
    command = ["schedule", f"{tmp_path / 'dollars.py'}:build", "--agent", "greedy"]
    line = halidegym(*command, "--estimate-from", "im$age=64").stderr.splitlines()[0]
    assert line == "Proposed: --param 'ga$in=1' --estimate 'im$age=0,64' --estimate out=0,64"
    result = halidegym(*command, *shlex.split(line)[1:])
    assert (result.exit_code, result.stderr.count("Proposed")) == (0, 0)


def test_missing_estimates_are_supplied_by_the_options_that_the_error_names(tmp_path: Path) -> None:
    (tmp_path / "missing.py").write_text(MISSING)
    command = ["schedule", f"{tmp_path / 'missing.py'}:build", "--agent", "greedy"]
    for named, option in (
        ("--estimate scaled=MIN,EXTENT,MIN,EXTENT", "--estimate=scaled=0,640,0,480"),
        ("--param gain=VALUE", "--param=gain=1.5"),
        ("--param shift=VALUE", "--param=shift=2"),
        ("--estimate image=MIN,EXTENT,MIN,EXTENT", "--estimate=image=0,640,0,480"),
    ):
        result = halidegym(*command)
        assert result.exit_code == 2
        assert named in result.stderr, result.stderr
        command.append(option)
    assert halidegym(*command).exit_code == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--param=gain", "no name=value"),
        ("--param=gain=much", "no name=value"),
        ("--param=unknown=1", "no parameter or output 'unknown'"),
        ("--estimate=image=0,640,0", "no name=min,extent"),
        ("--estimate=image=0,640", "2 pairs"),
        ("--estimate=scaled=0,640", "the output 'scaled'. Give 2 pairs"),
    ],
)
def test_bad_estimates(tmp_path: Path, option: str, message: str) -> None:
    (tmp_path / "missing.py").write_text(MISSING)
    result = halidegym("schedule", f"{tmp_path / 'missing.py'}:build", option)
    assert result.exit_code == 2
    assert message in result.stderr


def _pipeline_commands() -> list[str]:
    return [name for name in main.commands if "PIPELINE" in halidegym(name, "--help").output.splitlines()[0]]


@pytest.mark.parametrize("command", _pipeline_commands())
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--estimate=unknown=0,640", "no parameter or output 'unknown'"),
        ("--param=unknown=3", "no parameter or output 'unknown'"),
        ("--option=sise=160,128", "'sise'. It has these options: size"),
    ],
)
def test_every_command_that_takes_a_pipeline_takes_its_details(command: str, option: str, message: str) -> None:
    result = halidegym(command, "harris", option)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_pipeline_commands_are_all_of_them() -> None:
    known = {"schedule", "time", "timing-check", "calibrate", "parity", "rollouts"}
    assert known <= set(_pipeline_commands())


def test_options_reach_what_builds_the_pipeline(tmp_path: Path) -> None:
    result = halidegym("schedule", "harris", "--agent", "greedy", "--option", "size=160,128")
    assert result.stderr.startswith("harris(size=(160, 128)): cost ")
    small, default = (
        SchedulingProblem.from_pipeline(pipelines.build("harris", **options), parallelism=4)
        for options in ({"size": (160, 128)}, {})
    )
    named = load_problem("harris", parallelism=4, details=Details(options={"size": (160, 128)}))
    assert named.hash == small.hash != default.hash
    (tmp_path / "ramp.py").write_text(
        "import halide as hl\n"
        "def ramp(size, gain=1):\n"
        "    x, f = hl.Var('x'), hl.Func('ramp')\n"
        "    f[x] = gain * x\n"
        "    f.set_estimates([(0, size)])\n"
        "    return f\n"
    )
    result = halidegym("schedule", f"{tmp_path / 'ramp.py'}:ramp", "--agent", "greedy", "--option", "size=4096")
    assert result.stderr.startswith("ramp(size=4096): cost "), result.stderr


@pytest.mark.parametrize(
    ("pipeline", "option", "message"),
    [
        ("harris", "size=160", "size=160 is no (width, height)"),
        ("harris", "size=160,4", "at least 7 pixels a side"),
        ("harris", "size=tall", "size='tall' is no (width, height)"),
        ("mat_mul", "size=0", "no positive integer"),
        ("resnet_50/b1", "channel_divisor=7", "cannot be divided by 7"),
        ("conv_layer", "estimates=false", "'published' or 'true'"),
        ("random-train-v1/3", "size=3", "unexpected keyword argument 'size'. It has these options: none"),
        ("harris", "size", "no name=value"),
        (f"{PIPELINES}:mm", "size=3", "argument 'size'. It has these options: none"),
    ],
)
def test_bad_options(pipeline: str, option: str, message: str) -> None:
    result = halidegym("schedule", pipeline, "--option", option)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_parity_takes_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "missing.py").write_text(MISSING)
    pipeline = f"{tmp_path / 'missing.py'}:build"
    result = halidegym("parity", pipeline, "--beam", "1")
    assert result.exit_code == 2
    assert "--estimate scaled=MIN,EXTENT,MIN,EXTENT" in result.stderr
    given = ["--estimate=scaled=0,64,0,48", "--estimate=image=0,64,0,48", "--param=gain=1.5", "--param=shift=2"]
    result = halidegym("parity", pipeline, "--beam", "1", *given)
    assert result.exit_code == 0, result.output
    assert "1 of 1 searches are equal" in result.output


def test_pipelines_come_from_modules_and_serialized_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_helpers.py").write_text("SIZE = 100\n")
    (tmp_path / "my_pipelines.py").write_text(
        "import halide as hl\n"
        "from my_helpers import SIZE\n"
        "def ramp():\n"
        "    x, y, f = hl.Var('x'), hl.Var('y'), hl.Func('ramp')\n"
        "    f[x, y] = x + y\n"
        "    f.set_estimates([(0, SIZE), (0, SIZE)])\n"
        "    return f\n"
    )
    monkeypatch.chdir(tmp_path)
    hl.serialize_pipeline(pipelines_for_tests.mm(), str(tmp_path / "mm.hlpipe"))
    for pipeline in (
        "my_pipelines:ramp",
        "my_pipelines.py:ramp",
        str(tmp_path / "my_pipelines.py") + ":ramp",
        "mm.hlpipe",
    ):
        result = halidegym("schedule", pipeline, "--agent", "greedy")
        assert result.exit_code == 0, result.output
        assert "get_func(" in result.stdout


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("no_such_pipeline", "no_such_pipeline"),
        ("no_such_module:f", "Cannot import no_such_module"),
        ("no_such_file.py:f", "There is no file no_such_file.py"),
        ("no_such_file.hlpipe", "no_such_file.hlpipe"),
        (f"{PIPELINES}:no_such_function", "has no function no_such_function; it has blur, "),
        (f"{PIPELINES}", f"Name the function in it that returns the pipeline, {PIPELINES}:FUNCTION"),
    ],
)
def test_mistakes_are_explained_in_a_line(pipeline: str, message: str) -> None:
    result = halidegym("schedule", pipeline)
    assert result.exit_code == 2
    assert message in result.stderr
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("several", "returned an object of type list; let it return a halide.Func or a halide.Pipeline"),
        ("nothing", "returned None"),
        ("sized", "missing a required argument: 'size'"),
        ("ends", "ends the program (sys.exit) when it is called"),
    ],
)
def test_functions_that_make_no_pipeline_are_explained_in_a_line(tmp_path: Path, function: str, message: str) -> None:
    file = tmp_path / "mistakes.py"
    file.write_text(
        "def several(): return [1, 2]\ndef nothing(): pass\ndef sized(size): return size\ndef ends(): raise SystemExit\n"
    )
    result = halidegym("schedule", f"{file}:{function}", "--agent", "greedy")
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)
    assert message in result.stderr


def test_a_file_that_ends_the_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "script.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.chdir(tmp_path)
    for name in (f"{tmp_path / 'script.py'}", "script"):
        result = halidegym("schedule", f"{name}:build", "--agent", "greedy")
        assert result.exit_code == 2 and f"{name} ends the program (sys.exit) when it is loaded" in result.stderr


POSTPONED = """
from __future__ import annotations
import pickle
from dataclasses import dataclass
import halide as hl

@dataclass(frozen=True)
class Sizes:
    width: int = 64

def build():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    f.set_estimates([(0, pickle.loads(pickle.dumps(Sizes())).width)])
    return f
"""


@pytest.mark.parametrize("name", ["mine_of_test", "json", "with-hyphen", "gymnasium"])
def test_a_file_may_have_dataclasses_and_pickle_them(name: str, tmp_path: Path) -> None:
    """Both look for the module of a class among those that are imported; which other modules are called is no matter."""
    (tmp_path / f"{name}.py").write_text(POSTPONED)
    before = sys.modules.get(name)
    assert load_problem(f"{tmp_path / name}.py:build").num_nodes == 1
    assert before is None or sys.modules[name] is before


@pytest.mark.parametrize("name", ["hariss", "", ".", "nowhere.hlpipe", "random-train-v1/x"])
def test_what_stands_for_nothing_is_told_in_words_of_the_command_line(name: str) -> None:
    with pytest.raises(
        InvalidParameter, match=rf"no pipeline '{name}'; `halidegym list` shows the names, and file.py:func"
    ):
        load_problem(name)
