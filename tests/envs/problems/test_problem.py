"""`SchedulingProblem`: what it is made from, and that it survives storage; what is refused is in `test_refusals.py`."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import halide as hl
import numpy as np
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
    assert problem.target == _core.resolve_target("host")


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


def test_boolean_estimates_may_be_conditions() -> None:
    """Halide keeps them as an int32, which `select` refuses (Q18 of docs/specification/function-dag.md)."""

    def pipeline(flag: hl.Param) -> hl.Func:
        image, f = hl.ImageParam(hl.Float(32), 1, "image"), hl.Func("f")
        f[x] = image[x + hl.select(flag & (x < 8), 0, 100)]
        image.set_estimates([(0, 200)])
        f.set_estimates([(0, 10)])
        return f

    for value in (True, False):
        bare, estimated = hl.Param(hl.Bool(), "flag"), hl.Param(hl.Bool(), "flag")
        estimated.set_estimate(value)
        given = SchedulingProblem.from_pipeline(pipeline(bare), target=TARGET, parallelism=4, estimates={"flag": value})
        assert extract(pipeline(estimated)) == given


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


def test_an_estimate_is_of_all_outputs_of_its_name_but_those_that_have_their_own() -> None:
    outputs = [hl.Func("twin") for _ in range(3)]
    for output in outputs:
        output[x] = x
    problem = SchedulingProblem.from_pipeline(
        hl.Pipeline(outputs), target=TARGET, estimates={outputs[1].name(): [(2, 20)], "twin": [(1, 10)]}
    )
    spans = {node.name: node.estimated_region[0] for node in problem.nodes}
    found = [(spans[output.name()].min, spans[output.name()].max) for output in outputs]
    assert found == [(1, 10), (2, 21), (1, 10)]


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


def test_constraints_of_the_output_buffer_travel() -> None:
    """Which dimension has a stride of 1 decides what may be vectorized, docs/specification/function-dag.md, section 4.7."""
    interleaved = extract(analysis_pipelines.interleaved_output())
    assert interleaved.nodes[0].unit_stride_dimensions == [2]
    kernel = interleaved.pipeline().compile_to_callable([], hl.Target(_core.resolve_target("host")))
    kernel(hl.Buffer.make_interleaved(hl.UInt(8), 64, 32, 3))
    with pytest.raises(hl.HalideError, match=r"stride\.0 \(1\) == 3"):
        kernel(hl.Buffer(hl.UInt(8), [64, 32, 3]))


def looked_up(table: Sequence[int], name: str = "f", *, scale: float = 1.0, extent: int = 3) -> SchedulingProblem:
    f, g, x, r = hl.Func(name), hl.Func(), hl.Var(), hl.RDom([(0, extent)])
    image, factor = hl.ImageParam(hl.UInt(8), 1), hl.Param(hl.Float(32))
    image.set_estimates([(0, 200)])
    factor.set_estimate(scale)
    entries = hl.Buffer(np.array(table, dtype=np.uint8))
    g[x] = factor * hl.cast(hl.Float(32), entries[hl.clamp(hl.i32(image[x]), 0, len(table) - 1)])
    f[x] = 0.0
    f[x] += g[x + r]
    f.set_estimates([(0, 100)])
    return extract(f)


def test_what_a_pipeline_computes_is_told_apart_and_how_it_is_named_is_not() -> None:
    algorithm = looked_up([1, 2, 3, 4]).algorithm
    assert looked_up([1, 2, 3, 4], "of_another_name").algorithm == algorithm
    others = [
        looked_up([1, 2, 3, 5]),
        looked_up([1, 2, 3, 4], scale=2.0),
        looked_up([1, 2, 3, 4], extent=4),
        looked_up([1, 2, 3, 4, 4]),
    ]
    assert others[0] == looked_up([1, 2, 3, 4])
    assert len({algorithm, *(other.algorithm for other in others)}) == 5


def test_which_random_numbers_are_drawn_is_a_matter_of_the_process() -> None:
    def noise(count: int) -> SchedulingProblem:
        f, x = hl.Func(), hl.Var()
        f[x] = sum((hl.random_float() for _ in range(count)), hl.f32(0))
        f.set_estimates([(0, 100)])
        return extract(f)

    assert noise(2).algorithm == noise(2).algorithm != noise(3).algorithm


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
        lambda data: data.replace(b"x86-64", b"\xff86-64", 1),
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
    with pytest.raises(FileNotFoundError, match=r"no file .*missing\.hlpipe; give the path of an \.hlpipe file"):
        SchedulingProblem.from_pipeline(tmp_path / "missing.hlpipe")


def test_names_are_for_pipelines_build() -> None:
    with pytest.raises(FileNotFoundError, match=r"no file harris; .* halidegym\.pipelines\.build .* registered"):
        SchedulingProblem.from_pipeline("harris")


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
    names = [match.start() for match in re.finditer(re.escape(g.name().encode()) + rb"\0", whole)]
    refusals = [refusal(whole[:name] + b"\xff" + whole[name + 1 :]) for name in names]
    told = [
        re.match(rf"{path} is no pipeline that Halide can read: .*write it again", text) for text in refusals if text
    ]
    assert len(told) >= 2
    assert all(told)
    assert refusal(whole) == ""
