"""Drawing a blueprint: inputs first, then stage after stage on those before, then what no output needs is dropped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from halidegym.envs.pipelines.generated.blueprint import Blueprint, Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kinds import KINDS
from halidegym.envs.pipelines.generated.pool import Pool

MIN_NODES = 3
MAX_NODES = 20
MAX_STAGES = 36
MAX_EDGES = 48
MAX_LOOPS = 7
"""Bounds of the problems: no Func has more than four dimensions, no reduction more than three."""

_LEAST_POINTS = 1 << 10  # of the largest tensor
_MOST_GAIN = 1e12  # far from the largest float32
_TRIES = 200  # at adding a stage


@dataclass(frozen=True)
class Distribution:
    """What blueprints are drawn from.

    Attributes:
        kind_factors: by one of these each pipeline multiplies the weight of each kind, so that some are made of few kinds.
        unread: one of these is a pipeline's preference for operands that are not read yet: see `Pool`.
        most_input_points: of an input.
        most_signal_points: of a tensor of one dimension. Values of 10 bits are indices into it, in arithmetic of 32 bits.
        most_points: of any other tensor.
        most_work: of a stage.
    """

    kind_factors: tuple[float, ...]
    unread: tuple[float, ...]
    most_input_points: int
    most_signal_points: int
    most_points: int
    most_work: int

    def has_room_for(self, stage: Stage) -> bool:
        """Whether a stage is as small as they are here."""
        tensor = stage.tensor
        most_points = self.most_signal_points if len(tensor.extents) == 1 else self.most_points
        return tensor.points <= most_points and stage.work <= self.most_work and tensor.gain <= _MOST_GAIN


def sample(draws: Draws, distribution: Distribution) -> Blueprint:
    """Draw a blueprint of `MIN_NODES` to `MAX_NODES` stages."""
    while True:
        size = draws.integer(MIN_NODES, MAX_NODES)
        blueprint = _finish(draws, _grow(draws, distribution, size))
        largest = max(stage.tensor.points for stage in blueprint.stages)
        if len(blueprint.stages) >= MIN_NODES and largest >= _LEAST_POINTS:
            return blueprint


def num_stages(stages: Sequence[Stage]) -> int:
    """How many definitions the Funcs have at most."""
    return sum(KINDS[stage.kind].definitions for stage in stages)


def num_edges(stages: Sequence[Stage]) -> int:
    """How many edges join the definitions at most: one for each operand, and one to each update from the one before."""
    return sum(len(stage.operands) + KINDS[stage.kind].definitions - 1 for stage in stages)


def _grow(draws: Draws, distribution: Distribution, size: int) -> list[Stage]:
    """Add stages until the last one needs `size`, itself included. There may be others that it does not need."""
    weights = {
        name: kind.weight * _only_or_drawn(draws, distribution.kind_factors)
        for name, kind in KINDS.items()
        if kind.weight > 0
    }
    unread = _only_or_drawn(draws, distribution.unread)
    stages = [_input(draws, _extents(draws, distribution))]
    for _ in range(draws.weighted({0: 0.6, 1: 0.3, 2: 0.1})):
        # A further input is like the first one in size, or altogether different.
        extents = stages[0].tensor.extents if draws.chance(0.6) else _extents(draws, distribution)
        stages.append(_input(draws, extents))
    for _ in range(_TRIES):
        new = KINDS[draws.weighted(weights)].propose(draws, Pool(stages, unread))
        if new is None or not all(distribution.has_room_for(stage) for stage in new):
            continue
        grown = [*stages, *new]
        needed = [grown[i] for i in _needed(grown, [len(grown) - 1])]
        if _fits(needed, size):
            stages = grown
        if len(needed) == size:
            break
    return stages


def _finish(draws: Draws, stages: Sequence[Stage]) -> Blueprint:
    """Choose the outputs, and drop what they do not need."""
    sizes = [len(_needed(stages, [i])) for i in range(len(stages))]
    outputs = [max(range(len(stages)), key=lambda i: (sizes[i], i))]
    if draws.chance(0.15):
        # A second output: something else that is computed and that nobody reads.
        read = {operand for stage in stages for operand in stage.operands}
        for i, stage in enumerate(stages):
            both = [*outputs, i]
            if i not in read and i != outputs[0] and stage.operands and _fits(_taken(stages, both), MAX_NODES):
                outputs = both
                break
    last = stages[outputs[0]].tensor
    taken = _taken(stages, outputs)
    if last.type == "float32" and len(taken) < MAX_NODES and draws.chance(0.4):
        quantized = Tensor(draws.choice(["uint8", "uint16"]), last.extents)
        stages = [*stages, Stage.make("quantize", [outputs[0]], quantized)]
        outputs[0] = len(stages) - 1
    return _prune(stages, outputs)


def _needed(stages: Sequence[Stage], outputs: Sequence[int]) -> list[int]:
    """What the outputs depend on, themselves included, in order."""
    needed = set(outputs)
    for i in reversed(range(len(stages))):
        if i in needed:
            needed.update(stages[i].operands)
    return sorted(needed)


def _taken(stages: Sequence[Stage], outputs: Sequence[int]) -> list[Stage]:
    return [stages[i] for i in _needed(stages, outputs)]


def _fits(stages: Sequence[Stage], size: int) -> bool:
    # One less, because a last stage may follow.
    return len(stages) <= size and num_stages(stages) < MAX_STAGES and num_edges(stages) < MAX_EDGES


def _prune(stages: Sequence[Stage], outputs: Sequence[int]) -> Blueprint:
    needed = _needed(stages, outputs)
    index = {old: new for new, old in enumerate(needed)}
    kept = tuple(replace(stages[i], operands=tuple(index[operand] for operand in stages[i].operands)) for i in needed)
    return Blueprint(kept, tuple(index[output] for output in outputs))


def _input(draws: Draws, extents: tuple[int, ...]) -> Stage:
    weights = {"float32": 0.4, "uint8": 0.35, "uint16": 0.15, "int16": 0.1}
    return Stage.make("input", (), Tensor(draws.weighted(weights), extents))


def _extents(draws: Draws, distribution: Distribution) -> tuple[int, ...]:
    """Of a signal, a matrix, an image, a tensor of a neural network; of a few thousand points at least."""
    points = draws.log_integer(1 << 12, distribution.most_input_points)
    layout = draws.weighted({"x": 0.07, "xy": 0.35, "xyc": 0.28, "xyf": 0.13, "fxy": 0.07, "xyfn": 0.1})
    features, batch = 4 * draws.log_integer(1, 16), draws.integer(1, 8)
    small = {"x": (), "xy": (), "xyc": (3,), "xyf": (features,), "fxy": (features,), "xyfn": (features, batch)}[layout]
    plane = points
    for extent in small:
        plane //= extent
    if layout == "x":
        return (_rounded(draws, min(plane, distribution.most_signal_points)),)
    width = max(16, int((plane * 2 ** (2 * draws.integer(-4, 4) / 4)) ** 0.5))
    space = (_rounded(draws, width), _rounded(draws, max(16, plane // width)))
    return small + space if layout == "fxy" else space + small


def _only_or_drawn(draws: Draws, options: Sequence[float]) -> float:
    """One of the options; nothing is drawn where there is no choice."""
    return draws.choice(options) if len(options) > 1 else options[0]


def _rounded(draws: Draws, extent: int) -> int:
    """Sizes are mostly multiples of a power of two, as they are in practice."""
    multiple = draws.weighted({1: 0.15, 4: 0.1, 16: 0.35, 32: 0.25, 64: 0.15})
    return max(16, extent // multiple * multiple)
