"""What a generated pipeline computes, as plain data."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tensor:
    """The values of one Func.

    Attributes:
        type: "uint8", "uint16", "int16", "int32" or "float32"; of weights, "int8", too.
        extents: of the box from 0 on that consumers mean to use, innermost dimension first. Stencils reach a little
            beyond it.
        gain: about the largest magnitude of a float32. Whoever computes with the values divides by it first, so that
            they neither vanish nor overflow in a long chain of layers.
    """

    type: str
    extents: tuple[int, ...]
    gain: float = 1.0

    @property
    def points(self) -> int:
        """Number of values."""
        return math.prod(self.extents)


@dataclass(frozen=True)
class Stage:
    """One Func.

    Attributes:
        kind: what it computes: a key of `kinds.KINDS`.
        operands: indices of the stages that it reads.
        tensor: what it computes.
        options: of its kind, by name.
        variant: seed of the details that do not show in the graph: which operators a pointwise expression has.
        work: how many values it computes or adds up.
    """

    kind: str
    operands: tuple[int, ...]
    tensor: Tensor
    options: tuple[tuple[str, Any], ...]
    variant: int
    work: int

    @classmethod
    def make(
        cls,
        kind: str,
        operands: Sequence[int],
        tensor: Tensor,
        *,
        variant: int = 0,
        work: int | None = None,
        **options: Any,
    ) -> "Stage":
        """A stage; its work is the number of its values, if not given."""
        work = tensor.points if work is None else work
        return cls(kind, tuple(operands), tensor, tuple(options.items()), variant, work)

    def __getitem__(self, option: str) -> Any:
        return dict(self.options)[option]


@dataclass(frozen=True)
class Blueprint:
    """A generated pipeline: its stages, producers first, and which of them are outputs."""

    stages: tuple[Stage, ...]
    outputs: tuple[int, ...]

    def digest(self) -> int:
        """A number of 64 bits that is a function of the graph, its types, sizes and options.

        Variants and gains have no part in it, so that pipelines which only differ in them have the same digest.
        """
        structure = [
            (stage.kind, stage.operands, stage.tensor.type, stage.tensor.extents, stage.options)
            for stage in self.stages
        ]
        text = repr((structure, self.outputs))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
