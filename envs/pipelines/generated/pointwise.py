"""Stages that compute each value from those at the same place: arithmetic, activations, conversions, tables."""

from collections.abc import Callable, Sequence

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal
from halidegym.envs.pipelines.generated.values import BITS, TYPES, constant, halide_type, is_index

Unary = Callable[[hl.Expr], hl.Expr]
Binary = Callable[[hl.Expr, hl.Expr], hl.Expr]

# All of them map [-1, 1] into [-2, 2] or less, and none magnifies rounding errors much. Each has its first operand once:
# that is the expression so far, and squaring it, say, eight times in a row would make a tree of 256 copies of it, which
# Halide takes minutes to simplify.
_FLOAT_UNARY: tuple[Unary, ...] = (
    lambda a: hl.abs(a),
    lambda a: hl.sqrt(hl.abs(a) * hl.f32(0.99) + hl.f32(0.01)),
    lambda a: hl.sin(a),
    lambda a: hl.exp(-hl.abs(a)),
    lambda a: hl.cos(a),
    lambda a: hl.clamp(a, hl.f32(-0.75), hl.f32(0.75)),
    lambda a: hl.f32(0.5) * a + hl.f32(0.25),
    lambda a: hl.f32(0.7) * hl.log(hl.abs(a) + hl.f32(1.0)),
)
_FLOAT_BINARY: tuple[Binary, ...] = (
    lambda a, b: (a + b) * hl.f32(0.5),
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (hl.abs(b) + hl.f32(1.0)),
    lambda a, b: hl.max(a, b),
    lambda a, b: hl.min(a, b),
    lambda a, b: (a * hl.abs(b) + b) * hl.f32(0.5),
)
_ACTIVATIONS: dict[str, Unary] = {
    "relu": lambda a: hl.max(a, hl.f32(0.0)),
    "leaky_relu": lambda a: hl.select(a > hl.f32(0.0), a, a * hl.f32(0.125)),
    "sigmoid": lambda a: hl.f32(1.0) / (hl.f32(1.0) + hl.exp(-a)),
    "tanh": lambda a: hl.tanh(a),
    "swish": lambda a: a / (hl.f32(1.0) + hl.exp(-a)),
}


