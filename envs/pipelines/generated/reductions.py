"""Stages that gather or scatter whole tensors: reductions, histograms, splats, scans."""

from collections.abc import Sequence

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Coordinate, Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal
from halidegym.envs.pipelines.generated.values import is_index, largest, lowest


def propose_reduce(draws: Draws, pool: Pool) -> Proposal:
    """The sum or maximum along one or two dimensions, which are lost."""
    source = pool.pick(draws, lambda tensor: len(tensor.extents) > 1)
    if source is None:
        return None
    tensor = pool.tensor(source)
    rank = len(tensor.extents)
    dims = draws.subset(range(rank), draws.integer(1, min(2, rank - 1)))
    kept = tuple(tensor.extents[d] for d in range(rank) if d not in dims)
    is_sum = draws.chance(0.7)
    if is_sum:
        count = tensor.points // Tensor(tensor.type, kept).points
        result = Tensor("float32", kept, largest(tensor) * count)
    else:
        result = Tensor(tensor.type, kept, tensor.gain)
    return (
        Stage.make(
            "reduce",
            [source],
            result,
            dims=tuple(dims),
            extents=tuple(tensor.extents[d] for d in dims),
            is_sum=is_sum,
            work=tensor.points,
        ),
    )


def define_reduce(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """An update over the dimensions that are lost."""
    (source,) = operands
    r = hl.RDom([(0, extent) for extent in stage["extents"]], "r")
    there: list[Coordinate] = list(at)
    for i, d in enumerate(stage["dims"]):
        there.insert(d, r[i])
    if stage["is_sum"]:
        func[tuple(at)] = hl.f32(0)
        func[tuple(at)] += source.real(there)
    else:
        func[tuple(at)] = lowest(stage.tensor.type)
        func[tuple(at)] = hl.max(func[tuple(at)], source[there])


def propose_histogram(draws: Draws, pool: Pool) -> Proposal:
    """The histogram of integers over all dimensions but perhaps the last, perhaps summed up to a distribution."""
    source = pool.pick(
        draws, lambda tensor: is_index(tensor) and 256 <= tensor.points <= 1 << 21 and len(tensor.extents) <= 3
    )
    if source is None:
        return None
    tensor = pool.tensor(source)
    is_local = len(tensor.extents) > 1 and draws.chance(0.3)
    bins = draws.choice([16, 64, 256])
    reduced = tensor.extents[:-1] if is_local else tensor.extents
    result = Tensor("int32", (bins, *tensor.extents[len(reduced) :]))
    return (
        Stage.make(
            "histogram",
            [source],
            result,
            extents=reduced,
            is_cumulative=draws.chance(0.4),
            work=tensor.points,
        ),
    )


def define_histogram(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Count in an update that scatters; add up in another."""
    (source,) = operands
    rest = at[1:]
    size = stage.tensor.extents[0]
    r = hl.RDom([(0, extent) for extent in stage["extents"]], "r")
    value = source.converted([*(r[i] for i in range(len(stage["extents"]))), *rest], "uint8")
    where = hl.clamp(hl.i32(value) * size // 256, 0, size - 1)
    counted = (where, *rest)
    func[tuple(at)] = hl.i32(0)
    func[counted] += 1
    if stage["is_cumulative"]:
        b = hl.RDom([(1, size - 1)], "b")
        here, before = (b.x, *rest), (b.x - 1, *rest)
        func[here] += func[before]


def propose_splat(draws: Draws, pool: Pool) -> Proposal:
    """Scatter a plane of integers into a coarse volume over x, y and value, as a bilateral grid does."""
    source = pool.pick(
        draws, lambda tensor: is_index(tensor) and len(tensor.extents) == 2 and min(tensor.extents) >= 64
    )
    if source is None:
        return None
    tensor = pool.tensor(source)
    cell, bins = draws.choice([4, 8, 16]), draws.choice([8, 16])
    result = Tensor("float32", (tensor.extents[0] // cell, tensor.extents[1] // cell, bins), float(cell * cell))
    return (Stage.make("splat", [source], result, cell=cell, work=tensor.points),)


def define_splat(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Add each value of a cell to the bin that it belongs to."""
    (source,) = operands
    x, y, z = at
    cell, bins = stage["cell"], stage.tensor.extents[2]
    r = hl.RDom([(0, cell), (0, cell)], "r")
    there = [x * cell + r.x, y * cell + r.y]
    where = hl.clamp(hl.i32(source.converted(there, "uint8")) * bins // 256, 0, bins - 1)
    func[x, y, z] = hl.f32(0)
    func[x, y, where] += source.converted(there, "float32")


def propose_scan(draws: Draws, pool: Pool) -> Proposal:
    """A recurrence along one dimension: a recursive filter in one or both directions, prefix sums, a running maximum."""
    source = pool.pick(draws, lambda tensor: max(tensor.extents) >= 16)
    if source is None:
        return None
    tensor = pool.tensor(source)
    dim = draws.choice([d for d, extent in enumerate(tensor.extents) if extent >= 16])
    operator = draws.weighted({"filter": 0.4, "filter_both_ways": 0.2, "sum": 0.2, "max": 0.2})
    gain = tensor.extents[dim] if operator == "sum" else 1.0
    result = tensor if operator == "max" else Tensor("float32", tensor.extents, gain)
    return (Stage.make("scan", [source], result, dim=dim, operator=operator, work=2 * tensor.points),)


def define_scan(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    """Updates that read what they wrote one step before."""
    (source,) = operands
    dim, operator = stage["dim"], stage["operator"]
    extent = stage.tensor.extents[dim]
    r = hl.RDom([(1, extent - 1)], "r")

    def along(position: Coordinate) -> tuple[Coordinate, ...]:
        return (*at[:dim], position, *at[dim + 1 :])

    here, before = along(r.x), along(r.x - 1)
    if operator == "max":
        func[tuple(at)] = source[at]
        func[here] = hl.max(func[here], func[before])
        return
    func[tuple(at)] = source.converted(at, "float32")
    if operator == "sum":
        func[here] += func[before]
        return
    func[here] = hl.f32(0.75) * func[before] + hl.f32(0.25) * func[here]
    if operator == "filter_both_ways":
        back, after = along(extent - 1 - r.x), along(extent - r.x)
        func[back] = hl.f32(0.75) * func[after] + hl.f32(0.25) * func[back]
