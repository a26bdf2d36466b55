"""From whatever names a pipeline to scheduling problems: names, files, Halide objects, functions, problems."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import halide as hl

from halidegym.envs import pipelines
from halidegym.envs.problem import PipelineLike, SchedulingProblem
from halidegym.envs.snapshot import Estimate
from halidegym.native._core import InvalidParameter

ProblemSource = PipelineLike | SchedulingProblem
"""A registered name, the path of an `.hlpipe` file, a Func, a Pipeline, a function that returns one, or a problem."""


def load_problem(
    source: ProblemSource,
    *,
    target: str | None = None,
    parallelism: int | None = None,
    estimates: Mapping[str, Estimate] | None = None,
) -> SchedulingProblem:
    """The scheduling problem that `source` stands for.

    Args:
        source: the name of a registered pipeline, the path of an `.hlpipe` file, a `halide.Func` or `halide.Pipeline`,
            a function without arguments that returns one, or a `SchedulingProblem`.
        target: a Halide target string; this machine by default, or the target that a problem was made for.
        parallelism: number of cores to schedule for; the usable ones by default, or those that a problem was made for.
        estimates: of the pipeline's parameters, see `SchedulingProblem.from_pipeline`.

    Raises:
        InvalidParameter: there is no pipeline or file of this name, or a problem was made for another target.
        MissingEstimate, UnsupportedPipeline, FormatError, TypeError: see `SchedulingProblem.from_pipeline`.
    """
    if isinstance(source, SchedulingProblem):
        return _adapted(source, target, parallelism)
    name = None
    if isinstance(source, str) and pipelines.is_name(source):
        name, source = source, pipelines.build(source)
    elif isinstance(source, str | os.PathLike) and not Path(source).is_file():
        raise InvalidParameter(
            f"There is no pipeline {os.fspath(source)!r}: give one of {', '.join(pipelines.names())}; or the path of "
            "an .hlpipe file, a halide.Func, a halide.Pipeline, a function that returns one, or a SchedulingProblem"
        )
    return SchedulingProblem.from_pipeline(
        source, target="host" if target is None else target, parallelism=parallelism, estimates=estimates, name=name
    )


def load_problems(
    sources: ProblemSource | Sequence[ProblemSource],
    *,
    target: str | None = None,
    parallelism: int | None = None,
    estimates: Mapping[str, Estimate] | None = None,
) -> tuple[SchedulingProblem, ...]:
    """The problems of one source or of a sequence of them; see `load_problem`.

    Raises:
        InvalidParameter: the sequence is empty; and whatever `load_problem` raises.
    """
    if isinstance(sources, str) or not isinstance(sources, Sequence):
        sources = (sources,)
    if not sources:
        raise InvalidParameter("The sequence of pipelines is empty: give at least one")
    return tuple(
        load_problem(source, target=target, parallelism=parallelism, estimates=estimates) for source in sources
    )


def _adapted(problem: SchedulingProblem, target: str | None, parallelism: int | None) -> SchedulingProblem:
    if target is not None and (str(hl.get_host_target()) if target == "host" else target) != problem.target:
        raise InvalidParameter(
            f"The problem {problem.name!r} was made for target {problem.target}, not {target}: leave the target out, "
            "or make the problem for it"
        )
    if parallelism is None or parallelism == problem.parallelism:
        return problem
    return problem.with_parallelism(parallelism)