def _integer_unary(type_name: str) -> tuple[Unary, ...]:
    element, top = halide_type(type_name), (1 << BITS[type_name]) - 1
    return (
        lambda a: hl.cast(element, top - hl.i32(a)) if type_name.startswith("uint") else -a,
        lambda a: hl.min(a, constant(top * 3 // 4, type_name)),
        lambda a: hl.max(a, constant(top // 8, type_name)),
        lambda a: hl.cast(element, hl.i32(a) // 4 * 3),
    )


def _integer_binary(type_name: str) -> tuple[Binary, ...]:
    element, half = halide_type(type_name), BITS[type_name] // 2
    low = 1 << half
    high = 1 << (BITS[type_name] - half)
    return (
        lambda a, b: hl.cast(element, (hl.i32(a) + hl.i32(b) + 1) // 2),
        # In two halves, so that the product fits in 32 bits.
        lambda a, b: hl.cast(element, (hl.i32(a) // low) * (hl.i32(b) // high)),
        lambda a, b: hl.cast(element, hl.abs(hl.i32(a) - hl.i32(b)) // 2),
        lambda a, b: hl.max(a, b),
        lambda a, b: hl.min(a, b),
        lambda a, b: hl.select(b > constant(low, type_name), a, b),
    )


def _combine(draws: Draws, values: Sequence[hl.Expr], type_name: str, extra: int) -> hl.Expr:
    """A random expression that has all `values` in it, and `extra` more operators."""
    is_float = type_name == "float32"
    unary = _FLOAT_UNARY if is_float else _integer_unary(type_name)
    binary = _FLOAT_BINARY if is_float else _integer_binary(type_name)
    result = values[0]
    for value in values[1:]:
        result = draws.choice(binary)(result, value)
    for _ in range(extra):
        is_unary = draws.chance(0.5)
        result = draws.choice(unary)(result) if is_unary else draws.choice(binary)(result, draws.choice(values))
    return result


def _result_type(draws: Draws, tensors: Sequence[Tensor]) -> str:
    widest = max(TYPES.index(tensor.type) for tensor in tensors)
    return TYPES[draws.integer(widest, len(TYPES) - 1)] if draws.chance(0.3) else TYPES[widest]


def propose_arithmetic(draws: Draws, pool: Pool) -> Proposal:
    """Arithmetic on one to three stages of the same extents, or on one and a new input."""
    first = pool.pick(draws)
    if first is None:
        return None
    operands, tensors = [first], [pool.tensor(first)]
    new: list[Stage] = []
    extents = tensors[0].extents
    for _ in range(draws.weighted({0: 0.35, 1: 0.45, 2: 0.2})):
        other = pool.pick(draws, lambda tensor: tensor.extents == extents, operands)
        if other is not None:
            operands.append(other)
            tensors.append(pool.tensor(other))
        elif not new and draws.chance(0.2):
            new.append(Stage.make("input", (), Tensor(draws.choice(TYPES), extents)))
            operands.append(pool.next_index)
            tensors.append(new[0].tensor)
    tensor = Tensor(_result_type(draws, tensors), extents)
    extra = draws.weighted({0: 0.25, 1: 0.25, 2: 0.2, 4: 0.2, 8: 0.1})
    variant = draws.integer(0, 1 << 30)
    return (*new, Stage.make("arithmetic", operands, tensor, extra=extra, variant=variant))


def define_arithmetic(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """A random expression of the operands."""
    values = [operand.converted(at, stage.tensor.type) for operand in operands]
    func[tuple(at)] = _combine(Draws(f"arithmetic {stage.variant}"), values, stage.tensor.type, stage["extra"])


def propose_activation(draws: Draws, pool: Pool) -> Proposal:
    """The activation of a neural network's layer."""
    source = pool.pick(draws, lambda tensor: tensor.type == "float32")
    if source is None:
        return None
    tensor = Tensor("float32", pool.tensor(source).extents)
    return (Stage.make("activation", [source], tensor, function=draws.choice(tuple(_ACTIVATIONS))),)


def define_activation(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The function of one value."""
    func[tuple(at)] = _ACTIVATIONS[stage["function"]](operands[0].converted(at, "float32"))


def propose_broadcast(draws: Draws, pool: Pool) -> Proposal:
    """Arithmetic of a stage with one of fewer dimensions: a bias, a scale per row, an attention weight."""
    large = pool.pick(draws, lambda tensor: len(tensor.extents) > 1)
    if large is None:
        return None
    extents = pool.tensor(large).extents
    kept = tuple(draws.subset(range(len(extents)), draws.integer(1, len(extents) - 1)))
    wanted = tuple(extents[d] for d in kept)
    small, other, new = pool.pick_or_add(
        draws, lambda tensor: tensor.extents == wanted, lambda: Tensor("float32", wanted)
    )
    tensor = Tensor(_result_type(draws, [pool.tensor(large), other]), extents)
    variant = draws.integer(0, 1 << 30)
    return (*new, Stage.make("broadcast", [large, small], tensor, kept=kept, variant=variant))


def define_broadcast(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """An operator between the value and that of the smaller operand at the kept coordinates."""
    large, small = operands
    values = [
        large.converted(at, stage.tensor.type),
        small.converted([at[d] for d in stage["kept"]], stage.tensor.type),
    ]
    func[tuple(at)] = _combine(Draws(f"broadcast {stage.variant}"), values, stage.tensor.type, 0)


def propose_lookup(draws: Draws, pool: Pool) -> Proposal:
    """Read a table at the integers that another stage computes: a tone curve, an equalization."""
    index = pool.pick(draws, is_index)
    if index is None:
        return None
    # A computed table that is larger than what is read of it leads searches into dead ends: computing all of it exceeds
    # their limit on redundant work, and inlining it their limit on the size of the code.
    most = pool.tensor(index).points
    table, source, new = pool.pick_or_add(
        draws,
        lambda tensor: len(tensor.extents) == 1 and 16 <= tensor.extents[0] <= most,
        lambda: Tensor(draws.choice(TYPES), (256,)),
        exclude=[index],
    )
    tensor = Tensor(source.type, pool.tensor(index).extents, source.gain)
    return (*new, Stage.make("lookup", [index, table], tensor))


def define_lookup(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The table's entry, the whole range of the integers spread over all entries."""
    index, table = operands
    (size,) = table.tensor.extents
    entry = hl.i32(index.converted(at, "uint8")) * size // 256
    func[tuple(at)] = table[[hl.clamp(entry, 0, size - 1)]]


def define_quantize(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The magnitude of a float in 8 or 16 bits."""
    top = (1 << BITS[stage.tensor.type]) - 1
    scaled = hl.abs(operands[0].converted(at, "float32")) * hl.f32(top) + hl.f32(0.5)
    func[tuple(at)] = hl.cast(halide_type(stage.tensor.type), hl.clamp(scaled, hl.f32(0), hl.f32(top)))
