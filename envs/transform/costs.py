"""Where the costs of plans come from, as environments ask for them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from halidegym.native._core import TransformSpace


class PlanRating(NamedTuple):
    """What a plan costs in microseconds, and what there is to tell about it in `info`."""

    microseconds: float
    info: dict[str, Any]


@runtime_checkable
class PlanCosts(Protocol):
    """The costs of plans of a transform, and of the one that they are compared with."""

    def baseline(self, space: TransformSpace) -> float:
        """Microseconds of the plan that dynamic programming with the model finds: that of the model without context."""

    def rate(self, space: TransformSpace, plan: str) -> PlanRating:
        """What a complete plan of the space costs, given its text."""

    def fingerprint(self, space: TransformSpace) -> str:
        """What costs depend on besides the plan: equal ones may be compared."""

    def close(self) -> None:
        """Free what is held."""


class ModelCosts:
    """The costs of the space's model: deterministic, and without a clock."""

    def baseline(self, space: TransformSpace) -> float:
        """That of the root, which dynamic programming would complete."""
        return space.root().model_cost

    def rate(self, space: TransformSpace, plan: str) -> PlanRating:
        """By the model."""
        return PlanRating(space.state(plan).model_cost, {})

    def fingerprint(self, space: TransformSpace) -> str:
        """The space, and the context of the model."""
        return f"{name_of(space)}, model, context {space.context:g}"

    def close(self) -> None:
        """Nothing is held."""


def name_of(space: TransformSpace) -> str:
    """The plans of a space in a few words."""
    return f"transform {space.n}, {space.space}, lanes {' '.join(map(str, space.lanes))}, rules 1"
