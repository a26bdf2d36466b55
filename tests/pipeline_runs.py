"""Running pipelines in tests. Arrays are indexed in reverse: (c, y, x) is Halide's (x, y, c)."""

import functools

import halide as hl
import numpy as np
import pytest

from halidegym.agents.planners.greedy import Greedy
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.one_off import run_schedule
from halidegym.native import _core

SCHEDULED = pytest.mark.parametrize("scheduled", [False, True], ids=["unscheduled", "scheduled"])
"""For tests that run a pipeline both as it is and by a schedule that our search found."""
SCHEDULED_SLOWLY = pytest.mark.parametrize(
    "scheduled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["unscheduled", "scheduled"]
)
"""The same where the schedule takes long to compile."""


@functools.lru_cache(maxsize=8)
def built(name: str, size: tuple[int, int], scheduled: bool) -> hl.Pipeline:
    """A pipeline for `run`; the same one each time, so that it is compiled once for all tests of a process.

    What is to be scheduled is another one: `run` computes each Func of the others at root.
    """
    return pipelines.build(name, size=size)


def run(
    pipeline: hl.Pipeline,
    output: np.ndarray,
    minimum: list[int] | None = None,
    inlined: tuple[str, ...] = (),
    scheduled: bool = False,
    **inputs: object,
) -> np.ndarray:
    """Run the pipeline and return the output, of the type and shape of `output`.

    Args:
        pipeline: unscheduled, with one output.
        output: an array to overwrite, or only to look at.
        minimum: first coordinates of the output; 0 by default.
        inlined: what is not computed at root without a schedule, as each Func else is.
        scheduled: run it by the schedule that greedy search finds for these inputs and the output's own estimates.
        **inputs: an array or a scalar for each.
    """
    if scheduled:
        return _run_scheduled(pipeline, output, inputs)
    kernel, arguments = _compiled(pipeline, inlined)
    buffer = hl.Buffer(output)
    if minimum is not None:
        buffer.set_min(minimum)
    values = [inputs[argument.name] for argument in arguments]
    buffers = [hl.Buffer(value) if isinstance(value, np.ndarray) else value for value in values]
    kernel(*buffers, buffer)
    return output


@functools.lru_cache(maxsize=8)
def _compiled(pipeline: hl.Pipeline, inlined: tuple[str, ...]) -> tuple[hl.Callable, list[hl.Argument]]:
    for i, name in enumerate(pipeline_functions(pipeline)):
        if name.split("$")[0] not in inlined:
            pipeline.get_func(i).compute_root()
    arguments = pipeline.infer_arguments()
    return pipeline.compile_to_callable(arguments, hl.Target(_core.resolve_target("host"))), arguments


def _run_scheduled(pipeline: hl.Pipeline, output: np.ndarray, inputs: dict[str, object]) -> np.ndarray:
    arrays = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
    estimates = {name: [(0, extent) for extent in array.shape[::-1]] for name, array in arrays.items()}
    needed = {argument.name for argument in pipeline.infer_arguments()}
    estimates |= {name: value for name, value in inputs.items() if name in needed - arrays.keys()}
    problem = SchedulingProblem.from_pipeline(pipeline, parallelism=2, estimates=estimates)
    schedule = Greedy().plan(problem).schedule
    assert "compute_root" in schedule.cpp()
    (found,) = run_schedule(problem, schedule, threads=2, inputs=arrays, timeout_s=300)
    assert (found.dtype, found.shape) == (output.dtype, output.shape)
    return found


def pipeline_functions(pipeline: hl.Pipeline) -> list[str]:
    names: list[str] = []
    while True:
        try:
            names.append(pipeline.get_func(len(names)).name())
        except hl.HalideError:
            return names


def random(*shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, shape).astype(np.float32)


def luma(image: np.ndarray) -> np.ndarray:
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    return np.tensordot(weights, image.astype(np.float32), 1)
