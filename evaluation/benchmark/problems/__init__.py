"""What agents are compared on: one file a kind of problem."""

from __future__ import annotations

from collections.abc import Sequence

from halidegym.evaluation.benchmark.problems.kind import ProblemKind
from halidegym.evaluation.benchmark.problems.pipelines import Pipelines
from halidegym.evaluation.benchmark.problems.transforms import Transforms

KINDS: Sequence[ProblemKind] = (Transforms(), Pipelines())
"""Whoever of them takes a name first has it; the last one takes any."""


def kind_of(name: str) -> ProblemKind:
    """The kind of the problem that the text stands for."""
    return next(kind for kind in KINDS if kind.takes(name))
