"""The interface of the stage library."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.pool import Pool, Proposal
from halidegym.envs.pipelines.generated.values import convert, halide_type

Coordinate: TypeAlias = Any
"""A `halide.Expr`, `Var` or `RVar`, or an integer; the halide package has no types that a checker knows."""


@dataclass(frozen=True)
class Operand:
    """A stage that another one reads, as a Halide Func."""

    func: hl.Func | hl.ImageParam
    tensor: Tensor

    def __getitem__(self, at: Sequence[Coordinate]) -> hl.Expr:
        """The value at these coordinates, one for each dimension."""
        # The cast changes nothing, but makes an Expr: of two mere references to Funcs, `halide.select` makes a Tuple.
        return hl.cast(halide_type(self.tensor.type), self.func[tuple(at)])

    def converted(self, at: Sequence[Coordinate], type_name: str) -> hl.Expr:
        """The same as a value of this type with gain 1."""
        return convert(self[at], self.tensor, type_name)

    def real(self, at: Sequence[Coordinate]) -> hl.Expr:
        """The same as a float, as it is: its magnitude is up to `values.largest(tensor)`."""
        value = self[at]
        return value if self.tensor.type == "float32" else hl.f32(value)


@dataclass(frozen=True)
class Kind:
    """One kind of stage.

    Attributes:
        family: what it is counted as in tables.
        weight: how often it is tried, relative to others.
        definitions: how many a Func of this kind has at most: the pure one and updates.
        propose: draws a stage of this kind for the stages so far.
        define: defines the Func, given its coordinates and its operands.
    """

    family: str
    weight: float
    definitions: int
    propose: Callable[[Draws, Pool], Proposal]
    define: Callable[[hl.Func, Sequence[hl.Var], Stage, Sequence[Operand]], None]
