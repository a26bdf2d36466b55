"""What a cost depends on besides the schedule."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import Weights
from halidegym.native.weights import weights_hash


@dataclass(frozen=True)
class Fingerprint:
    """Everything that a cost depends on: costs may be compared where the fingerprints are equal.

    Attributes:
        problem: name of the problem.
        problem_hash: of its data, target and parallelism included.
        target: Halide target string.
        parallelism: number of cores that schedules are made for.
        weights_hash: SHA-256 of the cost model's weights; None if there is no cost model.
        halide_version: of the installed package.
    """

    problem: str
    problem_hash: str
    target: str
    parallelism: int
    weights_hash: str | None
    halide_version: str


def fingerprint(problem: SchedulingProblem, weights: Weights | None) -> Fingerprint:
    """Return the fingerprint of a problem under a cost model with these weights, or without a cost model."""
    return Fingerprint(
        problem=problem.name,
        problem_hash=problem.hash,
        target=problem.target,
        parallelism=problem.parallelism,
        weights_hash=None if weights is None else weights_hash(weights),
        halide_version=importlib.metadata.version("halide"),
    )
