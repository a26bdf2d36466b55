"""`SchedulingProblem`: what it is made from, that it survives storage, and every error of section 11.

Sections and quirks are those of docs/specification/function-dag.md.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import halide as hl
import pytest

import analysis_pipelines
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
x, y = hl.Var("x"), hl.Var("y")


def extract(pipeline: hl.Func | hl.Pipeline) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipeline, target=TARGET, parallelism=4)


@pytest.fixture
def problem() -> SchedulingProblem:
    return extract(pipelines.build("bilateral_grid"))


# What a problem is made from.


def test_attributes(problem: SchedulingProblem) -> None:
    assert problem.name == "bilateral_grid"
    assert (problem.num_nodes, problem.num_stages) == (len(problem.nodes), len(problem.stages)) == (9, 10)
    assert (problem.target, problem.parallelism) == (TARGET, 4)
    assert len(problem.edges) == 9
    assert "9 nodes" in repr(problem)


def test_defaults_are_this_machine() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines.build("mat_mul"))
    assert problem.parallelism == len(os.sched_getaffinity(0))
    assert problem.target == str(hl.get_host_target())


def test_func_pipeline_and_function_give_the_same_problem() -> None:
    def doubled() -> hl.Func:
        f = hl.Func("doubled")
        f[x] = x * 2
        f.set_estimates([(0, 10)])
        return f

    from_func = extract(doubled())
    assert from_func.name == "doubled"
    assert from_func == extract(hl.Pipeline(doubled()))
    from_function = SchedulingProblem.from_pipeline(doubled, target=TARGET, parallelism=4)
    assert from_function == from_func
    assert SchedulingProblem.from_pipeline(lambda: hl.Pipeline(doubled()), target=hl.Target(TARGET)).name == "doubled"
    named = SchedulingProblem.from_pipeline(doubled, target=TARGET, parallelism=4, name="other")
    assert (named.name, named.hash) == ("other", from_func.hash)


def test_hlpipe_file_needs_the_estimates_that_halide_loses(tmp_path: Path, problem: SchedulingProblem) -> None:
    path = tmp_path / "grid.hlpipe"
    hl.serialize_pipeline(pipelines.build("bilateral_grid"), path)
    with pytest.raises(_core.MissingEstimate, match=rf"{path}: .*'r_sigma'.*estimates="):
        SchedulingProblem.from_pipeline(path, target=TARGET, parallelism=4)
    estimates = {"r_sigma": 0.1, "input": [(0, 1536), (0, 2560)]}
    restored = SchedulingProblem.from_pipeline(str(path), target=TARGET, parallelism=4, estimates=estimates)
    assert restored == problem
    assert restored.name == "grid"


def test_estimates_go_before_those_of_the_parameters() -> None:
    narrow = extract(analysis_pipelines.histogram())
    wide = SchedulingProblem.from_pipeline(
        analysis_pipelines.histogram(), target=TARGET, parallelism=4, estimates={"in": [(0, 1000), (0, 480)]}
    )
    assert narrow != wide
    assert [loop.constant_max for loop in wide.stages[2].loops] == [999, 479]


def test_estimates_of_outputs() -> None:
    expected = extract(analysis_pipelines.histogram())
    (output,) = analysis_pipelines.histogram().outputs()
    output.set_estimates([(0, 10), (0, 10)])
    name = expected.nodes[0].name.partition("$")[0]
    found = SchedulingProblem.from_pipeline(
        output, target=TARGET, parallelism=4, estimates={name: [(0, 640), (0, 480)]}
    )
    assert found == expected
    assert found != extract(output), "the user's Func is left alone"


def test_the_user_s_pipeline_is_only_read() -> None:
    pipeline = analysis_pipelines.recursive_filter()
    before = hl.serialize_pipeline(pipeline)
    extract(pipeline)
    assert hl.serialize_pipeline(pipeline) == before
    func = pipeline.outputs()[0]
    func.split(x, hl.Var("outer"), hl.Var("inner"), 4)
    assert extract(analysis_pipelines.recursive_filter()).num_nodes == 3


# Identity and storage.


def test_equality_is_that_of_the_analysis(problem: SchedulingProblem) -> None:
    again = extract(pipelines.build("bilateral_grid"))
    assert [node.name for node in again.nodes] != [node.name for node in problem.nodes], "names are unique in a process"
    assert again == problem
    assert hash(again) == hash(problem)
    assert problem != extract(pipelines.build("bilateral_grid", size=(1024, 2560)))
    other_target = SchedulingProblem.from_pipeline(
        pipelines.build("bilateral_grid"), target="x86-64-linux-sse41", parallelism=4
    )
    assert problem != other_target
    assert problem != "bilateral_grid"


def test_with_parallelism(problem: SchedulingProblem) -> None:
    wider = problem.with_parallelism(64)
    assert (wider.parallelism, problem.parallelism) == (64, 4)
    assert wider != problem
    assert wider.with_parallelism(4) == problem
    with pytest.raises(_core.InvalidParameter, match="at least 1"):
        problem.with_parallelism(0)


@pytest.mark.parametrize("name", analysis_pipelines.ALL)
def test_storage_keeps_everything(name: str, tmp_path: Path) -> None:
    problem = extract(analysis_pipelines.ALL[name]())
    path = tmp_path / "problem"
    problem.save(path)
    for copy in (SchedulingProblem.load(path), pickle.loads(pickle.dumps(problem))):
        assert copy == problem
        assert copy.name == problem.name
        assert [node.name for node in copy.nodes] == [node.name for node in problem.nodes]
        assert extract(copy.pipeline()) == problem


def test_pipeline_comes_back_with_its_parameters() -> None:
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    image.dim(0).set_bounds(2, 96).set_stride(3)
    image.dim(1).set_estimate(1, 50)
    image.set_host_alignment(32)
    gain = hl.Param(hl.Float(32), "gain", 1.5)
    gain.set_range(0.0, 4.0)
    gain.set_estimate(2.5)
    flag = hl.Param(hl.Bool(), "flag", True)
    big = hl.Param(hl.UInt(64), "big", 2**63 + 1)
    f = hl.Func("f")
    f[x, y] = hl.f32(image[x, y]) * gain + hl.f32(big) + hl.f32(flag)
    for parameter in (flag, big):
        parameter.set_estimate(1)
    f.set_estimates([(2, 90), (1, 50)])
    pipeline = extract(f).pipeline()

    _, restored = hl.serialize_pipeline(pipeline, get_params=True)
    assert set(restored) == {"image", "gain", "flag", "big"}
    for name, original in {"image": image, "gain": gain, "flag": flag, "big": big}.items():
        ours, theirs = _core.read_parameter(restored[name]), _core.read_parameter(original.parameter())
        assert (ours.name, ours.type, ours.dimensions, ours.host_alignment, ours.values) == (
            theirs.name,
            theirs.type,
            theirs.dimensions,
            theirs.host_alignment,
            theirs.values,
        )
    values = _core.read_parameter(restored["image"]).values
    assert (values["min.0"], values["stride.0"], values["extent_estimate.1"]) == (
        ("int32", 2),
        ("int32", 3),
        ("int32", 50),
    )
    assert _core.read_parameter(restored["big"]).values["value"] == ("uint64", 2**63 + 1)


def test_another_process_has_the_same_problem(tmp_path: Path, problem: SchedulingProblem) -> None:
    path = tmp_path / "problem"
    problem.save(path)
    program = """
