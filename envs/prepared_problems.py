"""The problems that an environment draws its episodes from."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from halidegym.envs.pipelines import generated
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.problems.snapshot import Estimate
from halidegym.envs.sources import ProblemSource, load_problem, load_problems
from halidegym.native import _core
from halidegym.native.weights import resolve_weights

RANDOM = "random"
"""The source that stands for a generated pipeline per episode."""

_KEPT = 16  # generated tasks, for states of late episodes to come back to


class PreparedProblems(Protocol):
    """All tasks of an environment, by their index."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> PreparedProblem: ...

    def given_problems(self) -> tuple[SchedulingProblem, ...]:
        """Their problems, but none of generated tasks, which have no end."""

    def least_shape(self) -> _core.ObservationShape:
        """The room that observations of all the tasks need, with one decision."""


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
) -> PreparedProblems:
    """The tasks that the arguments of an environment stand for.

    Raises:
        InvalidParameter: estimates or options are given for generated pipelines, which have none.
        Error: see `load_problems` and `resolve_weights`.
    """
    model = resolve_weights(weights)
    if isinstance(pipeline, str) and pipeline == RANDOM:
        if estimates or pipeline_options:
            raise _core.InvalidParameter(
                "Generated pipelines take neither estimates nor pipeline_options: leave them out"
            )
        return _Generated(target, parallelism, rules, model)
    problems = load_problems(
        pipeline, target=target, parallelism=parallelism, estimates=estimates, pipeline_options=pipeline_options
    )
    return _Given([PreparedProblem(problem, rules, model) for problem in problems])


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


class _Generated:
    """The train split of the generated pipelines. Each is built when it is drawn; the last ones are kept."""

    def __init__(self, target: str | None, parallelism: int | None, rules: Rules, weights: _core.Weights) -> None:
        def make(number: int) -> PreparedProblem:
            problem = load_problem(generated.name_of("train", number), target=target, parallelism=parallelism)
            return PreparedProblem(problem, rules, weights)

        self._arguments = target, parallelism, rules, weights
        self._make = functools.lru_cache(maxsize=_KEPT)(make)

    def __reduce__(self) -> tuple[type[_Generated], tuple[str | None, int | None, Rules, _core.Weights]]:
        return _Generated, self._arguments

    def __len__(self) -> int:
        return generated.COUNT

    def __getitem__(self, index: int) -> PreparedProblem:
        return self._make(index)

    def given_problems(self) -> tuple[SchedulingProblem, ...]:
        return ()

    def least_shape(self) -> _core.ObservationShape:
        return _core.ObservationShape(
            stages=generated.MAX_STAGES, edges=generated.MAX_EDGES, loops=generated.MAX_LOOPS, decisions=1
        )
