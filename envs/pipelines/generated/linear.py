"""Matrix multiplications and convolutions. Each is a reduction with an update; all compute in float32."""

import math
from collections.abc import Sequence
from typing import Any

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal
from halidegym.envs.pipelines.generated.values import largest


def _layer(
    draws: Draws,
    pool: Pool,
    kind: str,
    source: int,
    weights: tuple[int, ...],
    extents: tuple[int, ...],
    terms: int,
    **options: Any,
) -> Proposal:
    """A layer with weights of its own, plain or quantized; each result adds up so many terms."""
    parameters = Tensor(draws.weighted({"float32": 0.4, "int8": 0.6}), weights)
    # Quantized weights have either sign, so that the terms cancel in part: three standard deviations.
    count = math.sqrt(terms) if parameters.type == "int8" else terms
    result = Tensor("float32", extents, largest(pool.tensor(source)) * largest(parameters) * count)
    return (
        Stage.make("weights", (), parameters),
        Stage.make(kind, [source, pool.next_index], result, work=result.points * terms, **options),
    )


def propose_matmul(draws: Draws, pool: Pool) -> Proposal:
    """The product of two matrices."""
    left = pool.pick(draws, lambda tensor: len(tensor.extents) == 2 and min(tensor.extents) >= 8)
    if left is None:
        return None
    inner, rows = pool.tensor(left).extents
    right, other, new = pool.pick_or_add(
        draws,
        lambda tensor: len(tensor.extents) == 2 and tensor.extents[1] == inner,
        lambda: Tensor("float32", (8 * draws.log_integer(1, 64), inner)),
        exclude=[left],
    )
    result = Tensor("float32", (other.extents[0], rows), largest(pool.tensor(left)) * largest(other) * inner)
    return (*new, Stage.make("matmul", [left, right], result, inner=inner, work=result.points * inner))


def define_matmul(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Row y of the left times column x of the right."""
    left, right = operands
    x, y = at
    k = hl.RDom([(0, stage["inner"])], "k")
    func[x, y] = hl.f32(0)
    func[x, y] += left.real([k.x, y]) * right.real([x, k.x])


def propose_dense(draws: Draws, pool: Pool) -> Proposal:
    """A fully connected layer along the first dimension."""
    source = pool.pick(draws, lambda tensor: len(tensor.extents) <= 3 and 8 <= tensor.extents[0] <= 4096)
    if source is None:
        return None
    inner, *batch = pool.tensor(source).extents
    units = 8 * draws.log_integer(1, 64)
    return _layer(draws, pool, "dense", source, (units, inner), (units, *batch), inner)


def define_dense(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The inner product of a fibre and the weights of unit x."""
    source, weights = operands
    x, *batch = at
    k = hl.RDom([(0, weights.tensor.extents[1])], "k")
    func[tuple(at)] = hl.f32(0)
    func[tuple(at)] += source.real([k.x, *batch]) * weights.real([x, k.x])


def propose_convolution(draws: Draws, pool: Pool) -> Proposal:
    """A convolutional layer, with the channels after the two spatial dimensions or before them, perhaps strided."""
    source = pool.pick(
        draws,
        lambda tensor: len(tensor.extents) in (3, 4) and (_is_image(tensor.extents) or _is_interleaved(tensor.extents)),
    )
    if source is None:
        return None
    extents = pool.tensor(source).extents
    channel = 2 if _is_image(extents) else 0
    width, height = (extents[d] for d in range(3) if d != channel)
    size, stride = draws.weighted({(1, 1): 0.25, (3, 1): 0.4, (3, 2): 0.2, (5, 1): 0.1, (5, 2): 0.05})
    channels_in, channels_out = extents[channel], 4 * draws.log_integer(1, 16)
    space = (width // stride, height // stride)
    result = (*space, channels_out) if channel == 2 else (channels_out, *space)
    return _layer(
        draws,
        pool,
        "convolution",
        source,
        (channels_out, size, size, channels_in) if channel == 0 else (size, size, channels_in, channels_out),
        (*result, *extents[3:]),
        size * size * channels_in,
        channel=channel,
        size=size,
        stride=stride,
        channels_in=channels_in,
    )


def define_convolution(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Add up over a window and all channels."""
    source, weights = operands
    channel, size, stride = stage["channel"], stage["size"], stage["stride"]
    x, y = (at[d] for d in range(3) if d != channel)
    r = hl.RDom([(0, size), (0, size), (0, stage["channels_in"])], "r")
    place = [x * stride + r.x - size // 2, y * stride + r.y - size // 2]
    func[tuple(at)] = hl.f32(0)
    if channel == 0:
        weight = weights.real([at[0], r.x, r.y, r.z])
        func[tuple(at)] += weight * source.real([r.z, *place, *at[3:]])
    else:
        weight = weights.real([r.x, r.y, r.z, at[2]])
        func[tuple(at)] += weight * source.real([*place, r.z, *at[3:]])


def propose_depthwise(draws: Draws, pool: Pool) -> Proposal:
    """A depthwise convolution: a filter of its own for each channel."""
    source = pool.pick(draws, lambda tensor: len(tensor.extents) in (3, 4) and _is_image(tensor.extents))
    if source is None:
        return None
    extents = pool.tensor(source).extents
    size = draws.choice([3, 5])
    return _layer(draws, pool, "depthwise", source, (size, size, extents[2]), extents, size * size, size=size)


def define_depthwise(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Add up over a window."""
    source, weights = operands
    x, y, c, *batch = at
    size = stage["size"]
    r = hl.RDom([(0, size), (0, size)], "r")
    func[tuple(at)] = hl.f32(0)
    func[tuple(at)] += weights.real([r.x, r.y, c]) * source.real([x + r.x - size // 2, y + r.y - size // 2, c, *batch])


def propose_outer(draws: Draws, pool: Pool) -> Proposal:
    """The outer product of two vectors."""
    first = pool.pick(draws, lambda tensor: len(tensor.extents) == 1)
    second = pool.pick(draws, lambda tensor: len(tensor.extents) == 1, [] if first is None else [first])
    if first is None or second is None:
        return None
    extents = pool.tensor(first).extents + pool.tensor(second).extents
    return (Stage.make("outer", [first, second], Tensor("float32", extents)),)


def define_outer(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The product of entry x of one and entry y of the other."""
    x, y = at
    func[x, y] = operands[0].converted([x], "float32") * operands[1].converted([y], "float32")


def _is_image(extents: tuple[int, ...]) -> bool:
    return min(extents[:2]) >= 8 and extents[2] <= 256


def _is_interleaved(extents: tuple[int, ...]) -> bool:
    return min(extents[1:3]) >= 8 and extents[0] <= 256
