"""The benchmark pipelines at sizes that they can run with."""

from __future__ import annotations

from halidegym.envs import pipelines
from halidegym.envs.problem import SchedulingProblem
from halidegym.evaluation.pipeline_argument import load_problem

# The published estimates of conv_layer are no sizes that it can run with.
_OPTIONS = {"conv_layer": {"estimates": "true"}}


def runnable_problem(pipeline: str, *, target: str = "host", parallelism: int | None = None) -> SchedulingProblem:
    """The problem of a pipeline, as on the command line, but for registered ones that need other estimates to run.

    Args:
        pipeline: see `pipeline_argument.HELP`.
        target: Halide target string, or "host".
        parallelism: number of cores to schedule for; None for the usable ones.
    """
    if pipeline not in _OPTIONS:
        return load_problem(pipeline, target=target, parallelism=parallelism)
    built = pipelines.build(pipeline, **_OPTIONS[pipeline])
    return SchedulingProblem.from_pipeline(built, target=target, parallelism=parallelism, name=pipeline)
