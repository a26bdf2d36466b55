"""Stages that change the resolution."""

from collections.abc import Sequence
from itertools import product

import halide as hl

from halidegym.envs.pipelines.expressions import add
from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal
from halidegym.envs.pipelines.generated.values import halide_type, lowest

_SMALLEST = 16  # extent of a dimension that is made smaller
_MOST_POINTS = 1 << 22


def _resized(tensor: Tensor, dims: Sequence[int], factor: float) -> tuple[int, ...]:
    return tuple(int(extent * factor) if d in dims else extent for d, extent in enumerate(tensor.extents))


def _dims(draws: Draws, tensor: Tensor) -> list[int]:
    wide = [d for d, extent in enumerate(tensor.extents) if extent >= _SMALLEST]
    return draws.subset(wide, min(len(wide), draws.weighted({1: 0.3, 2: 0.7})))


def propose_downsample(draws: Draws, pool: Pool) -> Proposal:
    """Half or a quarter of the resolution along one or two dimensions."""
    source = pool.pick(draws, lambda tensor: max(tensor.extents) >= _SMALLEST)
    if source is None:
        return None
    tensor = pool.tensor(source)
    dims = _dims(draws, tensor)
    factor = draws.weighted({2: 0.85, 4: 0.15})
    # Never fewer taps than the factor: what is computed and then skipped leads searches into dead ends, between their
    # limits on redundant work and, if it is all inlined, on the size of the code.
    taps = draws.weighted({factor: 0.6, factor + 2: 0.4})
    result = Tensor(tensor.type, _resized(tensor, dims, 1 / factor), tensor.gain)
    return (
        Stage.make(
            "downsample",
            [source],
            result,
            dims=tuple(dims),
            factor=factor,
            taps=taps,
            work=result.points * taps ** len(dims),
        ),
    )


def define_downsample(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The mean over the taps around each coarse place."""
    (source,) = operands
    dims, factor, taps = stage["dims"], stage["factor"], stage["taps"]
    first = -((taps - factor) // 2)
    values = [
        source[[v * factor + first + o[dims.index(d)] if d in dims else v for d, v in enumerate(at)]]
        for o in product(range(taps), repeat=len(dims))
    ]
    if stage.tensor.type == "float32":
        func[tuple(at)] = add(values) * hl.f32(1 / len(values))
    else:
        total = add(hl.i32(value) for value in values)
        func[tuple(at)] = hl.cast(halide_type(stage.tensor.type), total // len(values))


def propose_upsample(draws: Draws, pool: Pool) -> Proposal:
    """Twice the resolution along one or two dimensions."""
    source = pool.pick(
        draws, lambda tensor: max(tensor.extents) >= _SMALLEST // 2 and 4 * tensor.points <= _MOST_POINTS
    )
    if source is None:
        return None
    tensor = pool.tensor(source)
    wide = [d for d, extent in enumerate(tensor.extents) if extent >= _SMALLEST // 2]
    dims = draws.subset(wide, min(len(wide), draws.weighted({1: 0.3, 2: 0.7})))
    result = Tensor(tensor.type, _resized(tensor, dims, 2), tensor.gain)
    return (Stage.make("upsample", [source], result, dims=tuple(dims), is_linear=draws.chance(0.6)),)


def define_upsample(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """The nearest coarse value, or the mean of the two nearest along each dimension."""
    (source,) = operands
    dims = stage["dims"]
    choices = (0, 1) if stage["is_linear"] else (0,)
    values = [
        source[[(v + o[dims.index(d)]) // 2 if d in dims else v for d, v in enumerate(at)]]
        for o in product(choices, repeat=len(dims))
    ]
    if len(values) == 1:
        func[tuple(at)] = values[0]
    elif stage.tensor.type == "float32":
        func[tuple(at)] = add(values) * hl.f32(1 / len(values))
    else:
        total = add(hl.i32(value) for value in values)
        func[tuple(at)] = hl.cast(halide_type(stage.tensor.type), (total + len(values) // 2) // len(values))


def propose_pool(draws: Draws, pool: Pool) -> Proposal:
    """The pooling of a neural network, as a reduction: the maximum or mean of each 2x2 or 3x3 patch, at half the size."""
    source = pool.pick(
        draws, lambda tensor: sum(extent >= _SMALLEST for extent in tensor.extents) >= 2 and len(tensor.extents) > 2
    )
    if source is None:
        return None
    tensor = pool.tensor(source)
    dims = draws.subset([d for d, extent in enumerate(tensor.extents) if extent >= _SMALLEST], 2)
    size = draws.weighted({2: 0.6, 3: 0.4})
    is_mean = tensor.type == "float32" and draws.chance(0.5)
    extents = _resized(tensor, dims, 0.5)
    result = Tensor(tensor.type, extents, tensor.gain * size * size if is_mean else tensor.gain)
    return (
        Stage.make(
            "pool",
            [source],
            result,
            dims=tuple(dims),
            size=size,
            is_mean=is_mean,
            work=result.points * size * size,
        ),
    )


def define_pool(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """An update over the patch; of a mean, consumers do the division."""
    (source,) = operands
    dims, size = stage["dims"], stage["size"]
    r = hl.RDom([(0, size), (0, size)], "r")
    value = source[[2 * v + r[dims.index(d)] if d in dims else v for d, v in enumerate(at)]]
    if stage["is_mean"]:
        func[tuple(at)] = hl.f32(0)
        func[tuple(at)] += value
    else:
        func[tuple(at)] = lowest(stage.tensor.type)
        func[tuple(at)] = hl.max(func[tuple(at)], value)