import sys
from halidegym.envs.problems.problem import SchedulingProblem
problem = SchedulingProblem.load(sys.argv[1])
anew = SchedulingProblem.from_pipeline(problem.pipeline(), target=problem.target, parallelism=4)
print(problem.hash, anew.hash, *(node.name for node in anew.nodes))
"""
    run = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [problem.hash, problem.hash, *(node.name for node in problem.nodes)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:40],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[: len(data) // 2] + b"\xff" + data[len(data) // 2 + 1 :],
        lambda data: b"something else altogether",
        lambda data: data.replace(b"problem\n\x01", b"problem\n\x02", 1),
    ],
)
def test_damaged_files(damage: Callable[[bytes], bytes], tmp_path: Path, problem: SchedulingProblem) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(damage(problem.to_bytes()))
    with pytest.raises(_core.FormatError, match="damaged"):
        SchedulingProblem.load(path)


def test_damaged_hlpipe_files(tmp_path: Path) -> None:
    """Halide itself does not survive the first one."""
    whole = hl.serialize_pipeline(pipelines.build("mat_mul"))
    path = tmp_path / "broken.hlpipe"
    for content in (whole[: len(whole) // 2], b""):
        path.write_bytes(content)
        with pytest.raises(
            _core.FormatError, match=rf"{path} is no pipeline.*: .*write it again with halide\.serialize"
        ):
            SchedulingProblem.from_pipeline(path)
    with pytest.raises(FileNotFoundError):
        SchedulingProblem.from_pipeline(tmp_path / "missing.hlpipe")


def test_damage_that_halide_reads_without_a_word(tmp_path: Path) -> None:
    """What else one byte does to a file differs from process to process; see `envs/problems/hlpipe.py`."""
    f, g = hl.Func("damaged_f"), hl.Func("damaged_g")
    g[x, y] = x + y
    f[x, y] = g[x, y] + g[x, y + 1]
    f.set_estimates([(0, 100), (0, 100)])
    whole = hl.serialize_pipeline(hl.Pipeline(f))
    path = tmp_path / "broken.hlpipe"

    def refusal(content: bytes) -> str:
        path.write_bytes(content)
        try:
            assert SchedulingProblem.from_pipeline(path).num_nodes == 2
        except _core.FormatError as error:
            return str(error)
        return ""

    # In the list of Funcs, in calls, in names of loops.
    names = [match.start() for match in re.finditer(rb"damaged_g\0", whole)]
    refusals = [refusal(whole[:name] + b"\xff" + whole[name + 1 :]) for name in names]
    told = [
        re.match(rf"{path} is no pipeline that Halide can read: .*write it again", text) for text in refusals if text
    ]
    assert len(told) >= 2
    assert all(told)
    assert refusal(whole) == ""


# Errors: invalid arguments.


@pytest.mark.parametrize("target", ["x86-64", "x86-64-linux-avx9", "nonsense", ""])
def test_invalid_targets(target: str) -> None:
    with pytest.raises(_core.InvalidParameter, match="x86-64-linux-avx2"):
        SchedulingProblem.from_pipeline(pipelines.build("mat_mul"), target=target)


@pytest.mark.parametrize("parallelism", [0, -3])
def test_invalid_parallelism(parallelism: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SchedulingProblem.from_pipeline(pipelines.build("mat_mul"), parallelism=parallelism)


@pytest.mark.parametrize(
    ("name", "estimate", "message"),
    [
        ("r_sigmal", 0.1, "no parameter or output 'r_sigmal'.*'input', 'r_sigma', 'bilateral_grid'\\."),
        ("r_sigma", [(0, 1)], "one number"),
        ("input", 3, "2 pairs"),
        ("input", [(0, 10)], "2 pairs"),
        ("input", [(0, 10), (0, 0)], "at least 1"),
    ],
)
def test_invalid_estimates(name: str, estimate: object, message: str) -> None:
    with pytest.raises(_core.InvalidParameter, match=message):
        SchedulingProblem.from_pipeline(pipelines.build("bilateral_grid"), estimates={name: estimate})  # type: ignore[dict-item]


@pytest.mark.parametrize("estimate", [1.5, 2**31, -(2**31) - 1])
def test_estimates_must_fit_the_type(estimate: float) -> None:
    with pytest.raises(_core.InvalidParameter, match="integer from"):
        SchedulingProblem.from_pipeline(analysis_pipelines.parameters(), estimates={"p": estimate})


@pytest.mark.parametrize("pipeline", [3, None, hl.Expr(1), lambda: 3])
def test_not_a_pipeline(pipeline: object) -> None:
    with pytest.raises(TypeError, match=r"halide\.Func"):
        SchedulingProblem.from_pipeline(pipeline)  # type: ignore[arg-type]


def test_constraints_of_the_output_buffer_travel() -> None:
    """Which dimension has a stride of 1 decides what may be vectorized (section 4.7)."""
    interleaved = extract(analysis_pipelines.interleaved_output())
    assert interleaved.nodes[0].unit_stride_dimensions == [2]
    kernel = interleaved.pipeline().compile_to_callable([], hl.get_host_target())
    kernel(hl.Buffer.make_interleaved(hl.UInt(8), 64, 32, 3))
    with pytest.raises(hl.HalideError, match=r"stride\.0 \(1\) == 3"):
        kernel(hl.Buffer(hl.UInt(8), [64, 32, 3]))


# Errors: pipelines that the analysis refuses, section 11.


def line(definition: Callable[[hl.Func], object], estimate: bool = True) -> hl.Func:
    """A one-dimensional output, after `definition` has worked on it."""
    f = hl.Func("f")
    definition(f)
    if estimate:
        f.set_estimates([(0, 10)])
    return f


def refused(func: hl.Func | hl.Pipeline, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        extract(func)
    assert type(raised.value) is error


@pytest.mark.parametrize("update", [False, True])
def test_scheduling_directives(update: bool) -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x
        f[x] += 1
        (f.update() if update else f).split(x, hl.Var("outer"), hl.Var("inner"), 4)

    refused(line(definition), _core.UnsupportedPipeline, r"'f.*scheduling directive")


def test_output_without_estimate() -> None:
    def definition(f: hl.Func) -> None:
        f[x, y] = x + y
        f.set_estimate(x, 0, 10)

    refused(line(definition, estimate=False), _core.MissingEstimate, r"no estimate on dimension 1 \('y'\)")


def test_bound_extent_without_min() -> None:
    """Quirk Q16: even though a complete estimate follows."""

    def definition(f: hl.Func) -> None:
        f[x] = x
        f.bound_extent(x, 10)

    refused(line(definition), _core.MissingEstimate, "not constant.*bound_extent")


def test_output_estimate_that_is_not_constant() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x
        f.set_estimate(x, 0, hl.Param(hl.Int(32), "size"))

    refused(line(definition, estimate=False), _core.UnsupportedPipeline, "not constant")


@pytest.mark.parametrize("extent", [0, -3])
def test_output_that_is_empty(extent: int) -> None:
    def estimated(f: hl.Func) -> None:
        f[x] = x
        f.set_estimate(x, 0, extent)

    def bounded(f: hl.Func) -> None:
        f[x] = x
        f.bound(x, 0, extent)

    for definition in (estimated, bounded):
        message = rf"'x' of the output 'f.*extent {extent}\."
        refused(line(definition, estimate=definition is bounded), _core.InvalidParameter, message)


def test_reduction_that_never_runs() -> None:
    """The reference divides by the extent of each loop."""

    def constant(f: hl.Func) -> None:
        f[x] = 0
        f[x] += hl.RDom([(0, 0)], "r").x

    def estimated(f: hl.Func) -> None:
        size = hl.Param(hl.Int(32), "size")
        size.set_estimate(1)
        f[x] = 0
        f[x] += hl.RDom([(1, size - 1)], "r").x

    for definition in (constant, estimated):
        refused(line(definition), _core.UnsupportedPipeline, r"'f.*update\(0\)' never runs on the estimates")


@pytest.mark.parametrize(
    ("size", "reason"), [((2**31 - 2, 2**31 - 2), "hold more bytes"), ((2**31 - 2,) * 3, "compute more points")]
)
def test_more_than_can_be_counted(size: tuple[int, ...], reason: str) -> None:
    """Costs were negative, and the logarithm of a speedup failed."""
    variables = [hl.Var(name) for name in "xyz"[: len(size)]]
    f = hl.Func("f")
    f[variables] = hl.f32(x)
    f.set_estimates([(0, extent) for extent in size])
    refused(f, _core.UnsupportedPipeline, rf"from the outputs to 'f.*' {reason} than can be counted.*smaller estimates")


def test_scalar_parameter_without_estimate() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x + hl.Param(hl.Int(32), "offset")

    refused(line(definition), _core.MissingEstimate, "'offset'")


def test_input_extent_without_estimate() -> None:
    def definition(f: hl.Func) -> None:
        image = hl.ImageParam(hl.Float(32), 1, "image")
        f[x] = image[hl.clamp(x, 0, image.width() - 1)]

    refused(line(definition), _core.MissingEstimate, r"'image\.extent\.0'")


def test_input_stride() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = x + hl.ImageParam(hl.Float(32), 1, "image").dim(0).stride()

    refused(line(definition), _core.UnsupportedPipeline, r"'image\.stride\.0'")


def test_unused_metadata_needs_no_estimate() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = hl.ImageParam(hl.Float(32), 1, "image")[x]

    assert extract(line(definition)).num_nodes == 2


def test_unbounded_scatter() -> None:
    def definition(f: hl.Func) -> None:
        f[x] = 0
        f[hl.ImageParam(hl.Int(32), 1, "image")[hl.RDom([(0, 10)]).x]] += 1

    refused(line(definition), _core.UnsupportedPipeline, "update 0.*unbounded in dimension 0")


def test_unbounded_load() -> None:
    def definition(f: hl.Func) -> None:
        table = hl.Func("table")
        table[x] = x
        f[x] = table[hl.ImageParam(hl.Int(32), 1, "image")[x]]

    refused(line(definition), _core.UnsupportedPipeline, "needs of 'table.*unbounded in dimension 0")


def test_boolean_parameter_as_a_condition() -> None:
    """Quirk Q18: Halide makes its estimate an int32."""

    def definition(f: hl.Func) -> None:
        flag = hl.Param(hl.Bool(), "flag")
        flag.set_estimate(True)
        f[x] = hl.select(flag, x, x + 1)

    refused(line(definition), _core.UnsupportedPipeline, "not a bool")


def test_constraint_that_is_no_constant() -> None:
    def definition(f: hl.Func) -> None:
        image = hl.ImageParam(hl.Float(32), 2, "image")
        image.dim(1).set_stride(image.width())
        f[x] = image[x, 0]

    refused(line(definition), _core.UnsupportedPipeline, r"'stride\.1'.*'image'")


def test_too_many_loops() -> None:
    variables = [hl.Var(f"v{i}_") for i in range(17)]
    f = hl.Func("f")
    f[variables] = hl.f32(1)
    f.set_estimates([(0, 2)] * 17)
    refused(f, _core.UnsupportedPipeline, "17 loops; at most 16")


def test_two_funcs_of_one_name() -> None:
    inner = hl.Func("inner")
    inner[x] = x
    (twin,) = hl.deserialize_pipeline(hl.serialize_pipeline(hl.Pipeline(inner))).outputs()

    def definition(f: hl.Func) -> None:
        f[x] = inner[x] + twin[x + 1]

    refused(line(definition), _core.UnsupportedPipeline, "same name")


def test_undefined_outputs() -> None:
    refused(hl.Func("nothing"), _core.UnsupportedPipeline, "'nothing.*no definition")
    refused(hl.Pipeline(), _core.UnsupportedPipeline, "no outputs")


def test_extern_stages_are_accepted() -> None:
    e, o = hl.Func("e"), hl.Func("o")
    e.define_extern("some_function", [hl.ExternFuncArgument(3)], [hl.Float(32)], [x])
    o[x] = e[x] + e[x + 1]
    o.set_estimates([(0, 10)])
    problem = extract(o)
    extern = problem.nodes[1]
    assert (extern.is_extern, extern.is_pointwise, extern.is_input) == (True, True, False)
    assert [edge.calls for edge in problem.edges] == [2]
    assert extract(problem.pipeline()) == problem
