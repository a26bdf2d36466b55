"""Stages that move values without computing: inputs, transposes, slices, stacks, flips, channels into pixels and back."""

from collections.abc import Sequence

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal

_MOST_DIMENSIONS = 4


def propose_transpose(draws: Draws, pool: Pool) -> Proposal:
    """Permute the dimensions."""
    source = pool.pick(draws, lambda tensor: len(tensor.extents) > 1)
    if source is None:
        return None
    tensor = pool.tensor(source)
    left = list(range(len(tensor.extents)))
    order = []
    while left:
        order.append(left.pop(draws.integer(0, len(left) - 1)))
    if order == sorted(order):
        order = order[1:] + order[:1]
    result = Tensor(tensor.type, tuple(tensor.extents[d] for d in order), tensor.gain)
    return (Stage.make("transpose", [source], result, order=tuple(order)),)


def define_transpose(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Dimension i of the result is dimension order[i] of the operand."""
    order = stage["order"]
    func[tuple(at)] = operands[0][[at[order.index(d)] for d in range(len(order))]]


def propose_slice(draws: Draws, pool: Pool) -> Proposal:
    """One index of a small dimension, which is lost."""
    source = pool.pick(draws, lambda tensor: len(tensor.extents) > 1 and min(tensor.extents) <= 64)
    if source is None:
        return None
    tensor = pool.tensor(source)
    dim = draws.choice([d for d, extent in enumerate(tensor.extents) if extent <= 64])
    result = Tensor(tensor.type, tensor.extents[:dim] + tensor.extents[dim + 1 :], tensor.gain)
    return (Stage.make("slice", [source], result, dim=dim, index=draws.integer(0, tensor.extents[dim] - 1)),)


def define_slice(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The operand at a constant index of one dimension."""
    dim = stage["dim"]
    func[tuple(at)] = operands[0][[*at[:dim], stage["index"], *at[dim:]]]


def propose_stack(draws: Draws, pool: Pool) -> Proposal:
    """Two to four stages of the same extents as the slices of a new last dimension."""
    first = pool.pick(draws, lambda tensor: len(tensor.extents) < _MOST_DIMENSIONS)
    if first is None:
        return None
    tensor = pool.tensor(first)
    operands = [first]
    for _ in range(draws.integer(1, 3)):
        other = pool.pick(draws, lambda other: other == tensor, operands)
        if other is not None:
            operands.append(other)
    if len(operands) == 1:
        return None
    result = Tensor(tensor.type, (*tensor.extents, len(operands)), tensor.gain)
    return (Stage.make("stack", operands, result),)


def define_stack(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Select by the last coordinate."""
    func[tuple(at)] = hl.mux(at[-1], [operand[at[:-1]] for operand in operands])


def propose_flip(draws: Draws, pool: Pool) -> Proposal:
    """Reverse one dimension."""
    source = pool.pick(draws)
    if source is None:
        return None
    tensor = pool.tensor(source)
    return (Stage.make("flip", [source], tensor, dim=draws.integer(0, len(tensor.extents) - 1)),)


def define_flip(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The operand, backwards along one dimension."""
    dim = stage["dim"]
    last = stage.tensor.extents[dim] - 1
    func[tuple(at)] = operands[0][[last - v if d == dim else v for d, v in enumerate(at)]]


def propose_unshuffle(draws: Draws, pool: Pool) -> Proposal:
    """Pixels into channels: the four pixels of each 2x2 patch of a plane become four planes (a Bayer mosaic's colours)."""
    source = pool.pick(draws, lambda tensor: len(tensor.extents) == 2 and min(tensor.extents) >= 16)
    if source is None:
        return None
    tensor = pool.tensor(source)
    width, height = tensor.extents
    return (Stage.make("unshuffle", [source], Tensor(tensor.type, (width // 2, height // 2, 4), tensor.gain)),)


def define_unshuffle(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Plane c holds the pixels at (c % 2, c // 2) of the patches."""
    x, y, c = at
    values = [operands[0][[2 * x + i % 2, 2 * y + i // 2]] for i in range(4)]
    func[x, y, c] = hl.mux(c, values)


def propose_shuffle(draws: Draws, pool: Pool) -> Proposal:
    """Channels into pixels, the reverse: four planes interleaved."""
    source = pool.pick(
        draws, lambda tensor: len(tensor.extents) == 3 and tensor.extents[2] >= 4 and min(tensor.extents[:2]) >= 4
    )
    if source is None:
        return None
    tensor = pool.tensor(source)
    width, height, _ = tensor.extents
    return (Stage.make("shuffle", [source], Tensor(tensor.type, (2 * width, 2 * height), tensor.gain)),)


def define_shuffle(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The pixel at (x, y) comes from plane x % 2 + 2 (y % 2)."""
    x, y = at
    func[x, y] = operands[0][[x // 2, y // 2, x % 2 + 2 * (y % 2)]]
