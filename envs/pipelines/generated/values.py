"""The value types, and how a value of one becomes a value of another.

Integers are fixed-point numbers, of as many bits as the largest value of the type needs here: 8 of uint8, 10 of uint16
and int16 (like the values of a camera's sensor), 22 of int32, which a histogram of the largest tensor fits in. A
conversion keeps the leading bits. So no sum of the stage library overflows.

There is no conversion from float32 to integers but for the last stage: what floats round to depends on the order of
operations, which schedules may change, and as an index or a bin such a value could change the result at will.
"""

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Tensor

BITS = {"int8": 7, "uint8": 8, "uint16": 10, "int16": 10, "int32": 22}
"""Of the integers, without the sign. Only weights of layers are of type int8."""
TYPES = ("uint8", "uint16", "int16", "int32", "float32")
"""From narrow to wide: pointwise stages compute in the widest type of their operands, or a wider one."""

_HALIDE = {
    "int8": hl.Int(8),
    "uint8": hl.UInt(8),
    "uint16": hl.UInt(16),
    "int16": hl.Int(16),
    "int32": hl.Int(32),
    "float32": hl.Float(32),
}


def is_integer(tensor: Tensor) -> bool:
    """Whether the values are fixed-point numbers."""
    return tensor.type in BITS


def is_index(tensor: Tensor) -> bool:
    """Whether the values can say which element of another tensor is meant.

    Of int32 arithmetic Halide only knows bounds that follow from the types of what is loaded. They may overflow where the
    values never do, and it does not compile an access of which it knows no bounds.
    """
    return is_integer(tensor) and tensor.type != "int32"


def halide_type(name: str) -> hl.Type:
    """The Halide type of this name."""
    return _HALIDE[name]


def constant(value: int, type_name: str) -> hl.Expr:
    """A constant of the type."""
    return hl.cast(_HALIDE[type_name], value)


def lowest(type_name: str) -> hl.Expr:
    """A constant that is no greater than any value of the type."""
    return hl.f32(-1e30) if type_name == "float32" else constant(_limits(type_name)[0], type_name)


def largest(tensor: Tensor) -> float:
    """About the largest magnitude of a value, converted to float as it is."""
    return float(1 << BITS[tensor.type]) if is_integer(tensor) else tensor.gain


def convert(value: hl.Expr, source: Tensor, target: str) -> hl.Expr:
    """A value of the tensor `source`, as a value of the type `target` with gain 1."""
    if target == "float32":
        scale = 1 / largest(source)
        return value if scale == 1 else hl.f32(value) * hl.f32(scale)
    if source.type == target:
        return value
    shift = BITS[target] - BITS[source.type]
    wide = hl.i32(value)
    if source.type.startswith("int") and target.startswith("uint"):
        wide = hl.max(wide, 0)
    if shift > 0:
        wide = wide * (1 << shift)
    elif shift < 0:
        wide = hl.clamp(wide // (1 << -shift), *_limits(target))
    return hl.cast(_HALIDE[target], wide)


def _limits(type_name: str) -> tuple[int, int]:
    top = 1 << BITS[type_name]
    return (0 if type_name.startswith("uint") else -top), top - 1
