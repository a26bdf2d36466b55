"""The problems that an environment draws its episodes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from halidegym.envs.generated_problems import GeneratedProblems
from halidegym.envs.pipelines import generated
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.problems.snapshot import Estimate
from halidegym.envs.sources import ProblemSource, load_problems
from halidegym.native import _core
from halidegym.native.checks import INT32_MAX, check_at_least, shown
from halidegym.native.weights import resolve_weights

RANDOM = "random"
"""The source that stands for a generated pipeline of the train split per episode, of version 1."""

_SUITES = {RANDOM: generated.suite_of("train"), **{suite: suite for suite in generated.SUITES}}


class PreparedProblems(Protocol):
    """All tasks of an environment, by their index."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> PreparedProblem: ...

    def given_problems(self) -> tuple[SchedulingProblem, ...]:
        """Their problems, but none of generated tasks, which have no end."""

    def least_shape(self) -> _core.ObservationShape:
        """The room that observations of all the tasks need, with one decision."""


def generated_suites(pipeline: ProblemSource | Sequence[ProblemSource]) -> tuple[str, ...]:
    """The suites of generated pipelines that sources stand for, each once; none if they stand for something else.

    Raises:
        InvalidParameter: suites and others are in one sequence.
    """
    given = (pipeline,) if isinstance(pipeline, str) else pipeline
    if not isinstance(given, Sequence):
        return ()
    suites = [_SUITES[source] for source in given if isinstance(source, str) and source in _SUITES]
    if suites and len(suites) < len(given):
        raise _core.InvalidParameter(
            f"pipeline={shown(pipeline)}: {suites[0]} stands for generated pipelines without end, and not for some of a "
            f'sequence; give suites of these alone, or names such as "{suites[0]}/0" beside others'
        )
    return tuple(dict.fromkeys(suites))


def draw_index(problems: PreparedProblems, generator: np.random.Generator) -> int:
    """The index of the problem of the next episode."""
    return int(generator.integers(len(problems))) if len(problems) > 1 else 0


def load_prepared_problems(
    pipeline: ProblemSource | Sequence[ProblemSource],
    *,
    target: str | None,
    parallelism: int | None,
    estimates: Mapping[str, Estimate] | None,
    pipeline_options: Mapping[str, Any] | None,
    weights: _core.Weights | str | Path | None,
    rules: Rules,
    pool: int | None = None,
) -> PreparedProblems:
    """The tasks that the arguments of an environment stand for.

    Raises:
        InvalidParameter: estimates or options are given for generated pipelines, which have none; or the size of a pool
            for others, or none of at least 1.
        Error: see `load_problems` and `resolve_weights`.
    """
    model = resolve_weights(weights)
    check_at_least(1, INT32_MAX, pool=pool)
    if isinstance(pipeline, np.ndarray):
        pipeline = pipeline.tolist()
    if suites := generated_suites(pipeline):
        if estimates or pipeline_options:
            raise _core.InvalidParameter(
                "Generated pipelines take neither estimates nor pipeline_options: leave them out"
            )
        problems = GeneratedProblems(suites, target, parallelism, rules, model)
        if pool is None:
            return problems
        from halidegym.envs.problem_pool import shared_pool  # files and threads, which others need not load

        return shared_pool(problems, pool)
    if pool is not None:
        raise _core.InvalidParameter(
            f'pool={pool} is for generated pipelines alone, not for pipeline={shown(pipeline)}: use pipeline="random" or a '
            f'suite such as "{next(iter(generated.SUITES))}", or leave it out'
        )
    given = load_problems(
        pipeline, target=target, parallelism=parallelism, estimates=estimates, pipeline_options=pipeline_options
    )
    return _Given([PreparedProblem(problem, rules, model) for problem in given])


class _Given:
    def __init__(self, prepared: Sequence[PreparedProblem]) -> None:
        self._prepared = tuple(prepared)

    def __len__(self) -> int:
        return len(self._prepared)

    def __getitem__(self, index: int) -> PreparedProblem:
        return self._prepared[index]

    def given_problems(self) -> tuple[SchedulingProblem, ...]:
        return tuple(task.problem for task in self._prepared)

    def least_shape(self) -> _core.ObservationShape:
        shapes = [task.shape for task in self._prepared]
        return _core.ObservationShape(
            stages=max(shape.stages for shape in shapes),
            edges=max(shape.edges for shape in shapes),
            loops=max(shape.loops for shape in shapes),
            decisions=1,
        )
