"""From whatever names a pipeline to scheduling problems: names, files, Halide objects, functions, problems."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import halide as hl

from halidegym.envs import pipelines
from halidegym.envs.problems.halide_generators import generated_pipeline, is_generator
from halidegym.envs.problems.problem import NoPipeline, PipelineLike, SchedulingProblem
from halidegym.envs.problems.snapshot import Estimate, PipelineSnapshot
from halidegym.envs.specification import saved_problem
from halidegym.native._core import InvalidParameter, resolve_target
from halidegym.native.checks import check_kind, shown

ProblemSource = PipelineLike | SchedulingProblem | Mapping[str, str]
"""A registered name, the path of an `.hlpipe` file, a Func, a Pipeline, a function that returns one, a generator, a problem,
or one as `env.spec.to_json()` writes it."""


def load_problem(
    source: ProblemSource,
    *,
    target: str | hl.Target | None = None,
    parallelism: int | None = None,
    estimates: Mapping[str, Estimate] | None = None,
    pipeline_options: Mapping[str, Any] | None = None,
    example_inputs: Mapping[str, Sequence[int]] | None = None,
    on_proposal: Callable[[Mapping[str, Estimate]], None] | None = None,
) -> SchedulingProblem:
    """The scheduling problem that `source` stands for.

    Args:
        source: the name of a registered pipeline, the path of an `.hlpipe` file, a `halide.Func` or `halide.Pipeline`,
            a function that returns one, a generator, a `SchedulingProblem`, or one as `env.spec.to_json()` writes it.
        target: a Halide target, or its string; this machine by default, or the target that a problem was made for.
        parallelism: number of cores to schedule for; the usable ones by default, or those that a problem was made for.
        estimates: of the pipeline's parameters and outputs, see `SchedulingProblem.from_pipeline`.
        pipeline_options: arguments of the function that builds the pipeline, such as its `size`, or parameters of a
            generator.
        example_inputs: extents of example inputs, by name, from which estimates are proposed that are missing; none, if
            nothing is to be proposed (`halidegym.envs.problems.estimate_proposals`).
        on_proposal: is told the estimates that were proposed.

    Raises:
        InvalidParameter: there is no pipeline or file of this name, a problem was made for another target or cannot get
            estimates any more, or the pipeline has no such option.
        MissingEstimate, UnsupportedPipeline, FormatError, TypeError: see `SchedulingProblem.from_pipeline`.
    """
    check_kind(Mapping, estimates=estimates, pipeline_options=pipeline_options, example_inputs=example_inputs)
    target = None if target is None else str(target)
    check_kind(str, target=target)
    options = dict(pipeline_options or {})
    if isinstance(source, Mapping):
        source = saved_problem(source)
    if isinstance(source, SchedulingProblem):
        _refuse(options, f"the problem {source.name!r} is built already")
        _refuse(estimates, f"the problem {source.name!r} is built already", "estimates")
        return _adapted(source, target, parallelism)
    source, name = _built(source, target, options)
    if example_inputs:
        if callable(source):
            name, source = name or source.__name__, source()
        proposed = _proposed(source, example_inputs, estimates or {}, "host" if target is None else target)
        estimates = {**proposed, **(estimates or {})}
        if on_proposal is not None:
            on_proposal(proposed)
    return SchedulingProblem.from_pipeline(
        source, target="host" if target is None else target, parallelism=parallelism, estimates=estimates, name=name
    )


def _proposed(
    source: PipelineLike, examples: Mapping[str, Sequence[int]], given: Mapping[str, Estimate], target: str
) -> Mapping[str, Estimate]:
    # Starts processes, which others need not load.
    from halidegym.envs.problems.estimate_proposals import propose_for_file, propose_for_snapshot

    if isinstance(source, str | os.PathLike):
        return propose_for_file(Path(source), examples, given, target)
    pipeline = hl.Pipeline(source) if isinstance(source, hl.Func) else source
    if not isinstance(pipeline, hl.Pipeline):
        raise NoPipeline(
            f"Estimates are proposed for a halide.Func or halide.Pipeline, not for a {type(source).__name__}"
        )
    return propose_for_snapshot(PipelineSnapshot.take(pipeline), examples, given, target)


def _built(source: PipelineLike, target: str | None, options: dict[str, Any]) -> tuple[PipelineLike, str | None]:
    """What `SchedulingProblem.from_pipeline` takes, and its name; None for the default."""
    name = None
    if isinstance(source, str) and pipelines.is_name(source):
        name, source = named(source, options), _build_registered(source, options)
    elif isinstance(source, str | os.PathLike):
        if not Path(source).is_file():
            raise InvalidParameter(
                f"There is no pipeline {shown(os.fspath(source))}: give one of {', '.join(pipelines.names())}; or the path "
                "of an .hlpipe file, a halide.Func, a halide.Pipeline, a function that returns one, or a SchedulingProblem"
            )
        _refuse(options, f"{os.fspath(source)} is built already")
    elif isinstance(source, hl.Func | hl.Pipeline):
        _refuse(options, f"a halide.{type(source).__name__} is built already")
    elif is_generator(source):
        name = named(source.__name__, options)
        source = generated_pipeline(source, "host" if target is None else target, options)
    elif callable(source):
        function = getattr(source, "__name__", type(source).__name__)
        options = _checked_options(source, options, function)
        if options:
            name, source = named(function, options), source(**options)
    return source, name


def load_problems(
    sources: ProblemSource | Sequence[ProblemSource],
    *,
    target: str | hl.Target | None = None,
    parallelism: int | None = None,
    estimates: Mapping[str, Estimate] | None = None,
    pipeline_options: Mapping[str, Any] | None = None,
) -> tuple[SchedulingProblem, ...]:
    """The problems of one source or of a sequence of them, where a suite stands for its pipelines; see `load_problem`.

    Raises:
        InvalidParameter: the sequence is empty; and whatever `load_problem` raises.
    """
    if isinstance(sources, str | bytes) or not isinstance(sources, Sequence):
        sources = (sources,)
    if not sources:
        raise InvalidParameter("The sequence of pipelines is empty: give at least one")
    return tuple(
        load_problem(
            source,
            target=target,
            parallelism=parallelism,
            estimates=estimates,
            pipeline_options=pipeline_options,
        )
        for given in sources
        for source in (pipelines.members(given) if isinstance(given, str) else [given])
    )


def _build_registered(name: str, options: Mapping[str, Any]) -> hl.Pipeline:
    checked = _checked_options(pipelines.entry(name).build, options, name)
    try:
        return pipelines.build(name, **checked)
    except ValueError as error:
        raise InvalidParameter(str(error)) from error


def named(name: str, options: Mapping[str, Any]) -> str:
    """What reports call the pipeline: another name, if it is another pipeline."""
    arguments = ", ".join(f"{option}={value!r}" for option, value in options.items())
    return f"{name}({arguments})" if options else name


def _checked_options(build: Callable[..., Any], options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The options, in which the texts true and false, as on the command line, are truths where these are wanted.

    Any text counts as true in Python, so that "false" would build the other pipeline.
    """
    try:
        signature = inspect.signature(build)
    except ValueError as error:  # of some that C code defines
        raise InvalidParameter(
            f"pipeline={shown(build)}: {error}; give a function that returns a halide.Func or a halide.Pipeline"
        ) from error
    try:
        signature.bind(**options)
    except TypeError as error:
        known = ", ".join(signature.parameters) or "none"
        raise InvalidParameter(f"pipeline_options of {what}: {error}. It has these options: {known}") from error
    checked = dict(options)
    for name, parameter in signature.parameters.items():
        is_switch = isinstance(parameter.default, bool) or parameter.annotation in (bool, "bool")
        if is_switch and isinstance(value := options.get(name), str):
            if value not in ("true", "false"):
                raise InvalidParameter(f"pipeline_options of {what}: {name}={shown(value)}; give true or false")
            checked[name] = value == "true"
    return checked


def _refuse(given: Mapping[str, Any] | None, reason: str, argument: str = "pipeline_options") -> None:
    if given:
        raise InvalidParameter(f"{argument}={shown(dict(given))}: {reason}. Leave them out, or give what builds it")


def _adapted(problem: SchedulingProblem, target: str | None, parallelism: int | None) -> SchedulingProblem:
    if target is not None and resolve_target(target) != problem.target:
        raise InvalidParameter(
            f"The problem {problem.name!r} was made for target {problem.target}, not {target}: leave the target out, "
            "or make the problem for it"
        )
    if parallelism is None or parallelism == problem.parallelism:
        return problem
    return problem.with_parallelism(parallelism)
