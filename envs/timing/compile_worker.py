"""What happens in the process in which Halide compiles.

LLVM can abort the process that it runs in, so it gets one of its own, which calls `carry_out`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Literal

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.native import _core

KERNEL = "kernel"
"""Name of the compiled function."""

# Features that change how a kernel is called, and nothing else: the runner calls all of them in one way.
_WAYS_TO_CALL = (hl.TargetFeature.UserContext, hl.TargetFeature.CPlusPlusMangling)


@dataclasses.dataclass(frozen=True)
class KernelRequest:
    """To compile a scheduled pipeline, without Halide's runtime, to an object file."""

    problem: SchedulingProblem
    schedule: ScheduleLike
    object_path: str


@dataclasses.dataclass(frozen=True)
class RuntimeRequest:
    """To write Halide's runtime for a target to an object file."""

    target: str
    object_path: str


@dataclasses.dataclass(frozen=True)
class Reply:
    """How a request went.

    Attributes:
        outcome: "ok"; "error": Halide refused; "out_of_memory".
        error: why Halide refused; empty if it did not.
        halide_s: seconds spent in Halide.
        work_s: seconds in which a core worked for it, from the schedule to the object file.
    """

    outcome: Literal["ok", "error", "out_of_memory"]
    error: str
    halide_s: float
    work_s: float = 0.0


def _compile_kernel(request: KernelRequest) -> float:
    try:
        return _compile_as_scheduled(request)
    except hl.HalideError:
        if not (isinstance(request.schedule, TrustedSchedule) and request.schedule.is_vectorized):
            raise
        plain = dataclasses.replace(request.schedule, is_vectorized=False)
        return _compile_as_scheduled(dataclasses.replace(request, schedule=plain))


def _compile_as_scheduled(request: KernelRequest) -> float:
    pipeline = (request.schedule or request.problem).pipeline()
    # Halide's serialization keeps the estimates of a Func, but those of its output buffer are what the compiled kernel
    # tells its runner.
    scheduled = request.problem if request.schedule is None else request.schedule.problem
    # Of one pipeline that was built twice, the names differ, since Halide counts them; the order of the Funcs does not.
    regions = {
        named.name: node.estimated_region for named, node in zip(scheduled.nodes, request.problem.nodes, strict=True)
    }
    for output in pipeline.outputs():
        output.set_estimates(_run_region(output, regions[output.name()]))
    target = _without(_WAYS_TO_CALL, request.problem.target).with_feature(hl.TargetFeature.NoRuntime)
    if isinstance(request.schedule, TrustedSchedule):
        target = target.with_feature(hl.TargetFeature.LargeBuffers)  # all intermediate images are there as a whole
    arguments = pipeline.infer_arguments()
    begin = time.perf_counter()
    pipeline.compile_to_object(request.object_path, arguments, KERNEL, target)
    return time.perf_counter() - begin


def _run_region(output: hl.Func, estimated: Sequence[_core.Span]) -> list[tuple[int, int]]:
    """Min and extent per dimension of the region to compute: the estimated one, but for bounds promised to the compiler.

    The published estimates of conv_layer contradict its bounds (docs/specification/benchmark-pipelines.md, section 12).
    """
    promised = _core.read_parameter(output.output_buffers()[0].parameter()).values
    return [
        (int(promised.get(f"min.{d}", ("", span.min))[1]), int(promised.get(f"extent.{d}", ("", span.extent))[1]))
        for d, span in enumerate(estimated)
    ]


def _without(features: Sequence[hl.TargetFeature], target: str) -> hl.Target:
    without = hl.Target(target)
    for feature in features:
        without = without.without_feature(feature)
    return without


def carry_out(request: KernelRequest | RuntimeRequest) -> Reply:
    """Write the object file that is asked for."""
    begin, worked = time.perf_counter(), time.process_time()
    try:
        if isinstance(request, RuntimeRequest):
            # Halide 21 refuses to write a runtime for strict_float, which has none of the floats of pipelines.
            target = _without((hl.TargetFeature.StrictFloat,), request.target)
            hl.compile_standalone_runtime(request.object_path, target)
            return Reply("ok", "", time.perf_counter() - begin)
        halide_s = _compile_kernel(request)
        return Reply("ok", "", halide_s, time.process_time() - worked)
    except (hl.HalideError, _core.Error) as error:
        says_why = str(error).strip() != "Error:"
        return Reply("error", str(error) if says_why else "Halide gives no reason", time.perf_counter() - begin)
    except MemoryError as error:
        return Reply("out_of_memory", f"the compiler ran out of memory {error}".strip(), time.perf_counter() - begin)
