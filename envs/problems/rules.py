"""What a search space of schedules allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import Space, Weights
from halidegym.native.checks import check_at_least, check_given, check_number
from halidegym.native.weights import resolve_weights


@dataclass(frozen=True)
class Rules:
    """What a search space allows. Actions mean something only in the space that they were chosen in.

    Attributes:
        subtiling: whether a Func may be tiled more than once; without it, all placements precede all parallelizations
            (docs/specification/search-and-cost-model.md, section 1.6).
        memory_limit: bytes of working set beyond the outputs that a schedule may need; None for no limit.
        max_recompute: how many times the fewest points possible a stage may compute; None for no limit. The reference's
            8 leaves some pipelines no schedule at all (docs/specification/search-space.md, section 7.4).

    Raises:
        InvalidParameter: a limit is no number of bytes, or below 1.
    """

    subtiling: bool = True
    memory_limit: int | None = None
    max_recompute: float | None = 8.0

    def __post_init__(self) -> None:
        check_at_least(0, memory_limit=self.memory_limit)
        check_number(1, max_recompute=self.max_recompute)
        if self.max_recompute is not None:
            is_limit = math.isfinite(self.max_recompute)
            object.__setattr__(self, "max_recompute", float(self.max_recompute) if is_limit else None)
        check_given(bool, subtiling=self.subtiling)

    @classmethod
    def of(cls, space: Space) -> Rules:
        """The rules of a search space."""
        return cls(space.subtiling, None if space.memory_limit < 0 else space.memory_limit, space.max_recompute)

    def space(self, problem: SchedulingProblem, weights: Weights | None = None) -> Space:
        """Return the search space of a problem under these rules; weights of the cost model, None for the built-in ones.

        Raises:
            InvalidParameter: `problem` is none.
        """
        check_given(SchedulingProblem, problem=problem)
        return Space(
            problem.native,
            resolve_weights(weights),
            subtiling=self.subtiling,
            memory_limit=-1 if self.memory_limit is None else self.memory_limit,
            max_recompute=math.inf if self.max_recompute is None else self.max_recompute,
        )
