"""Stages that read a neighbourhood, and boundary conditions."""

from collections.abc import Sequence
from itertools import product

import halide as hl

from halidegym.envs.pipelines.expressions import add
from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Coordinate, Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal
from halidegym.envs.pipelines.generated.values import constant, halide_type, largest, lowest

_SMALLEST = 16  # extent of a dimension with a stencil along it


def _spatial(draws: Draws, tensor: Tensor) -> list[int]:
    """One or two dimensions along which a neighbourhood makes sense."""
    wide = [d for d, extent in enumerate(tensor.extents) if extent >= _SMALLEST]
    return draws.subset(wide, min(len(wide), draws.integer(1, 2)))


def _has_spatial(tensor: Tensor) -> bool:
    return max(tensor.extents) >= _SMALLEST


def shifted(at: Sequence[Coordinate], offsets: dict[int, Coordinate]) -> list[Coordinate]:
    """The coordinates with offsets added to some of them."""
    return [v + offsets[d] if d in offsets else v for d, v in enumerate(at)]


def propose_stencil(draws: Draws, pool: Pool) -> Proposal:
    """A filter or a morphological operator, written out tap by tap, perhaps with gaps between the taps."""
    source = pool.pick(draws, _has_spatial)
    if source is None:
        return None
    tensor = pool.tensor(source)
    dims = _spatial(draws, tensor)
    radius = draws.integer(1, 4 if len(dims) == 1 else 2)
    dilation = draws.weighted({1: 0.8, 2: 0.15, 4: 0.05})
    operator = draws.weighted({"mean": 0.7, "max": 0.15, "min": 0.15})
    if operator != "mean" and len(dims) == 2:
        # Where an extremum of 25 taps is inlined near a boundary condition, Halide partitions loops for ten minutes.
        radius = 1
    return (
        Stage.make(
            "stencil",
            [source],
            tensor,
            dims=tuple(dims),
            radius=radius,
            dilation=dilation,
            operator=operator,
            variant=draws.integer(0, 1 << 30),
            work=tensor.points * (2 * radius + 1) ** len(dims),
        ),
    )


def define_stencil(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """A weighted mean with small integer weights, or an extremum."""
    (source,) = operands
    radius, dims = stage["radius"], stage["dims"]
    window = list(product(range(-radius, radius + 1), repeat=len(dims)))
    taps = [
        source[shifted(at, {d: o * stage["dilation"] for d, o in zip(dims, offsets, strict=True)})]
        for offsets in window
    ]
    if stage["operator"] != "mean":
        func[tuple(at)] = (hl.max if stage["operator"] == "max" else hl.min)(*taps)
        return
    draws = Draws(f"stencil {stage.variant}")
    weights = [draws.integer(1, 4) for _ in taps] if draws.chance(0.6) else [1] * len(taps)
    if stage.tensor.type == "float32":
        func[tuple(at)] = add(tap * hl.f32(weight / sum(weights)) for tap, weight in zip(taps, weights, strict=True))
    else:
        total = add(hl.i32(tap) * weight for tap, weight in zip(taps, weights, strict=True))
        func[tuple(at)] = hl.cast(halide_type(stage.tensor.type), total // sum(weights))


def propose_window(draws: Draws, pool: Pool) -> Proposal:
    """The sum or maximum over a larger window, as a reduction."""
    source = pool.pick(draws, _has_spatial)
    if source is None:
        return None
    tensor = pool.tensor(source)
    dims = _spatial(draws, tensor)
    size = draws.integer(3, 15 if len(dims) == 1 else 7)
    points = size ** len(dims)
    is_sum = draws.chance(0.6)
    result = Tensor("float32", tensor.extents, largest(tensor) * points) if is_sum else tensor
    return (
        Stage.make("window", [source], result, dims=tuple(dims), size=size, is_sum=is_sum, work=tensor.points * points),
    )


def define_window(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """An update over a reduction domain as large as the window."""
    (source,) = operands
    dims, size = stage["dims"], stage["size"]
    r = hl.RDom([(-(size // 2), size)] * len(dims), "r")
    there = shifted(at, {d: r[i] for i, d in enumerate(dims)})
    if stage["is_sum"]:
        func[tuple(at)] = hl.f32(0)
        func[tuple(at)] += source.real(there)
    else:
        func[tuple(at)] = lowest(stage.tensor.type)
        func[tuple(at)] = hl.max(func[tuple(at)], source[there])


def _propose_boundary(kind: str, draws: Draws, pool: Pool) -> Proposal:
    source = pool.pick(draws, _has_spatial)
    if source is None:
        return None
    tensor = pool.tensor(source)
    return (Stage.make(kind, [source], tensor, dims=tuple(_spatial(draws, tensor))),)


def propose_repeat_edge(draws: Draws, pool: Pool) -> Proposal:
    """Beyond its edges, the operand goes on with the values at the edge."""
    return _propose_boundary("repeat_edge", draws, pool)


def define_repeat_edge(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """As `halide.BoundaryConditions.repeat_edge`, which would choose a name that depends on earlier pipelines."""
    extents = stage.tensor.extents
    func[tuple(at)] = operands[0][
        [hl.clamp(hl.likely(v), 0, extents[d] - 1) if d in stage["dims"] else v for d, v in enumerate(at)]
    ]


def propose_constant_exterior(draws: Draws, pool: Pool) -> Proposal:
    """Beyond its edges, the operand is zero."""
    return _propose_boundary("constant_exterior", draws, pool)


def define_constant_exterior(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """As `halide.BoundaryConditions.constant_exterior`, in one Func."""
    extents, dims = stage.tensor.extents, stage["dims"]
    outside = hl.Expr(False)
    for d in dims:
        outside = outside | (at[d] < 0) | (at[d] >= extents[d])
    inside = [hl.clamp(hl.likely(v), 0, extents[d] - 1) if d in dims else v for d, v in enumerate(at)]
    func[tuple(at)] = hl.select(outside, constant(0, stage.tensor.type), hl.likely(operands[0][inside]))


def propose_mirror_image(draws: Draws, pool: Pool) -> Proposal:
    """Beyond its edges, the operand goes on reflected."""
    return _propose_boundary("mirror_image", draws, pool)


def define_mirror_image(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """As `halide.BoundaryConditions.mirror_image`, reflected once."""
    extents = stage.tensor.extents

    def reflected(v: Coordinate, extent: int) -> hl.Expr:
        there = hl.select(v < 0, -1 - v, hl.select(v >= extent, 2 * extent - 1 - v, hl.likely(v)))
        return hl.clamp(there, 0, extent - 1)

    func[tuple(at)] = operands[0][[reflected(v, extents[d]) if d in stage["dims"] else v for d, v in enumerate(at)]]
