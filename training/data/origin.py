"""What the costs and actions of stored plans depend on besides their problem."""

from __future__ import annotations

import dataclasses
import importlib.metadata

from halidegym.native._core import FormatError
from halidegym.native.weights import builtin_weights, weights_hash

# What the names of generated pipelines stand for has not changed: they tell which version of the distribution is meant.
_GENERATOR = 1


@dataclasses.dataclass(frozen=True)
class Origin:
    """The fingerprint of plans: those of another one are not mixed with ours.

    Attributes:
        halide_version: of the installed package.
        weights_hash: of the cost model's weights.
        target: Halide target string.
        parallelism: number of cores that schedules are made for.
        generator: version of what the names of generated pipelines stand for.
    """

    halide_version: str
    weights_hash: str
    target: str
    parallelism: int
    generator: int

    @classmethod
    def here(cls, target: str, parallelism: int) -> Origin:
        """That of plans made now, with the pretrained weights."""
        return cls(
            importlib.metadata.version("halide"), weights_hash(builtin_weights()), target, parallelism, _GENERATOR
        )

    def check(self, wanted: Origin, what: str) -> None:
        """Refuse plans of another fingerprint.

        Raises:
            FormatError: it differs from the wanted one.
        """
        differences = [
            f"{field.name} {getattr(self, field.name)!r} instead of {getattr(wanted, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != getattr(wanted, field.name)
        ]
        if differences:
            raise FormatError(
                f"{what} was made under other conditions: {'; '.join(differences)}. Collect into another folder, or "
                "remove it"
            )
