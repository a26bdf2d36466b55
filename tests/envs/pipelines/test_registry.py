"""Benchmark pipelines: their graphs, their sizes, and their costs in the papers."""

import contextlib
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import halide as hl
import pytest

from halidegym.envs import pipelines
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native.weights import builtin_weights
from pipeline_runs import pipeline_functions

# docs/specification/benchmark-pipelines.md, section 17: nodes, stages, input nodes.
GRAPHS = {
    "bilateral_grid": (9, 10, 1),
    "local_laplacian": (104, 104, 1),
    "nl_means": (14, 18, 1),
    "lens_blur": (76, 82, 2),
    "camera_pipe": (38, 38, 3),
    "stencil_chain": (36, 36, 1),
    "harris": (13, 13, 1),
    "hist": (10, 13, 1),
    "max_filter": (10, 13, 1),
    "unsharp": (10, 10, 1),
    "interpolate": (52, 52, 1),
    "conv_layer": (5, 6, 3),
    "iir_blur": (5, 11, 1),
    "bgu": (21, 122, 3),
    "mat_mul": (4, 5, 2),
    "resnet_50/b0": (54, 60, 26),
    "resnet_50/b1": (31, 34, 16),
    "resnet_50/b3": (39, 43, 21),
    "resnet_50/b4": (31, 34, 16),
    "resnet_50/b7": (39, 43, 21),
    "resnet_50/b8": (31, 34, 16),
    "resnet_50/b13": (39, 43, 21),
    "resnet_50/b14": (31, 34, 16),
    "resnet_50/b15": (38, 44, 18),
}

# docs/specification/papers.md, section 2: the costs of the five passes and the number of evaluations, in the papers'
# setup.
PAPERS_TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"
SEARCHES = {
    "mat_mul": ([11.5766] * 5, 16321),
    "iir_blur": ([9.24476, 9.54691, 9.59512, 9.64943, 9.64943], 34158),
    "hist": ([4.54293, 8.84614, 8.82701, 8.80049, 8.755], 150279),
    "harris": ([2.29997, 2.2596, 1.97878, 1.73584, 1.73584], 175193),
    "conv_layer": ([23.3599] * 5, 92972),
    "unsharp": ([5.03773, 4.49245, 4.43961, 4.43961, 4.43961], 274256),
    "max_filter": ([61.9724, 114.909, 100.374, 100.21, 100.879], 477410),
    "stencil_chain": ([77.213, 78.9215, 78.8297, 78.7155, 78.7298], 580824),
    "camera_pipe": ([4.82035, 4.67217, 4.33816, 4.27147, 4.29509], 690581),
    "bilateral_grid": ([4.8759, 4.63675, 4.68683, 4.68683, 4.90562], 1377297),
}
FAST_SEARCHES = ("mat_mul", "iir_blur", "hist", "harris")

AUTOSCHEDULE = """
import pathlib, sys
import halide as hl
from halidegym.envs import pipelines
name, target = sys.argv[1:]
hl.load_plugin(str(pathlib.Path(hl.__file__).parent / "lib64" / "libautoschedule_adams2019.so"))
pipeline = pipelines.build(name)
pipeline.apply_autoscheduler(hl.Target(target), hl.AutoschedulerParams("Adams2019", {"parallelism": "16"}))
"""


@contextlib.contextmanager
def autoschedule(name: str, level: int) -> Iterator[IO[str]]:
    """What the plugin logs; it is ended with the context."""
    environment = os.environ | {"HL_DEBUG_AUTOSCHEDULE": str(level)}
    command = [sys.executable, "-c", AUTOSCHEDULE, name, PAPERS_TARGET]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr
        finally:
            process.kill()


def test_graphs_cover_every_pipeline() -> None:
    assert list(GRAPHS) == pipelines.names("papers-v1")


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_has_the_published_size(name: str) -> None:
    with autoschedule(name, level=2) as log:
        graph = "".join(itertools.takewhile(lambda line: not line.startswith("Loading weights"), log))
    found = (
        len(re.findall(r"^Node: ", graph, re.MULTILINE)),
        len(re.findall(r"^\s+Stage \d+:", graph, re.MULTILINE)),
        len(re.findall(r"input: 1", graph)),
    )
    assert found == GRAPHS[name]


@pytest.mark.parametrize(
    "name", [name if name in FAST_SEARCHES else pytest.param(name, marks=pytest.mark.slow) for name in SEARCHES]
)
def test_reference_search_gives_the_published_costs(name: str) -> None:
    with autoschedule(name, level=1) as stream:
        log = stream.read()
    costs = [float(cost) for cost in re.findall(r"^Pass \d+ of \d+, cost: (\S+),", log, re.MULTILINE)]
    expected_costs, expected_evaluations = SEARCHES[name]
    assert costs == pytest.approx(expected_costs, rel=3e-6)
    assert f"Cost evaluated this many times: {expected_evaluations}\n" in log


def test_unknown_names_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"no pipeline 'blurr'.*harris"):
        pipelines.build("blurr")
    with pytest.raises(ValueError, match=r"no pipeline 3: .*harris"):
        pipelines.build(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"no suite 'paper'.*papers"):
        pipelines.names("paper")
    with pytest.raises(ValueError, match=r"estimates='false'.*'published' or 'true'"):
        pipelines.build("conv_layer", estimates="false")


def test_a_second_build_gives_the_same_graph() -> None:
    first, second = (pipeline_functions(pipelines.build("harris")) for _ in range(2))
    assert [name.split("$")[0] for name in first] == [name.split("$")[0] for name in second]


@pytest.mark.parametrize("name", pipelines.names())
def test_what_was_built_before_does_not_change_the_graph(name: str) -> None:
    """Though Halide counts what it names, and orders Funcs of one name as texts: f$10 comes before f$9."""
    first = SchedulingProblem.from_pipeline(pipelines.build(name), target=PAPERS_TARGET)
    hashes = {fingerprint(first, builtin_weights()).problem_hash}
    for _ in range(10):
        for given in {node.name.partition("$")[0] for node in first.nodes} | {"lambda_0"}:
            hl.Func(given)
        again = SchedulingProblem.from_pipeline(pipelines.build(name), target=PAPERS_TARGET)
        hashes.add(fingerprint(again, builtin_weights()).problem_hash)
    assert len(hashes) == 1


def test_sizes_are_published_or_chosen() -> None:
    for name in pipelines.names("papers-v1"):
        with pytest.raises(ValueError, match=r"size='small' is no"):
            pipelines.build(name, size="small")
    small, default = pipelines.build("harris", size=(160, 128)), pipelines.build("harris")
    assert SchedulingProblem.from_pipeline(small).nodes[0].estimated_region[0].max == 3 + 160 - 6 - 1
    assert SchedulingProblem.from_pipeline(default).nodes[0].estimated_region[0].max == 3 + 1536 - 6 - 1
    for name, size in (("harris", (6, 128)), ("lens_blur", (127, 128)), ("bgu", (7, 64)), ("unsharp", (0, 8))):
        with pytest.raises(ValueError, match="is too small: the pipeline needs at least"):
            pipelines.build(name, size=size)
    with pytest.raises(ValueError, match=r"no \(width, height\)"):
        pipelines.build("unsharp", size=(1, 2, 3))
    with pytest.raises(ValueError, match="no positive integer"):
        pipelines.build("mat_mul", size=(64, 64))
